package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.IndexOptions;
import pando.index.ModelRun;
import pando.index.MovablePartitions;
import pando.index.Partitioning;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Repartitioner;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.StressRun;
import pando.index.SystemUnderTest;
import pando.index.Tree;
import pando.index.TreeCheck;
import pando.index.orca.OrcaIndex;

/** Ranges that move while operations run, in the systems whose compute servers share a gate. */
@FewRows(products = 2)
@Timeout(300)
class MovesTest {
  private static final int OPERATIONS = Integer.getInteger("pando.test.operations", 6_000);
  private static final int ROUNDS = Seeds.count(30, 60, 600);
  private static final int SERVERS_MAX = 8;

  @ParameterizedTest(name = "seed={0} {1} memory={2} compute={3} keys={4} {5}")
  @CsvSource({
    "301, P_SHERMAN, 1, 1, 500,  validation=checksum",
    "302, P_SHERMAN, 2, 3, 3000, validation=checksum",
    "303, P_SHERMAN, 3, 8, 8000, cache-bytes=768",
    "304, ORCA,      1, 1, 500,  delta-changes=20",
    "305, ORCA,      2, 3, 3000, neighbours=on",
    "306, ORCA,      3, 8, 8000, image-share=0.5 delta-changes=20",
    "307, P_SMART,   1, 1, 500,  reserve=steps",
    "308, P_SMART,   2, 3, 3000, reserve=steps",
    "309, P_SMART,   3, 8, 8000, reserve=whole",
  })
  void shouldBehaveLikeTreeMap(
      long seed, SystemUnderTest system, int memory, int compute, int keys, String settings) {
    long start = Seeds.of(seed);
    SplittableRandom random = new SplittableRandom(start);
    Configuration configuration = system.tiny(compute).with(settings);
    try (Fabric fabric = Pools.open(memory, 16 << 20, start)) {
      TreeMap<Long, Long> model = new TreeMap<>();
      RangeIndex index = configuration.create(fabric);
      try (index;
          Session session = index.session()) {
        Repartitioner repartitioner = new Repartitioner(index, random.split(), 16);
        ModelRun run = new ModelRun(session, model, random, keys);
        for (int round = 0; round < ROUNDS; round++) {
          run.operations(150);
          repartitioner.change();
        }
        audit(index);
      }
      Tree tree = TreeCheck.walk(fabric, configuration, index);
      assertThat(tree.entries()).isEqualTo(model);
    }
  }

  private static void audit(RangeIndex index) {
    if (index instanceof OrcaIndex orca) {
      assertThat(orca.audit()).isEmpty();
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"P_SHERMAN", "ORCA", "P_SMART"})
  void shouldGrowToTheMostAndShrinkToOneComputeServer(SystemUnderTest system) {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(1), 5_000);
    Configuration configuration = system.tiny(1);
    try (Fabric fabric = Pools.open(2, 16 << 20, 1);
        RangeIndex index = configuration.create(fabric);
        Session session = index.session()) {
      MovablePartitions partitions = index.partitions().orElseThrow();
      index.bulkLoad(Entries.of(model), 0.7);
      while (index.partitioning().servers() < IndexOptions.COMPUTE_SERVERS_MAX) {
        int widest = widest(model, index.partitioning());
        assertThat(partitions.addComputeServer(index.partitioning().ownerOfRange(widest)))
            .isNotNegative();
      }
      check(session, model);
      while (index.partitioning().servers() > 1) {
        Partitioning partitioning = index.partitioning();
        partitions.removeComputeServer(partitioning.ownerOfRange(partitioning.servers() / 2));
      }
      for (int server = -1; server <= IndexOptions.COMPUTE_SERVERS_MAX; server++) {
        boolean isLeft = server == index.partitioning().ownerOfRange(0);
        assertThat(partitions.isHere(server)).as("server=%d", server).isEqualTo(isLeft);
      }
      check(session, model);
      audit(index);
    }
  }

  private static int widest(NavigableMap<Long, Long> model, Partitioning partitioning) {
    int widest = 0;
    for (int range = 0; range < partitioning.servers(); range++) {
      if (entries(model, partitioning, range) > entries(model, partitioning, widest)) {
        widest = range;
      }
    }
    return widest;
  }

  private static int entries(NavigableMap<Long, Long> model, Partitioning partitioning, int range) {
    return model
        .subMap(partitioning.lowOfRange(range), true, partitioning.highOfRange(range), true)
        .size();
  }

  private static void check(Session session, NavigableMap<Long, Long> model) {
    model.forEach((key, value) -> {
      assertThat(session.get(key)).as("key=%d", key).isTrue();
      assertThat(session.value()).as("key=%d", key).isEqualTo(value);
    });
  }

  @ParameterizedTest(name = "seed={0} {1} threads={2} memory={3} compute={4} change every {5} {6}")
  @CsvSource({
    "311, P_SHERMAN, 4, 2, 4, 100, validation=checksum",
    "312, P_SHERMAN, 6, 3, 2, 60,  validation=checksum",
    "313, ORCA,      4, 2, 4, 100, neighbours=on",
    "314, ORCA,      6, 2, 2, 60,  delta-changes=2",
    "315, ORCA,      4, 3, 3, 100, image-share=0.5 delta-changes=20",
    "316, P_SMART,   4, 2, 4, 100, reserve=steps",
    "317, P_SMART,   6, 3, 2, 60,  reserve=whole",
  })
  void shouldStayLinearizableOnRealThreads(
      long seed,
      SystemUnderTest system,
      int threads,
      int memory,
      int compute,
      int every,
      String settings)
      throws Exception {
    long start = Seeds.of(seed);
    Configuration configuration = system.tiny(compute).with(settings);
    try (Fabric fabric = Pools.open(memory, 16 << 20, start)) {
      RangeIndex index = configuration.create(fabric);
      Map<Long, Long> expected;
      try (index) {
        StressRun run = new StressRun(index, start, threads, OPERATIONS);
        Repartitioner repartitioner =
            new Repartitioner(index, new SplittableRandom(~start), SERVERS_MAX);
        run.besides(every, repartitioner::change);
        run.run();
        System.out.println("changes=" + repartitioner.changes());
        assertThat(repartitioner.changes()).isPositive();
        expected = run.expected();
        audit(index);
      }
      Tree tree = TreeCheck.walk(fabric, configuration, index);
      assertThat(tree.entries()).isEqualTo(expected);
    }
  }
}
