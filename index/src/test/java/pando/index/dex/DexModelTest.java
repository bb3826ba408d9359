package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.ModelRun;
import pando.index.Session;
import pando.index.Tree;

/** Random operations on one thread, each compared with a {@link TreeMap}. */
class DexModelTest {
  private static final int OPERATIONS = 60_000;

  @ParameterizedTest(
      name = "seed={0} memoryServers={1} computeServers={2} node-bytes={3} keys={4} set={5}")
  @CsvSource({
    "1,  1, 1, 192, 2000,  offloading=off",
    "2,  1, 1, 128, 500,   offloading=off",
    "3,  2, 2, 192, 2000,  offloading=off",
    "4,  4, 4, 192, 8000,  offloading=on",
    "5,  4, 4, 128, 8000,  contrary=0.5",
    "6,  3, 7, 256, 20000, contrary=0.5",
    "7, 16, 16, 192, 5000, contrary=0.3",
    "8,  1, 4, 1024, 30000, admission=1",
    "9,  2, 4, 192, 3000,  caching=off",
    "10, 4, 3, 192, 100,   subtree-level=0",
    "11, 4, 3, 192, 10000, subtree-level=4",
    "12, 2, 1, 192, 3000,  contrary=1",
  })
  void shouldBehaveLikeTreeMap(
      long seed, int memoryServers, int computeServers, int nodeBytes, int keys, String setting) {
    System.out.println("seed=" + seed);
    String[] parts = setting.split("=", 2);
    DexOptions options =
        Pools.tiny(computeServers)
            .with("cache-bytes", String.valueOf(64 * 1024))
            .with("node-bytes", String.valueOf(nodeBytes))
            .with("cache-bytes", String.valueOf(64 * nodeBytes))
            .with(parts[0], parts[1]);
    try (Fabric fabric = Pools.open(memoryServers, 8 << 20, seed)) {
      TreeMap<Long, Long> model = new TreeMap<>();
      try (DexIndex index = DexIndex.create(fabric, options);
          Session session = index.session()) {
        new ModelRun(session, model, new SplittableRandom(seed), keys).operations(OPERATIONS);
      }
      Tree tree = TreeCheck.walk(fabric, options);
      assertThat(tree.entries()).isEqualTo(model);
    }
  }
}
