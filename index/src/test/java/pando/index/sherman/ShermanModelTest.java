package pando.index.sherman;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.ModelRun;
import pando.index.Session;
import pando.index.Tree;

/** Random operations on one thread, each compared with a {@link TreeMap}. */
class ShermanModelTest {
  private static final int OPERATIONS = 60_000;

  @ParameterizedTest(name = "seed={0} system={1} servers={2}+{3} node-bytes={4} keys={5} {6}")
  @CsvSource({
    "1, sherman,   1, 1, 192,  2000,  validation=checksum",
    "2, sherman,   2, 2, 128,  500,   validation=versions",
    "3, sherman,   4, 4, 256,  8000,  handovers=0",
    "4, sherman,   1, 4, 1024, 30000, combine=off",
    "5, fg,        1, 1, 192,  2000,  validation=checksum",
    "6, fg,        2, 3, 256,  8000,  validation=versions",
    "7, p-sherman, 4, 4, 192,  8000,  validation=checksum",
    "8, p-sherman, 7, 3, 256,  20000, validation=versions",
    "9, p-sherman, 2, 1, 192,  100,   entry-writes=off",
  })
  void shouldBehaveLikeTreeMap(
      long seed,
      String system,
      int computeServers,
      int memoryServers,
      int nodeBytes,
      int keys,
      String setting) {
    System.out.println("seed=" + seed);
    String[] parts = setting.split("=", 2);
    ShermanOptions options =
        ShermanOptions.of(system)
            .withComputeServers(computeServers)
            .with("node-bytes", String.valueOf(nodeBytes))
            .withCacheBytes(8L * nodeBytes)
            .with(parts[0], parts[1]);
    try (Fabric fabric =
        LocalFabric.open(
            PoolOptions.defaults()
                .withMemoryServers(memoryServers)
                .withBytesPerServer(8 << 20)
                .withChunkBytes(64 << 10)
                .withSeed(seed))) {
      TreeMap<Long, Long> model = new TreeMap<>();
      try (ShermanIndex index = ShermanIndex.create(fabric, options);
          Session session = index.session()) {
        new ModelRun(session, model, new SplittableRandom(seed), keys).operations(OPERATIONS);
      }
      Tree tree = BLinkWalk.of(fabric, options);
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
    }
  }
}
