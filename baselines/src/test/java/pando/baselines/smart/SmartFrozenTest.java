package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Tree;

/** Nodes that are left frozen or sealed, and what is done where they cannot be replaced. */
@Timeout(300)
class SmartFrozenTest {
  /** Bytes of a pool that about a thousand entries fill. */
  private static final long SMALL = 128 << 10;

  /** The keys of one node without a free slot: its type has 6. */
  private static final int FULL = 6;

  /**
   * The pool counts as full after it has refused so many puts. Each of them waits for places that
   * rest.
   */
  private static final int REFUSED = 8;

  private final NavigableMap<Long, Long> model = new TreeMap<>();

  private void load(SmartIndex index) {
    for (long key = 0; key < FULL; key++) {
      model.put(key, -key);
    }
    index.bulkLoad(Entries.of(model), 1);
  }

  /** Of a header, and of all slots. */
  private static boolean isFreeze(VerbList verbs) {
    return verbs.size() > FULL && verbs.kind(1) == Kind.MASKED_CAS;
  }

  /** Of a header, or of a word of a leaf. */
  private static boolean isWriteOfAWord(VerbList verbs) {
    return verbs.size() == 1 && verbs.kind(0) == Kind.WRITE && verbs.length(0) == Long.BYTES;
  }

  /** Puts keys that are far from each other, until there is room for none. */
  private void fill(Session session) {
    int refused = 0;
    for (long i = 1; refused < REFUSED; i++) {
      long key = (i << 50) | ((i * 0x9E37_79B9L) << 20);
      try {
        session.put(key, i);
        model.put(key, i);
      } catch (PoolFullException _) {
        // Others may need a place of another size.
        refused++;
      }
    }
  }

  /** Has a session post verbs whose answers are lost. */
  private static void lose(HookedFabric fabric, Predicate<VerbList> verbs, ThrowingCallable by) {
    fabric.hookNext(
        verbs,
        posting -> {
          posting.post();
          throw new UnknownOutcomeException("the connection is gone");
        });
    assertThatThrownBy(by).isInstanceOf(UnknownOutcomeException.class);
    assertThat(fabric.unhook()).isOne();
  }

  @Test
  void shouldServeAFrozenNodeInAFullPool() {
    SmartOptions options = SmartOptions.smart().withComputeServers(2).withCacheBytes(64 << 10);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, SMALL, 981));
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      load(index);
      lose(fabric, SmartFrozenTest::isFreeze, () -> other.put(FULL, 1));
      fill(session);
      assertThatThrownBy(() -> session.put(FULL, 1)).isInstanceOf(PoolFullException.class);
      Entries.check(session, model, "frozen");
      assertThat(session.get(FULL)).isFalse();
      assertThat(session.floor(FULL)).isTrue();
      assertThat(session.key()).isEqualTo(FULL - 1);
      assertThat(session.put(4, 44)).isTrue();
      model.put(4L, 44L);
      assertThat(session.remove(5)).isTrue();
      model.remove(5L);
      assertThat(session.get(5)).isFalse();
      assertThat(session.floor(FULL)).isTrue();
      assertThat(session.key()).isEqualTo(4);
      Entries.check(other, model, "changed");
      assertThat(options.walk(fabric).entries()).isEqualTo(model);
    }
  }

  private void check(Session session, HookedFabric fabric, SmartOptions options) {
    Entries.check(session, model, "all");
    Tree tree = options.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.entries()).isEqualTo(model);
  }

  /** The node is one of another compute server, which does not go on. */
  @Test
  void shouldSearchThroughANodeThatAnotherComputeServerHasSealed() {
    SmartOptions options = SmartOptions.partitionedSmart().withComputeServers(2);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 982)).withTasksByHand();
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session()) {
      // A bulk load would divide the keys anew.
      long last = Long.MIN_VALUE + FULL - 1;
      for (long key = Long.MIN_VALUE; key <= last; key++) {
        session.put(key, -key);
        model.put(key, -key);
      }
      lose(fabric, SmartFrozenTest::isWriteOfAWord, () -> session.put(last + 1, 1));
      assertThat(options.walk(fabric).problems()).isNotEmpty();
      assertThat(session.floor(0)).isTrue();
      assertThat(session.key()).isEqualTo(last);
      assertThat(options.walk(fabric).problems()).isNotEmpty();
      assertThat(session.put(last + 1, 1)).isFalse();
      model.put(last + 1, 1L);
      check(session, fabric, options);
    }
  }

  @Test
  void shouldShrinkANodeThatWasNotCopied() {
    SmartOptions options = SmartOptions.partitionedSmart().withComputeServers(1);
    model.put(0L, 0L);
    model.put(1L, 1L);
    model.put(1L << 40, 2L);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 983)).withTasksByHand();
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 1);
      long before = options.walk(fabric).nodes();
      assertThat(session.remove(1)).isTrue();
      model.remove(1L);
      assertThat(options.walk(fabric).nodes()).as("less a leaf and a node").isEqualTo(before - 2);
      check(session, fabric, options);
    }
  }
}
