package pando.metrics;

import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.IndexSystem;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Systems;

/** A small index, and two memory servers in this process. */
record SmallIndex(Fabric fabric, RangeIndex index) implements AutoCloseable {
  private static final int CACHE_BYTES = 128 << 10;

  static SmallIndex open(IndexSystem system) {
    Fabric fabric =
        LocalFabric.open(
            PoolOptions.defaults()
                .withMemoryServers(2)
                .withBytesPerServer(64 << 20)
                .withHandlers(Systems.handlers()));
    RangeIndex index =
        system.defaults().withComputeServers(3).withCacheBytes(CACHE_BYTES).create(fabric);
    return new SmallIndex(fabric, index);
  }

  /** Stores keys, finds as many that are there, and as many that are not. */
  void operate(int keys) {
    try (Session session = index.session()) {
      for (long i = 0; i < keys; i++) {
        session.put(key(i), i);
      }
      for (long i = 0; i < 2L * keys; i++) {
        session.get(key(i));
      }
    }
  }

  /** Scatters keys over the partitions. */
  private static long key(long i) {
    return i * 0x9E3779B97F4A7C15L;
  }

  @Override
  public void close() {
    index.close();
    fabric.close();
  }
}
