package pando.index.dex;

import java.util.List;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;

/** Small pools for tests. */
final class Pools {
  private Pools() {}

  static Fabric open(int memoryServers, long bytesPerServer, long seed) {
    return LocalFabric.open(
        PoolOptions.defaults()
            .withMemoryServers(memoryServers)
            .withBytesPerServer(bytesPerServer)
            .withChunkBytes(64 << 10)
            .withSeed(seed)
            .withHandlers(List.of(new DexOffload())));
  }

  /** Options under which splits, merges and evictions happen all the time. */
  static DexOptions tiny(int computeServers) {
    return DexOptions.defaults()
        .with("node-bytes", "192")
        .with("cache-bytes", String.valueOf(64 * 192))
        .with("compute-servers", String.valueOf(computeServers));
  }
}
