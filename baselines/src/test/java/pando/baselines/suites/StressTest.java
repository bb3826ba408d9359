package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.StressRun;
import pando.index.SystemUnderTest;
import pando.index.Tree;
import pando.index.TreeCheck;
import pando.index.orca.OrcaIndex;

/** Real threads on one index. */
@FewRows(products = 3)
@Timeout(180)
class StressTest {
  private static final int OPERATIONS =
      Integer.getInteger("pando.test.operations", Seeds.count(2_000, 5_000, 10_000));

  @ParameterizedTest(name = "seed={0} {1} threads={2} memory={3} compute={4} {5}")
  @CsvSource({
    "101, DEX,       4, 1, 1, offloading=off",
    "102, DEX,       4, 2, 4, offloading=off",
    "104, DEX,       4, 2, 4, contrary=0.5",
    "105, DEX,       4, 2, 4, key-bytes=24 node-bytes=256 cache-bytes=16KiB contrary=0.3",
    "111, ORCA,      4, 1, 1, neighbours=on",
    "112, ORCA,      4, 2, 4, delta-changes=2",
    "113, ORCA,      6, 2, 2, twin=off merge-share=0.4 delta-share=0.5",
    "114, ORCA,      4, 2, 2, image-share=0.5 delta-changes=20",
    "121, SHERMAN,   4, 1, 1, validation=checksum",
    "122, SHERMAN,   4, 2, 4, validation=checksum",
    "123, SHERMAN,   6, 2, 2, validation=versions",
    "124, SHERMAN,   4, 2, 2, combine=off local-locks=off",
    "125, SHERMAN,   4, 2, 4, cache-bytes=768 merge-share=0.5",
    "126, FG,        4, 2, 4, validation=checksum",
    "127, FG,        4, 2, 2, validation=versions",
    "128, P_SHERMAN, 4, 1, 1, validation=checksum",
    "129, P_SHERMAN, 4, 2, 4, validation=checksum",
    "130, P_SHERMAN, 6, 2, 4, validation=checksum",
    "131, DEFT,      4, 1, 1, validation=versions",
    "132, DEFT,      4, 2, 4, validation=versions",
    "133, DEFT,      6, 2, 2, validation=checksum",
    "134, DEFT,      4, 2, 2, hash-leaves=off segments=off",
    "135, DEFT,      4, 2, 4, sx-locks=off",
    "136, DEFT,      6, 2, 2, merge-share=0.5",
    "161, ROLEX,     4, 1, 1, retraining=on",
    "162, ROLEX,     4, 2, 4, retraining=on",
    "163, ROLEX,     6, 2, 2, synonym-share=10 merge-share=0 handovers=0",
    "164, ROLEX,     4, 2, 4, leaves-max=1 delta=2 epsilon=2",
    "165, ROLEX,     4, 2, 2, leaves-max=48 delta=16 epsilon=16",
    "166, ROLEX,     6, 2, 2, retrain-fill=1 synonym-share=0 merge-share=0.5",
    "171, XSTORE_D,  4, 1, 1, retraining=on",
    "172, XSTORE_D,  4, 2, 4, retraining=on",
    "173, XSTORE_D,  4, 2, 4, leaves-max=1 delta=2 epsilon=2",
    "174, XSTORE_D,  6, 2, 2, retrain-fill=1 synonym-share=0 merge-share=0.5",
    "181, EMT_D,     4, 1, 1, kept-nodes=1",
    "182, EMT_D,     4, 2, 4, kept-nodes=16 rows=2",
    "183, EMT_D,     6, 2, 2, node-bytes=320",
    "184, SMART,     4, 1, 1, reserve=steps",
    "185, SMART,     4, 2, 4, reserve=steps merge-share=0.5",
    "186, SMART,     6, 2, 2, reserve=whole",
    "187, P_SMART,   4, 2, 4, reserve=steps",
    "188, P_SMART,   6, 2, 2, reserve=whole",
  })
  void shouldStayLinearizable(
      long seed,
      SystemUnderTest system,
      int threads,
      int memoryServers,
      int computeServers,
      String settings)
      throws Exception {
    long start = Seeds.of(seed);
    Configuration configuration = system.tiny(computeServers).with(settings);
    try (Fabric fabric = Pools.open(memoryServers, 8 << 20, start)) {
      RangeIndex index = configuration.create(fabric);
      Map<Long, Long> expected;
      try (index) {
        StressRun run = new StressRun(index, start, threads, OPERATIONS);
        run.run();
        expected = run.expected();
        if (index instanceof OrcaIndex orca) {
          assertThat(orca.audit()).isEmpty();
        }
      }
      Tree tree = TreeCheck.walk(fabric, configuration, index);
      assertThat(tree.entries()).isEqualTo(expected);
    }
  }
}
