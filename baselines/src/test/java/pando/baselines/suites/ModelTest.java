package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.ModelRun;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Tree;
import pando.index.TreeCheck;
import pando.index.orca.OrcaIndex;

/** Random operations on one thread, each compared with a {@link TreeMap}. */
@FewRows(products = 8)
@Timeout(300)
class ModelTest {
  private static final int OPERATIONS = Seeds.count(2_500, 5_000, 40_000);

  @ParameterizedTest(name = "seed={0} {1} memory={2} compute={3} node-bytes={4} keys={5} {6}")
  @CsvSource({
    "1,  DEX,       1,  1,  192,  2000,  offloading=off",
    "2,  DEX,       1,  1,  128,  500,   offloading=off",
    "3,  DEX,       2,  2,  192,  2000,  offloading=off",
    "4,  DEX,       4,  4,  192,  8000,  offloading=on",
    "5,  DEX,       4,  4,  128,  8000,  contrary=0.5",
    "6,  DEX,       3,  7,  256,  20000, contrary=0.5",
    "7,  DEX,       16, 16, 192,  5000,  contrary=0.3",
    "8,  DEX,       1,  4,  1024, 30000, admission=1",
    "9,  DEX,       2,  4,  192,  3000,  caching=off",
    "10, DEX,       4,  3,  192,  100,   subtree-level=0",
    "11, DEX,       4,  3,  192,  10000, subtree-level=4",
    "12, DEX,       2,  1,  192,  3000,  contrary=1",
    "81, DEX,       1,  1,  192,  2000,  key-bytes=16 offloading=off",
    "82, DEX,       4,  4,  320,  8000,  key-bytes=32 contrary=0.5",
    "83, DEX,       3,  7,  512,  20000, key-bytes=64 contrary=0.3",
    "84, DEX,       2,  3,  256,  500,   key-bytes=24 admission=1",
    "85, DEX,       2,  2,  8192, 3000,  key-bytes=1024",
    "13, ORCA,      1,  1,  512,  2000,  twin=on",
    "14, ORCA,      2,  3,  384,  500,   delta-changes=1 twin=off",
    "15, ORCA,      4,  2,  512,  8000,  delta-changes=3 page-children=4",
    "16, ORCA,      3,  4,  1024, 20000, neighbours=off merge-share=0.4",
    "17, ORCA,      1,  1,  512,  100,   delta-changes=2",
    "18, ORCA,      2,  2,  512,  8000,  image-share=0.5 delta-changes=3",
    "19, ORCA,      1,  1,  1024, 2000,  image-share=0.8 delta-share=0.05",
    "20, ORCA,      3,  2,  384,  3000,  image-share=0.3 delta-changes=20 merge-share=0.4",
    "33, ORCA,      2,  2,  512,  8000,  cache=segments image-share=0.5 delta-changes=3",
    "34, ORCA,      3,  2,  1024, 5000,  cache=leaves image-share=0.3 merge-share=0.4",
    "35, ORCA,      1,  1,  4096, 20000, cache=leaves delta-changes=20",
    "21, SHERMAN,   1,  1,  192,  2000,  validation=checksum",
    "22, SHERMAN,   2,  2,  128,  500,   validation=versions",
    "23, SHERMAN,   4,  4,  256,  8000,  handovers=0",
    "24, SHERMAN,   4,  1,  1024, 30000, combine=off",
    "25, SHERMAN,   4,  1,  192,  30000, local-locks=off",
    "26, FG,        1,  1,  192,  2000,  validation=checksum",
    "27, FG,        3,  2,  256,  8000,  validation=versions",
    "28, FG,        2,  2,  128,  20000, entry-writes=on",
    "29, P_SHERMAN, 4,  4,  192,  8000,  validation=checksum",
    "30, P_SHERMAN, 3,  7,  256,  20000, validation=checksum",
    "31, P_SHERMAN, 1,  2,  192,  100,   entry-writes=off",
    "32, P_SHERMAN, 2,  16, 128,  5000,  merge-share=0.5",
    "41, DEFT,      1,  1,  448,  2000,  validation=versions",
    "42, DEFT,      2,  2,  448,  500,   merge-share=0.4",
    "43, DEFT,      4,  3,  640,  20000, validation=versions",
    "44, DEFT,      4,  1,  1024, 50000, validation=versions",
    "45, DEFT,      3,  2,  448,  8000,  validation=checksum",
    "46, DEFT,      2,  2,  832,  20000, segments=off",
    "47, DEFT,      2,  2,  448,  5000,  hash-leaves=off",
    "48, DEFT,      2,  2,  448,  5000,  sx-locks=off",
    "49, DEFT,      1,  2,  1024, 20000, validation=checksum hash-leaves=off sx-locks=off",
    "61, ROLEX,     1,  1,  384,  2000,  retraining=off",
    "62, ROLEX,     1,  1,  384,  500,   retraining=on",
    "63, ROLEX,     4,  3,  512,  20000, retraining=on",
    "64, ROLEX,     2,  2,  384,  8000,  leaves-max=1 delta=2 epsilon=1",
    "65, ROLEX,     4,  1,  1024, 50000, leaves-max=48 delta=16 epsilon=16",
    "66, ROLEX,     3,  2,  384,  8000,  retrain-fill=1 synonym-share=0 merge-share=0.5",
    "67, ROLEX,     2,  2,  640,  20000, leaves-max=63 delta=60 epsilon=100",
    "68, ROLEX,     1,  2,  384,  100,   synonym-share=10",
    "71, XSTORE_D,  1,  1,  384,  2000,  retraining=off",
    "72, XSTORE_D,  1,  1,  384,  500,   retraining=on",
    "73, XSTORE_D,  4,  3,  512,  20000, retraining=on",
    "74, XSTORE_D,  2,  2,  384,  8000,  leaves-max=1 delta=2 epsilon=1",
    "75, XSTORE_D,  4,  1,  1024, 50000, leaves-max=48 delta=16 epsilon=16",
    "76, XSTORE_D,  3,  2,  384,  8000,  retrain-fill=1 synonym-share=0 merge-share=0.5",
    "77, XSTORE_D,  2,  2,  640,  20000, leaves-max=63 delta=60 epsilon=100",
    "91, EMT_D,     1,  1,  128,  2000,  kept-nodes=1",
    "92, EMT_D,     4,  3,  192,  20000, rows=1",
    "93, EMT_D,     3,  2,  128,  100,   rows=3",
    "94, EMT_D,     2,  2,  320,  20000, rows=250 kept-nodes=64",
    "95, EMT_D,     16, 1,  4096, 50000, kept-nodes=200",
    "101, SMART,    1,  1,  1024, 2000,  reserve=steps",
    "102, SMART,    4,  3,  1024, 20000, reserve=steps",
    "103, SMART,    2,  2,  1024, 500,   reserve=whole",
    "104, SMART,    3,  2,  1024, 8000,  merge-share=0.5 fifo-parts=1",
    "105, P_SMART,  1,  1,  1024, 2000,  reserve=steps",
    "106, P_SMART,  3,  7,  1024, 20000, reserve=steps",
    "107, P_SMART,  2,  16, 1024, 500,   reserve=whole",
  })
  void shouldBehaveLikeTreeMap(
      long seed,
      SystemUnderTest system,
      int memoryServers,
      int computeServers,
      int nodeBytes,
      int keys,
      String settings) {
    long start = Seeds.of(seed);
    Configuration configuration =
        system
            .tiny(computeServers)
            .with("node-bytes", String.valueOf(nodeBytes))
            .with("cache-bytes", String.valueOf(64 * nodeBytes))
            .with(settings);
    try (Fabric fabric = Pools.open(memoryServers, 8 << 20, start)) {
      TreeMap<Long, Long> model = new TreeMap<>();
      RangeIndex index = configuration.create(fabric);
      try (index;
          Session session = index.session()) {
        assertThat(index.name()).isEqualTo(system.systemName());
        new ModelRun(session, model, new SplittableRandom(start), keys).operations(OPERATIONS);
        if (index instanceof OrcaIndex orca) {
          assertThat(orca.audit()).isEmpty();
        }
      }
      Tree tree = TreeCheck.walk(fabric, configuration, index);
      assertThat(tree.entries()).isEqualTo(model);
    }
  }
}
