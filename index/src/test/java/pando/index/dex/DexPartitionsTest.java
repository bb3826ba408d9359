package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.ModelRun;
import pando.index.Partitioning;
import pando.index.Pools;
import pando.index.Repartitioner;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;
import pando.index.TreeCheck;

/** Partitions that change between operations of one thread. */
@Timeout(300)
class DexPartitionsTest {
  private static final int ROUNDS = Seeds.count(40, 120);
  private static final int OPERATIONS = 150;

  @ParameterizedTest(name = "seed={0} memory={1} compute={2} keys={3} set={4}")
  @CsvSource({
    "301, 1, 1,  500,   offloading=off",
    "302, 2, 2,  3000,  offloading=off",
    "303, 2, 3,  3000,  contrary=0.5",
    "304, 4, 8,  8000,  contrary=0.5",
    "305, 3, 16, 8000,  contrary=0.3",
    "306, 2, 5,  100,   admission=1",
    "307, 2, 5,  3000,  subtree-level=0",
    "308, 2, 5,  3000,  caching=off",
    "309, 2, 5,  3000,  key-bytes=16",
  })
  void shouldBehaveLikeTreeMap(
      long seed, int memoryServers, int computeServers, int keys, String setting) {
    long start = Seeds.of(seed);
    SplittableRandom random = new SplittableRandom(start);
    String[] parts = setting.split("=", 2);
    DexOptions options = Tiny.options(computeServers).with(parts[0], parts[1]);
    try (Fabric fabric = Pools.open(memoryServers, 16 << 20, start)) {
      TreeMap<Long, Long> model = new TreeMap<>();
      DexIndex index = DexIndex.create(fabric, options);
      try (index;
          Session session = index.session()) {
        Repartitioner repartitioner = new Repartitioner(index, random.split(), 16);
        ModelRun run = new ModelRun(session, model, random, keys);
        for (int round = 0; round < ROUNDS; round++) {
          run.operations(OPERATIONS);
          String change = repartitioner.change();
          checkCover(index.partitioning(), change);
        }
      }
      Tree tree = TreeCheck.walk(fabric, new Configuration(options), index);
      assertThat(tree.entries()).isEqualTo(model);
    }
  }

  private static void checkCover(Partitioning partitioning, String change) {
    long low = Long.MIN_VALUE;
    for (int range = 0; range < partitioning.servers(); range++) {
      assertThat(partitioning.lowOfRange(range)).as(change).isEqualTo(low);
      assertThat(partitioning.highOfRange(range)).as(change).isGreaterThanOrEqualTo(low);
      low = partitioning.highOfRange(range) + 1;
    }
    assertThat(low).as(change).isEqualTo(Long.MIN_VALUE);
  }

  @Test
  void shouldGrowToTheMostAndShrinkToOneComputeServer() {
    DexOptions options = Tiny.options(1);
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(1), 5_000);
    try (Fabric fabric = Pools.open(2, 16 << 20, 1);
        DexIndex index = DexIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      while (index.partitioning().servers() < DexOptions.COMPUTE_SERVERS_MAX) {
        Partitioning partitioning = index.partitioning();
        int widest = 0;
        for (int range = 0; range < partitioning.servers(); range++) {
          widest =
              entries(model, partitioning, range) > entries(model, partitioning, widest)
                  ? range
                  : widest;
        }
        assertThat(
                index
                    .partitions()
                    .orElseThrow()
                    .addComputeServer(partitioning.ownerOfRange(widest)))
            .isNotNegative();
      }
      model.forEach((key, value) -> {
        assertThat(session.get(key)).isTrue();
        assertThat(session.value()).isEqualTo(value);
      });
      while (index.partitioning().servers() > 1) {
        index
            .partitions()
            .orElseThrow()
            .removeComputeServer(
                index.partitioning().ownerOfRange(index.partitioning().servers() / 2));
      }
      model.forEach((key, value) -> {
        assertThat(session.get(key)).isTrue();
        assertThat(session.value()).isEqualTo(value);
      });
    }
  }

  private static int entries(NavigableMap<Long, Long> model, Partitioning partitioning, int range) {
    return model
        .subMap(partitioning.lowOfRange(range), true, partitioning.highOfRange(range), true)
        .size();
  }
}
