package pando.index;

import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;

/** Small pools for tests. */
public final class Pools {
  private Pools() {}

  /** Opens a pool in this process, whose memory servers know every system's CALLs. */
  public static Fabric open(int memoryServers, long bytesPerServer, long seed) {
    return LocalFabric.open(
        options(bytesPerServer).withMemoryServers(memoryServers).withSeed(seed));
  }

  /** Returns the options of such a pool. */
  public static PoolOptions options(long bytesPerServer) {
    return PoolOptions.defaults()
        .withBytesPerServer(bytesPerServer)
        .withChunkBytes(64 << 10)
        .withHandlers(Systems.handlers());
  }
}
