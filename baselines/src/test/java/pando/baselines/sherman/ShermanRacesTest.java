package pando.baselines.sherman;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Tree;

/** What other sessions find and do in the middle of one session's operation. */
@Tag("campaign")
@Timeout(300)
class ShermanRacesTest {
  private static final long STEP = 10;

  /** Of the tree that scans read. */
  private static final int LEAVES = 8;

  private static final int ENTRIES_OF_LEAF = 3;

  private static ShermanOptions options(int nodeBytes, String validation) {
    return ShermanOptions.sherman()
        .withComputeServers(2)
        .with("node-bytes", Integer.toString(nodeBytes))
        .with("validation", validation)
        .with("cache-bytes", "64KiB")
        .with("lock-wait-millis", "20");
  }

  /** Returns so many entries, whose keys have gaps between them. */
  private static NavigableMap<Long, Long> entries(int count) {
    NavigableMap<Long, Long> entries = new TreeMap<>();
    LongStream.rangeClosed(1, count).forEach(i -> entries.put(i * STEP, i));
    return entries;
  }

  private static void checkTree(
      Fabric fabric, ShermanOptions options, NavigableMap<Long, Long> expected) {
    Tree tree = options.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.strays()).isZero();
    assertThat(tree.entries()).isEqualTo(expected);
  }

  /** Tells whether verbs write a leaf that is split: its new sibling, it, and who may see which. */
  private static boolean split(VerbList verbs) {
    return verbs.size() == 4;
  }

  @ParameterizedTest
  @ValueSource(strings = {"lines", "checksum"})
  void shouldFindNothingInANewNodeBeforeItIsLinked(String validation) {
    ShermanOptions options = options(192, validation);
    NavigableMap<Long, Long> model = entries(12);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 851));
        ShermanPokes pokes = new ShermanPokes(fabric, options);
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session();
        Session old = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.5);
      long added = 6 * STEP + 1;
      long reused = pokes.path(added)[0];
      assertThat(pokes.low(reused)).isEqualTo(4 * STEP);
      // The session whose pointers are old has not yet seen how the leaf merges with the one
      // before.
      assertThat(old.get(added)).isFalse();
      for (long key = STEP; key <= 3 * STEP; key += STEP) {
        assertThat(session.remove(key)).isTrue();
        model.remove(key);
      }
      assertThat(pokes.path(added)[0]).isNotEqualTo(reused);
      for (long key = 1; key <= 3; key++) {
        session.put(key, key);
        model.put(key, key);
      }
      fabric.hookNext(
          ShermanRacesTest::split,
          split -> {
            split.post(0, 1);
            boolean found = old.get(added);
            assertThat(other.get(added)).as("found once, so found again").isEqualTo(found);
            split.post(1, 4);
          });
      session.put(added, -1);
      model.put(added, -1L);
      assertThat(fabric.unhook()).isOne();
      assertThat(pokes.path(added)[0]).as("the place of the new node").isEqualTo(reused);
      assertThat(old.get(added)).isTrue();
      checkTree(fabric, options, model);
    }
  }

  /** What another compute server does while the root is split and has no sibling above. */
  enum Meanwhile {
    NOTHING,
    GROWTH,
    SHRINKING
  }

  @ParameterizedTest(name = "{0} before {1}")
  @CsvSource({
    "NOTHING,   READ",
    "GROWTH,    READ",
    "SHRINKING, READ",
    "GROWTH,    CAS",
    "SHRINKING, CAS",
  })
  void shouldKeepOneTreeWhereTheRootGrowsAndShrinksAtOnce(Meanwhile meanwhile, Kind before) {
    ShermanOptions options = options(128, "lines").with("merged-share", "1");
    int count = 27;
    NavigableMap<Long, Long> model = entries(count);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 852));
        ShermanPokes pokes = new ShermanPokes(fabric, options);
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 1);
      long root = pokes.path(0)[2];
      assertThat(pokes.path(0)).as("a root of full nodes").hasSize(3);
      assertThat(session.get(STEP) && other.get(STEP)).isTrue();
      fabric.hookNext(
          verbs ->
              verbs.size() == 1
                  && verbs.kind(0) == before
                  && verbs.remote(0) == GlobalAddress.of(0, 128),
          growth -> {
            assertThat(pokes.high(root)).as("the root is split").isLessThan(Long.MAX_VALUE);
            act(meanwhile, other, model, pokes.high(root));
            growth.post();
          });
      long added = count * STEP + 1;
      assertThat(session.put(added, -1)).isFalse();
      model.put(added, -1L);
      assertThat(fabric.unhook()).isOne();
      checkTree(fabric, options, model);
      model.forEach((key, value) -> assertThat(session.get(key) && other.get(key)).isTrue());
    }
  }

  private static void act(
      Meanwhile meanwhile, Session session, NavigableMap<Long, Long> model, long high) {
    switch (meanwhile) {
      case NOTHING -> {}
      case GROWTH -> {
        for (long key = model.lastKey() + STEP; model.size() < 50; key += STEP) {
          session.put(key, key);
          model.put(key, key);
        }
      }
      case SHRINKING -> {
        // All but the last, without which the last of the leaves would be empty.
        NavigableMap<Long, Long> below = model.headMap(high, true);
        while (below.size() > 1) {
          assertThat(session.remove(below.pollFirstEntry().getKey())).isTrue();
        }
      }
    }
  }

  /** What happens to leaves between the READs of a scan. */
  enum Move {
    SPLIT_OF_FIRST,
    SPLIT_OF_SECOND,
    MERGE_OF_FIRST,
    MERGE_OF_SECOND;

    /**
     * Changes entries; those with keys that are no multiples of {@link #STEP} are new.
     *
     * @param down whether the first leaf of the scan is the last of the tree
     */
    void run(Session session, boolean down) {
      int read = this == SPLIT_OF_FIRST || this == MERGE_OF_FIRST ? 0 : 1;
      int leaf = down ? LEAVES - 1 - read : read;
      long first = 1 + leaf * (long) ENTRIES_OF_LEAF;
      switch (this) {
        case SPLIT_OF_FIRST, SPLIT_OF_SECOND -> {
          for (long i = 1; i <= 4; i++) {
            session.put(first * STEP + i, i);
          }
        }
        case MERGE_OF_FIRST, MERGE_OF_SECOND -> {
          for (long i = first; i < first + ENTRIES_OF_LEAF; i++) {
            session.remove(i * STEP);
          }
        }
      }
    }
  }

  static Stream<Arguments> moves() {
    return Stream.of(Move.values())
        .flatMap(move ->
            Stream.of(
                Arguments.of(move, 0, false),
                Arguments.of(move, 1, false),
                Arguments.of(move, 0, true),
                Arguments.of(move, 1, true)));
  }

  @ParameterizedTest(name = "{0} read={1} down={2}")
  @MethodSource("moves")
  void shouldScanEveryKeyOnceWhereLeavesMoveBetweenItsReads(
      Move move, int readBefore, boolean down) {
    ShermanOptions options = options(192, "lines");
    NavigableMap<Long, Long> model = entries(LEAVES * ENTRIES_OF_LEAF);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 853));
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.5);
      assertThat(scan(session)).isEqualTo(model.keySet());
      fabric.hookNext(
          verbs -> verbs.size() > 1 && verbs.kind(0) == Kind.READ,
          reads -> {
            // READs that are posted together take effect in any order.
            reads.post(readBefore, readBefore + 1);
            move.run(other, down);
            reads.post(0, readBefore);
            reads.post(readBefore + 1, reads.verbs().size());
          });
      Set<Long> seen = scan(session, down);
      assertThat(fabric.unhook()).isOne();
      Set<Long> after = new TreeSet<>(options.walk(fabric).entries().keySet());
      assertThat(scan(session, down)).isEqualTo(after);
      assertThat(scan(other)).isEqualTo(after);
      assertThat(after).isNotEqualTo(model.keySet());
      Set<Long> throughout = new TreeSet<>(model.keySet());
      throughout.retainAll(after);
      assertThat(seen).containsAll(throughout);
      after.addAll(model.keySet());
      assertThat(after).containsAll(seen);
    }
  }

  /** Returns the keys of all entries, having checked that they ascend. */
  private static Set<Long> scan(Session session) {
    return scan(session, false);
  }

  /** Returns the keys of all entries, having checked that they ascend, or descend. */
  private static Set<Long> scan(Session session, boolean down) {
    List<Long> keys = new ArrayList<>();
    if (down) {
      session.scanDown(Long.MAX_VALUE, Long.MAX_VALUE, (key, value) -> keys.add(key));
    } else {
      session.scan(Long.MIN_VALUE, Long.MAX_VALUE, (key, value) -> keys.add(key));
    }
    NavigableSet<Long> sorted = new TreeSet<>(keys);
    assertThat(keys)
        .as("in order, and each once")
        .containsExactlyElementsOf(down ? sorted.descendingSet() : sorted);
    return sorted;
  }

  @Test
  void shouldScanAKeyOnceThatMovesToALineThatIsReadLater() {
    ShermanOptions options = options(192, "lines").withComputeServers(1);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 854));
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      for (long key = 1; key <= 4; key++) {
        session.put(key, key);
      }
      assertThat(scan(session)).containsExactly(1L, 2L, 3L, 4L);
      int line = BLinkLayout.LINE_BYTES;
      fabric.hookNext(
          verbs ->
              verbs.size() == 1
                  && verbs.kind(0) == Kind.READ
                  && verbs.length(0) == 3 * line - BLinkLayout.IMAGE,
          read -> {
            // The last line first, which has the fourth entry; the first line has room by then.
            read.post(0, 2 * line - BLinkLayout.IMAGE, line);
            other.remove(2);
            other.remove(4);
            other.put(4, 5);
            read.post(0, 0, 2 * line - BLinkLayout.IMAGE);
          });
      assertThat(scan(session)).containsExactly(1L, 3L, 4L);
      assertThat(fabric.unhook()).isOne();
    }
  }
}
