package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Act;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.leaf.LeafLayout;

/** Changes of leaves that stop half-way: it is not known whether the pool has them. */
@Timeout(300)
class OrcaStuckTest {
  private static final long STEP = 1_000;
  private static final int ENTRIES = 1_200;
  private static final long MIDDLE = ENTRIES / 2 * STEP;
  private static final long FAR = ENTRIES / 4 * STEP;
  private static final int CACHED = 100;
  private static final Act.Kind[] KINDS = {Act.Kind.REMOVE, Act.Kind.PUT, Act.Kind.UPDATE};
  private static final int LEAF_BYTES = 896;
  private static final long WAIT_NANOS = 2_000_000;

  /** Changes of a leaf near the middle, by the leaves that they READ and WRITE. */
  enum Change {
    REPLACE(1, 1),
    SPLIT(1, 2),
    JOIN(2, 1);

    private final int reads;
    private final int writes;

    Change(int reads, int writes) {
      this.reads = reads;
      this.writes = writes;
    }

    /** Changes keys until one fails with the text; returns that. */
    private long run(
        Session session,
        NavigableMap<Long, Long> model,
        Class<? extends Throwable> failure,
        String text) {
      for (long i = 1; i < STEP; i++) {
        long key = key(i);
        Throwable thrown = catchThrowable(() -> change(session, key));
        if (thrown != null) {
          assertThat(thrown).isInstanceOf(failure).hasMessageContaining(text);
          return key;
        }
        Act.settle(model, key, this == SPLIT ? key : null);
      }
      throw new AssertionError("no such merge: " + this);
    }

    private long key(long number) {
      return this == JOIN ? MIDDLE + number * STEP : MIDDLE + number;
    }

    private void change(Session session, long key) {
      if (this == SPLIT) {
        session.store(key, key);
      } else {
        session.discard(key);
      }
    }

    /**
     * Returns what tells whether a verb is the word by which the first such change is published.
     */
    private Predicate<VerbList> word() {
      int[] done = new int[2];
      return verbs -> {
        for (int i = 0; i < verbs.size(); i++) {
          boolean ofLeaf =
              verbs.length(i) > LeafLayout.SEGMENT_BYTES && verbs.length(i) <= LEAF_BYTES;
          done[0] += ofLeaf && verbs.kind(i) == Kind.READ ? 1 : 0;
          done[1] += ofLeaf && verbs.kind(i) == Kind.WRITE ? 1 : 0;
        }
        boolean found = isWord(verbs) && done[0] == reads && done[1] == writes;
        if (isWord(verbs) && !found) {
          Arrays.fill(done, 0);
        }
        return found;
      };
    }
  }

  private static boolean isWord(VerbList verbs) {
    return verbs.size() == 1 && verbs.kind(0) != Kind.READ && verbs.length(0) == Long.BYTES;
  }

  private static OrcaOptions options() {
    return OrcaOptions.defaults()
        .withComputeServers(1)
        .withNodeBytes(LEAF_BYTES)
        .withCacheBytes(64 << 10)
        .with("page-children", "4")
        .with("delta-changes", "4")
        .with("lock-wait-millis", Long.toString(WAIT_NANOS / 1_000_000));
  }

  private static HookedFabric open() {
    return new HookedFabric(Pools.open(2, 4 << 20, 1301)).withTasksByHand();
  }

  @ParameterizedTest(name = "{0} done={1}")
  @CsvSource({
    "REPLACE, true", "REPLACE, false",
    "SPLIT,   true", "SPLIT,   false",
    "JOIN,    true", "JOIN,    false",
  })
  void shouldKeepALeafWhoseChangeMayBeInThePool(Change change, boolean done) {
    NavigableMap<Long, Long> model = Entries.spaced(ENTRIES, STEP);
    try (HookedFabric fabric = open()) {
      OrcaIndex index = OrcaIndex.create(fabric, options());
      index.bulkLoad(Entries.of(model), 0.7);
      Session session = index.session();
      Session other = index.session();
      LongStream.range(1, CACHED).forEach(i -> other.get(change.key(i) + 1));
      fabric.hookEach(
          change.word(),
          word -> {
            if (done) {
              word.post();
            }
            throw new UnknownOutcomeException("by a test");
          });
      long stuck =
          change.run(
              session,
              model,
              StalledException.class,
              "stopped half-way, and keeps the leaf latched: low=");
      assertThat(fabric.unhook()).as("attempts").isEqualTo(100);

      assertThatThrownBy(() -> change.change(other, stuck))
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("the leaf of a key stays latched: key=" + stuck);
      assertThatThrownBy(() -> other.put(stuck + 1, 1))
          .as("cached as absent")
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("the leaf of a key stays latched: key=" + (stuck + 1));
      Entries.check(session, model, "while the leaf is latched");
      Entries.check(other, model, "while the leaf is latched");
      assertThatThrownBy(() -> changeFarFrom(stuck, session, model))
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("an earlier change of a leaf by this session stopped half-way");
      changeFarFrom(stuck, other, model);
      Entries.check(other, model, "elsewhere");
      assertThatThrownBy(index::close)
          .isInstanceOf(MemoryServerLostException.class)
          .hasMessageContaining("is not written back");
      assertThatThrownBy(index::session).hasMessage("the index is closed");
      assertThat(fabric.openMemories()).isZero();
      Tree tree = options().walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(far(stuck, tree.entries())).isEqualTo(far(stuck, model));
    }
  }

  /** Where memory for deltas is short, other leaves are merged than that with the largest delta. */
  @Test
  void shouldMergeOtherLeavesThanTheOneThatStaysLatched() {
    NavigableMap<Long, Long> model = Entries.spaced(2 * ENTRIES, STEP);
    OrcaOptions options =
        options()
            .withNodeBytes(4096)
            .withCacheBytes(256 << 10)
            .with("delta-changes", "255")
            .with("delta-share", "0.1");
    try (HookedFabric fabric = open()) {
      OrcaIndex index = OrcaIndex.create(fabric, options);
      index.bulkLoad(Entries.of(model), 0.7);
      try (Session session = index.session();
          Session other = index.session()) {
        fabric.hookEach(
            OrcaStuckTest::isWord,
            word -> {
              throw new UnknownOutcomeException("by a test");
            });
        assertThatThrownBy(
                () -> {
                  for (long key = 1; key < STEP; key++) {
                    session.discard(key);
                  }
                })
            .isInstanceOf(StalledException.class);
        fabric.unhook();
        SplittableRandom random = new SplittableRandom(Seeds.of(1302));
        for (int i = 0; i < 5_000; i++) {
          long key = FAR + random.nextLong(ENTRIES * STEP);
          other.discard(key);
          model.remove(key);
        }
        Entries.check(other, model, "elsewhere");
      }
      assertThatThrownBy(index::close).isInstanceOf(MemoryServerLostException.class);
    }
  }

  /** The pool has the change, and memory a part of it. */
  @Tag("campaign")
  @ParameterizedTest
  @EnumSource
  void shouldFreeNothingWhereMemoryCannotBePublished(Change change) {
    NavigableMap<Long, Long> model = Entries.spaced(ENTRIES, STEP);
    try (HookedFabric fabric = open()) {
      OrcaIndex index = OrcaIndex.create(fabric, options());
      index.bulkLoad(Entries.of(model), 0.7);
      long stuck;
      try (Session session = index.session();
          Session other = index.session()) {
        fabric.hookNext(
            change.word(),
            word -> {
              word.post();
              fabric.failAtNextTransition(() -> new OutOfMemoryError("by a test"));
            });
        stuck = change.run(session, model, OutOfMemoryError.class, "by a test");
        long used = index.poolBytes();
        assertThatThrownBy(() -> other.get(stuck))
            .isInstanceOf(StalledException.class)
            .hasMessageContaining("a leaf stays latched: low=");
        assertThat(index.poolBytes()).isEqualTo(used);
        changeFarFrom(stuck, other, model);
        model.forEach((key, value) -> {
          if (Math.abs(key - stuck) > FAR) {
            assertThat(Entries.get(other, key)).isEqualTo(value);
          }
        });
      }
      assertThatThrownBy(index::close).isInstanceOf(MemoryServerLostException.class);
      Tree tree = options().walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(far(stuck, tree.entries())).isEqualTo(far(stuck, model));
    }
  }

  /**
   * A page that divides waits for all changes that are under way, at first ahead of others. Where
   * one of them stays under way for good, it waits in vain, and others go on.
   */
  @Test
  void shouldSplitLeavesWhileAPageCannotDivide() {
    NavigableMap<Long, Long> model = Entries.spaced(ENTRIES, STEP);
    try (HookedFabric fabric = open()) {
      OrcaIndex index = OrcaIndex.create(fabric, options());
      index.bulkLoad(Entries.of(model), 0.7);
      try (Session session = index.session();
          Session divides = index.session();
          Session splits = index.session()) {
        fabric.hookEach(
            Change.SPLIT.word(),
            word -> {
              throw new UnknownOutcomeException("by a test");
            });
        Change.SPLIT.run(session, model, StalledException.class, "stopped half-way");
        fabric.unhook();
        int[] split = {0};
        Runnable splitElsewhere =
            () -> {
              insertUntilAPageIsWritten(fabric, splits, MIDDLE + FAR);
              split[0]++;
            };
        fabric.hookPause(
            1,
            () -> {
              fabric.letTimePass(WAIT_NANOS / 2);
              fabric.hookPause(2, splitElsewhere);
            });
        Throwable failure =
            catchThrowable(() -> {
              for (long key = MIDDLE - FAR; key < MIDDLE - FAR + STEP; key++) {
                divides.store(key, key);
              }
            });
        assertThat(failure)
            .isInstanceOf(StalledException.class)
            .hasMessageContaining("a page stays latched");
        assertThat(split[0]).isOne();
        insertUntilAPageIsWritten(fabric, splits, MIDDLE + FAR + FAR / 2);
      }
      assertThatThrownBy(index::close).isInstanceOf(MemoryServerLostException.class);
    }
  }

  private static void insertUntilAPageIsWritten(HookedFabric fabric, Session session, long key) {
    boolean[] written = {false};
    fabric.hookEach(
        verbs -> verbs.kind(0) == Kind.WRITE && verbs.length(0) == DirectoryPage.BYTES,
        page -> {
          page.post();
          written[0] = true;
        });
    for (long added = key + 1; !written[0]; added++) {
      session.store(added, added);
    }
    fabric.unhook();
  }

  private static NavigableMap<Long, Long> far(long key, Map<Long, Long> entries) {
    NavigableMap<Long, Long> far = new TreeMap<>(entries);
    far.subMap(key - FAR, key + FAR).clear();
    return far;
  }

  /** Updates and removes entries of other pages, again and again, and puts some back. */
  private static void changeFarFrom(long stuck, Session session, NavigableMap<Long, Long> model) {
    for (int round = 0; round < Seeds.count(2, 6); round++) {
      for (long key : far(stuck, Entries.spaced(ENTRIES, STEP)).keySet()) {
        Act act = new Act(KINDS[(int) (key / STEP + round) % KINDS.length], key, round);
        act.run(session);
        act.run(model);
      }
    }
  }
}
