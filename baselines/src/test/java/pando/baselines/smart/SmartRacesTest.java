package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Tree;

/** Sessions of two compute servers at the same nodes, at the moments that matter. */
@Timeout(300)
class SmartRacesTest {
  /** The keys of one node with one free slot: its type has 6. */
  private static final int FULL_BUT_ONE = 5;

  private final SmartOptions options = SmartOptions.smart().withComputeServers(2);
  private final NavigableMap<Long, Long> model = new TreeMap<>();
  private final HookedFabric fabric =
      new HookedFabric(Pools.open(1, 8 << 20, 961)).withTasksByHand();
  private final SmartIndex index = SmartIndex.create(fabric, options);
  private final Session session = index.session();
  private final Session other = index.session();

  @BeforeEach
  void load() {
    for (long key = 0; key < FULL_BUT_ONE; key++) {
      model.put(key, -key);
    }
    model.put(1L << 40, 0L);
    index.bulkLoad(Entries.of(model), 1);
    for (long key : model.keySet()) {
      assertThat(session.get(key)).isTrue();
      assertThat(other.get(key)).isTrue();
    }
  }

  @AfterEach
  void close() {
    Entries.check(session, model, "one");
    Entries.check(other, model, "other");
    Tree tree = options.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.entries()).isEqualTo(model);
    session.close();
    other.close();
    index.close();
    fabric.close();
  }

  private static boolean hasCas(VerbList verbs) {
    return verbs.kind(verbs.size() - 1) == Kind.CAS;
  }

  /** Of a header, and of all slots. */
  private static boolean isFreeze(VerbList verbs) {
    return verbs.size() > FULL_BUT_ONE && verbs.kind(1) == Kind.MASKED_CAS;
  }

  private boolean put(Session by, long key, long value) {
    model.put(key, value);
    return by.put(key, value);
  }

  @Test
  void shouldInsertIntoANodeThatIsReplacedMeanwhile() {
    fabric.hookNext(
        SmartRacesTest::hasCas,
        cas -> {
          assertThat(put(other, 10, 1)).isFalse();
          assertThat(put(other, 11, 1)).isFalse();
          cas.post();
        });
    assertThat(put(session, 12, 1)).isFalse();
    assertThat(fabric.unhook()).isOne();
  }

  @Test
  void shouldNotInsertAKeyTwice() {
    fabric.hookNext(
        SmartRacesTest::hasCas,
        cas -> {
          assertThat(put(other, 10, 1)).isFalse();
          cas.post();
        });
    assertThat(session.put(10, 2)).isTrue();
    model.put(10L, 2L);
    assertThat(session.value()).isOne();
    assertThat(fabric.unhook()).isOne();
  }

  @Test
  void shouldInsertAKeyThatWasRemovedMeanwhile() {
    fabric.hookNext(
        verbs -> verbs.kind(0) == Kind.MASKED_CAS,
        lock -> {
          assertThat(other.remove(3)).isTrue();
          lock.post();
        });
    assertThat(put(session, 3, 7)).isFalse();
    assertThat(fabric.unhook()).isOne();
  }

  @Test
  void shouldTakeAnEmptiedSlotForTheSameByteAlone() {
    assertThat(other.remove(3)).isTrue();
    model.remove(3L);
    fabric.hookNext(
        SmartRacesTest::hasCas,
        cas -> {
          assertThat(put(other, 10, 1)).isFalse();
          assertThat(put(other, 3, 2)).isFalse();
          cas.post();
        });
    assertThat(session.put(3, 1)).isTrue();
    model.put(3L, 1L);
    assertThat(session.value()).isEqualTo(2);
  }

  @Test
  void shouldAnswerByAnOldCopyWhereTheLeafLives() {
    long beside = 3L << 8;
    assertThat(put(other, beside, 1)).isFalse();
    assertThat(put(other, beside + 1, 1)).isFalse();
    VerbCounters before = index.verbs();
    assertThat(session.get(3)).isTrue();
    VerbCounters verbs = index.verbs();
    verbs.subtract(before);
    assertThat(verbs.reads).isOne();
    assertThat(session.get(beside)).isTrue();
  }

  @Test
  void shouldNotAnswerByADeadLeaf() {
    assertThat(other.remove(3)).isTrue();
    assertThat(session.get(3)).isFalse();
    assertThat(other.put(3, 9)).isFalse();
    assertThat(session.get(3)).isTrue();
    assertThat(session.value()).isEqualTo(9);
    model.put(3L, 9L);
  }

  @Test
  void shouldReplaceWhatAnotherHasFrozenAndLeft() {
    put(other, 10, 1);
    fabric.hookNext(
        SmartRacesTest::isFreeze,
        freeze -> {
          freeze.post();
          throw new UnknownOutcomeException("the connection is gone");
        });
    assertThatThrownBy(() -> other.put(11, 1)).isInstanceOf(UnknownOutcomeException.class);
    assertThat(fabric.unhook()).isOne();
    // The keys are still found, and the node is replaced by the one that changes it.
    assertThat(session.get(4)).isTrue();
    assertThat(put(session, 12, 1)).isFalse();
  }

  @Test
  void shouldMakeANodeLiveThatAnotherHasLinkedAndLeft() {
    long beside = 3L << 8;
    fabric.hookNext(
        verbs -> verbs.kind(0) == Kind.WRITE && verbs.length(0) == Long.BYTES,
        live -> {
          throw new UnknownOutcomeException("the connection is gone");
        });
    assertThatThrownBy(() -> other.put(beside, 1)).isInstanceOf(UnknownOutcomeException.class);
    assertThat(fabric.unhook()).isOne();
    assertThat(session.get(beside)).isFalse();
    assertThat(put(session, beside, 2)).isFalse();
  }

  /** The value of another's update has landed, its state has not; then the leaf is unlocked. */
  @Test
  void shouldSeeTheValueThatAFailedUpdateHasLeft() {
    try (SmartPokes pokes = new SmartPokes(fabric, options)) {
      fabric.hookNext(
          verbs -> verbs.kind(0) == Kind.MASKED_CAS,
          lock -> {
            pokes.failUpdate(3, 55);
            lock.post();
          });
      assertThat(session.put(3, 7)).isTrue();
    }
    assertThat(fabric.unhook()).isOne();
    assertThat(session.value()).isEqualTo(55);
    model.put(3L, 7L);
  }
}
