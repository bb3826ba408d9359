package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Pools;
import pando.index.Repartitioner;
import pando.index.Seeds;
import pando.index.StressRun;
import pando.index.Tree;
import pando.index.TreeCheck;

/** Real threads on one index while its partitions move. */
@Timeout(180)
class DexStressTest {
  private static final int OPERATIONS =
      Integer.getInteger("pando.test.operations", Seeds.count(3_000, 10_000));
  private static final int SERVERS_MAX = 8;

  @ParameterizedTest(name = "seed={0} threads={1} memory={2} compute={3} change every {4} {5}")
  @CsvSource({
    "103, 6, 3, 4, 400,  offloading=off",
    "105, 6, 3, 4, 400,  contrary=0.5",
    "106, 4, 2, 2, 100,  contrary=0.5",
    "107, 8, 2, 4, 1000, caching=off",
    "108, 5, 4, 6, 300,  admission=1",
    "109, 6, 3, 4, 400,  key-bytes=16",
  })
  void shouldStayLinearizableWhilePartitionsMove(
      long seed, int threads, int memory, int compute, int changeEvery, String setting)
      throws Exception {
    long start = Seeds.of(seed);
    String[] parts = setting.split("=", 2);
    DexOptions options = Tiny.options(compute).with(parts[0], parts[1]);
    try (Fabric fabric = Pools.open(memory, 8 << 20, start)) {
      DexIndex index = DexIndex.create(fabric, options);
      Map<Long, Long> expected;
      try (index) {
        StressRun run = new StressRun(index, start, threads, OPERATIONS);
        Repartitioner repartitioner =
            new Repartitioner(index, new SplittableRandom(~start), SERVERS_MAX);
        run.besides(changeEvery, repartitioner::change);
        run.run();
        System.out.println("changes=" + repartitioner.changes());
        expected = run.expected();
      }
      Tree tree = TreeCheck.walk(fabric, new Configuration(options), index);
      assertThat(tree.entries()).isEqualTo(expected);
    }
  }
}
