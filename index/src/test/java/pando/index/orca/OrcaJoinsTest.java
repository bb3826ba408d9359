package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PoolFullException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.leaf.LeafLayout;

/** Merges that take neighbours along, or try to. */
@Timeout(300)
class OrcaJoinsTest {
  private static final int LEAF_BYTES = 896;
  private static final int GROUPS = 400;
  private static final int GROUP = 5;

  private OrcaOptions options =
      OrcaOptions.defaults()
          .withComputeServers(1)
          .withNodeBytes(LEAF_BYTES)
          .withCacheBytes(256 << 10)
          .with("page-children", "4")
          .with("merge-share", "0.4")
          .with("delta-changes", "4");

  private final NavigableMap<Long, Long> model = new TreeMap<>();

  /** What one operation has done so far, by its verbs. */
  private static final class Merge {
    /** Leaves that were READ since the last merge. */
    int reads;

    /** Leaves that were written since. */
    int writes;

    boolean page;

    /** Whether the last merge joined leaves. */
    boolean joined;

    int joins;
    int joinsOfThree;
    int refused;

    void start() {
      reads = 0;
      writes = 0;
      page = false;
      joined = false;
    }

    void note(VerbList verbs) {
      boolean word = verbs.size() == 1 && verbs.kind(0) != Kind.READ;
      word &= verbs.size() == 1 && verbs.length(0) == Long.BYTES;
      for (int i = 0; i < verbs.size(); i++) {
        boolean leaf = verbs.length(i) > LeafLayout.SEGMENT_BYTES && verbs.length(i) <= LEAF_BYTES;
        reads += leaf && verbs.kind(i) == Kind.READ ? 1 : 0;
        writes += leaf && verbs.kind(i) == Kind.WRITE ? 1 : 0;
        page |= verbs.kind(i) == Kind.WRITE && verbs.length(i) == DirectoryPage.BYTES;
      }
      if (word) {
        end();
      }
    }

    private void end() {
      boolean wasJoined = reads > 1 && page;
      if (reads > 1) {
        assertThat(writes).as("leaves of a merge that READ %s", reads).isPositive();
        assertThat(writes).isLessThan(reads);
      }
      joins += wasJoined && writes == 1 ? 1 : 0;
      joinsOfThree += wasJoined && writes == 2 ? 1 : 0;
      refused += reads > 1 && !page ? 1 : 0;
      start();
      joined = wasJoined;
    }
  }

  /** Removes groups of keys in any order; keys of a group are close to each other. */
  private void removeGroups(Session session, Merge merge) {
    List<Long> groups = new ArrayList<>();
    for (long key : model.keySet()) {
      if (key % 1_000 == 0) {
        groups.add(key);
      }
    }
    Collections.shuffle(groups, new Random(Seeds.of(2601)));
    for (long first : groups.subList(0, GROUPS * 9 / 10)) {
      for (long key = first; key < first + GROUP; key++) {
        merge.start();
        session.discard(key);
        model.remove(key);
      }
    }
  }

  private OrcaIndex open(HookedFabric fabric) {
    for (long group = 0; group < GROUPS; group++) {
      for (long key = group * 1_000; key < group * 1_000 + GROUP; key++) {
        model.put(key, ~key);
      }
    }
    OrcaIndex index = OrcaIndex.create(fabric, options);
    index.bulkLoad(Entries.of(model), 0.9);
    return index;
  }

  private void check(HookedFabric fabric, OrcaIndex index, Session session) {
    Entries.check(session, model, "in the end");
    assertThat(index.audit()).isEmpty();
    session.close();
    index.close();
    Tree tree = options.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.entries()).isEqualTo(model);
  }

  /** Removes groups of keys while all verbs pass through a hook, and checks what is left. */
  private void removeGroups(Merge merge, HookedFabric.Hook hook) {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 4 << 20, 1)).withTasksByHand()) {
      OrcaIndex index = open(fabric);
      Session session = index.session();
      fabric.hookEach(verbs -> true, hook);
      removeGroups(session, merge);
      fabric.unhook();
      check(fabric, index, session);
    }
  }

  /** Skewed keys may not fit one leaf though they are few: then the neighbour stays as it is. */
  @Test
  void shouldJoinLeavesOnlyWhereOneLeafHoldsBoth() {
    Merge merge = new Merge();
    removeGroups(
        merge,
        posting -> {
          merge.note(posting.verbs());
          posting.post();
        });
    assertThat(merge.joins).isPositive();
    assertThat(merge.refused).isPositive();
  }

  /**
   * Loads evenly spaced keys, and removes most of them, in any order.
   *
   * @param hook takes the place of all verbs; its session is another one
   */
  private void removeSpaced(
      HookedFabric fabric, Merge merge, BiConsumer<HookedFabric.Posting, Session> hook) {
    options = options.with("page-children", "60").with("merge-share", "0.5");
    model.putAll(Entries.spaced(4_000, 1_000));
    List<Long> keys = new ArrayList<>(model.keySet());
    Collections.shuffle(keys, new Random(Seeds.of(2609)));
    OrcaIndex index = OrcaIndex.create(fabric, options);
    index.bulkLoad(Entries.of(model), 0.7);
    Session session = index.session();
    Session reader = index.session();
    fabric.hookEach(verbs -> true, posting -> hook.accept(posting, reader));
    for (long key : keys.subList(0, 3_000)) {
      merge.start();
      model.remove(key);
      session.discard(key);
    }
    fabric.unhook();
    reader.close();
    check(fabric, index, session);
  }

  /** Where leaves are joined in any order, some stay alone between pairs. */
  @Test
  void shouldJoinThreeLeavesToTwoWhereOneIsAloneBetweenFullerOnes() {
    Merge merge = new Merge();
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 4 << 20, 1)).withTasksByHand()) {
      removeSpaced(
          fabric,
          merge,
          (posting, _) -> {
            merge.note(posting.verbs());
            posting.post();
          });
    }
    assertThat(merge.joinsOfThree).isPositive();
  }

  /** Both neighbours are latched while the one is READ: others read them without waiting. */
  @Test
  void shouldLetOthersReadNeighboursWhileTheyAreTried() {
    Merge merge = new Merge();
    int[] looks = {0};
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 4 << 20, 1)).withTasksByHand()) {
      removeSpaced(
          fabric,
          merge,
          (posting, reader) -> {
            int before = merge.reads;
            merge.note(posting.verbs());
            if (merge.reads > before && before > 0 && looks[0]++ < 40) {
              fabric.hookPause(100, () -> fail("a reader waits for a merge"));
              assertThat(Entries.scan(reader)).containsAllEntriesOf(model);
            }
            posting.post();
          });
    }
    assertThat(looks[0]).isPositive();
  }

  /** A full pool may have a gap for the leaf alone. */
  @Test
  void shouldMergeTheLeafAloneWhereThePoolHasNoRoomForMore() {
    Merge merge = new Merge();
    int[] refused = {0};
    int[] alone = {0};
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 4 << 20, 1)).withTasksByHand()) {
      removeSpaced(
          fabric,
          merge,
          (posting, _) -> {
            int before = merge.writes;
            merge.note(posting.verbs());
            boolean writes = merge.writes > before;
            if (writes && merge.reads > 1) {
              refused[0]++;
              merge.start();
              throw new PoolFullException("by a test");
            }
            alone[0] += writes && alone[0] < refused[0] ? 1 : 0;
            posting.post();
          });
    }
    assertThat(refused[0]).isPositive();
    assertThat(alone[0]).isEqualTo(refused[0]);
  }

  /**
   * A merge goes on where a neighbour is lost, and one that has joined leaves where it cannot look
   * for the next.
   *
   * @param failing the READ of an operation that fails: 2 of a neighbour, 3 of the leaf that was
   *     joined, 4 of the next neighbour
   */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void shouldMergeALeafWhereItsNeighbourIsLost(int failing) {
    Merge merge = new Merge();
    int[] failed = {0};
    // So many that a leaf is nearly empty, and its neighbours, when it is merged.
    options = options.with("delta-changes", "28");
    removeGroups(
        merge,
        posting -> {
          int before = merge.reads;
          boolean joined = merge.joined;
          merge.note(posting.verbs());
          int reads = merge.reads + (joined ? 2 : 0);
          if (merge.reads > before && reads == failing) {
            merge.reads--;
            failed[0]++;
            throw new MemoryServerLostException("by a test");
          }
          posting.post();
        });
    assertThat(failed[0]).isPositive();
  }
}
