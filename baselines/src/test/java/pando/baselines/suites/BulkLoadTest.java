package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.ModelRun;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Tree;
import pando.index.TreeCheck;

/** Bulk loads, checked against a {@link TreeMap} before and after random operations. */
@FewRows(products = 1)
@Timeout(300)
class BulkLoadTest {
  private static final int OPERATIONS = Seeds.count(2_500, 5_000, 15_000);
  private static final int RELOADED = Seeds.count(1_500, 5_000);
  private static final int OPERATIONS_TO_A_TASK = 100;

  @ParameterizedTest(name = "seed={0} {1} entries={2} fill={3} memory={4} compute={5} {6}")
  @CsvSource({
    "201, DEX,       0,     0.7,  1,  1,  offloading=off",
    "202, DEX,       0,     1,    2,  5,  contrary=0.5",
    "203, DEX,       1,     0.5,  1,  1,  offloading=off",
    "204, DEX,       1,     0.7,  3,  16, contrary=0.5",
    "205, DEX,       7,     1,    2,  4,  offloading=off",
    "206, DEX,       24,    0.7,  2,  4,  offloading=off",
    "207, DEX,       25,    0.7,  2,  4,  contrary=0.5",
    "208, DEX,       200,   0.5,  4,  16, contrary=0.5",
    "209, DEX,       5000,  0.5,  1,  1,  offloading=off",
    "210, DEX,       5000,  0.7,  4,  4,  contrary=0.5",
    "211, DEX,       5000,  1,    16, 16, contrary=0.3",
    "212, DEX,       20000, 0.7,  3,  7,  contrary=0.5",
    "213, DEX,       20000, 0.01, 2,  3,  offloading=off",
    "214, DEX,       20000, 0.7,  4,  4,  subtree-level=0",
    "215, DEX,       20000, 0.7,  4,  4,  subtree-level=1",
    "216, DEX,       20000, 1,    4,  2,  subtree-level=5",
    "217, ORCA,      0,     0.7,  1,  1,  delta-changes=2",
    "220, ORCA,      20000, 0.01, 2,  3,  page-children=60",
    "231, SHERMAN,   0,     0.7,  1,  1,  validation=checksum",
    "232, SHERMAN,   1,     0.7,  3,  16, validation=versions",
    "233, SHERMAN,   5000,  1,    2,  4,  validation=checksum",
    "234, SHERMAN,   20000, 0.01, 2,  3,  validation=versions",
    "235, FG,        7,     1,    2,  4,  validation=checksum",
    "236, FG,        20000, 0.7,  4,  4,  validation=checksum",
    "237, P_SHERMAN, 0,     1,    2,  5,  validation=checksum",
    "238, P_SHERMAN, 1,     0.7,  3,  16, validation=checksum",
    "239, P_SHERMAN, 200,   0.5,  4,  16, validation=checksum",
    "240, P_SHERMAN, 5000,  1,    16, 16, validation=checksum",
    "241, P_SHERMAN, 20000, 0.7,  3,  7,  validation=checksum",
    "251, ROLEX,     0,     0.7,  1,  1,  retraining=on",
    "252, ROLEX,     1,     1,    3,  16, retraining=on",
    "253, ROLEX,     7,     0.5,  2,  4,  retraining=off",
    "254, ROLEX,     200,   1,    4,  16, leaves-max=1",
    "255, ROLEX,     5000,  0.5,  1,  1,  synonym-share=0",
    "256, ROLEX,     5000,  1,    16, 16, retraining=on",
    "257, ROLEX,     20000, 0.01, 2,  3,  retraining=on",
    "258, ROLEX,     20000, 0.7,  3,  7,  delta=16 epsilon=16 leaves-max=48",
    "271, XSTORE_D,  0,     0.7,  1,  1,  retraining=on",
    "272, XSTORE_D,  5000,  1,    16, 16, retraining=on",
    "281, EMT_D,     0,     0.7,  1,  1,  rows=250",
    "282, EMT_D,     1,     0.7,  3,  16, kept-nodes=1",
    "283, EMT_D,     7,     1,    4,  4,  kept-nodes=100",
    "284, EMT_D,     5000,  1,    16, 16, node-bytes=320",
    "285, EMT_D,     20000, 0.01, 2,  3,  rows=1",
    "286, EMT_D,     20000, 0.7,  3,  7,  node-bytes=1024",
    "291, SMART,     0,     0.7,  1,  1,  reserve=steps",
    "292, SMART,     1,     1,    3,  16, reserve=steps",
    "293, SMART,     7,     1,    4,  4,  reserve=whole",
    "294, SMART,     20000, 0.7,  3,  7,  reserve=steps",
    "295, P_SMART,   0,     1,    2,  5,  reserve=steps",
    "296, P_SMART,   200,   0.5,  4,  16, reserve=whole",
    "297, P_SMART,   20000, 0.7,  3,  7,  reserve=steps",
  })
  void shouldHoldWhatWasLoaded(
      long seed,
      SystemUnderTest system,
      int entries,
      double fill,
      int memoryServers,
      int computeServers,
      String settings) {
    long start = Seeds.of(seed);
    SplittableRandom random = new SplittableRandom(start);
    Configuration configuration = system.tiny(computeServers).with(settings);
    NavigableMap<Long, Long> model = Entries.random(random, entries);
    try (Fabric fabric = Pools.open(memoryServers, 16 << 20, start)) {
      RangeIndex index = configuration.create(fabric);
      try (index) {
        assertThat(index.bulkLoad(Entries.of(model), fill)).isEqualTo(entries);
        Tree loaded = TreeCheck.walk(fabric, configuration, index);
        assertThat(loaded.entries()).isEqualTo(model);
        assertThat(loaded.strays()).isZero();
        try (Session session = index.session()) {
          new ModelRun(session, model, random, 3_000).operations(OPERATIONS);
        }
      }
      assertThat(TreeCheck.walk(fabric, configuration, index).entries()).isEqualTo(model);
    }
  }

  @ParameterizedTest(name = "seed={0} {1} memory={2} compute={3} {4}")
  @CsvSource({
    "221, DEX,       1, 1,  offloading=off",
    "222, DEX,       2, 4,  offloading=off",
    "223, DEX,       4, 16, contrary=0.5",
    "230, ORCA,      4, 16, page-children=60 merge-share=0.4",
    "224, SHERMAN,   1, 1,  validation=checksum",
    "225, SHERMAN,   4, 4,  validation=versions",
    "226, FG,        2, 4,  validation=checksum",
    "227, P_SHERMAN, 2, 4,  validation=checksum",
    "228, P_SHERMAN, 4, 16, validation=checksum",
    "259, ROLEX,     1, 1,  retraining=on",
    "260, ROLEX,     4, 4,  retraining=on",
    "273, XSTORE_D,  4, 4,  retraining=on",
    "287, EMT_D,     1, 1,  kept-nodes=1",
    "288, EMT_D,     4, 4,  kept-nodes=16",
    "298, SMART,     4, 4,  reserve=steps",
    "299, P_SMART,   4, 4,  reserve=steps",
  })
  void shouldGiveBackNodesOfWhatIsDeleted(
      long seed, SystemUnderTest system, int memoryServers, int computeServers, String settings) {
    long start = Seeds.of(seed);
    SplittableRandom random = new SplittableRandom(start);
    Configuration configuration = system.tiny(computeServers).with(settings);
    long few = few(system, computeServers);
    try (HookedFabric fabric =
        new HookedFabric(Pools.open(memoryServers, 16 << 20, start)).withTasksByHand()) {
      RangeIndex index = configuration.create(fabric);
      try (index;
          Session session = index.session()) {
        NavigableMap<Long, Long> model = Entries.random(random, RELOADED);
        index.bulkLoad(Entries.of(model), 0.7);
        long loaded = index.poolBytes();
        for (int round = 0; round < Seeds.count(1, 4); round++) {
          removeAll(fabric, session, model, random);
          assertThat(index.poolBytes() / configuration.nodeBytes())
              .as("nodes left, round %d", round)
              .isLessThan(few);
          model = Entries.random(random, RELOADED);
          model.forEach(session::put);
          fabric.runTasks();
          assertThat(index.poolBytes()).as("round %d", round).isLessThan(2 * loaded);
        }
        removeAll(fabric, session, model, random);
        assertThat(session.ceiling(Long.MIN_VALUE)).isFalse();
        assertThat(session.floor(Long.MAX_VALUE)).isFalse();
      }
      Tree tree = TreeCheck.walk(fabric, configuration, index);
      System.out.println("nodes left=" + tree.nodes());
      assertThat(tree.entries()).isEmpty();
      assertThat(tree.nodes()).isLessThanOrEqualTo(few);
    }
  }

  /**
   * What may be left of an empty tree: merges need neighbours, and stop at partitions. A B-link
   * tree's are tried only now and then, and only where nobody holds a lock.
   */
  private static long few(SystemUnderTest system, int computeServers) {
    return 24L * computeServers + (system == SystemUnderTest.DEX ? 10 : 80);
  }

  private static void removeAll(
      HookedFabric fabric,
      Session session,
      NavigableMap<Long, Long> model,
      SplittableRandom random) {
    long[] keys = model.keySet().stream().mapToLong(Long::longValue).toArray();
    for (int i = keys.length - 1; i >= 0; i--) {
      int other = random.nextInt(i + 1);
      long key = keys[other];
      keys[other] = keys[i];
      assertThat(session.remove(key)).isTrue();
      assertThat(session.value()).isEqualTo(model.get(key));
      if (i % OPERATIONS_TO_A_TASK == 0) {
        fabric.runTasks();
      }
    }
  }
}
