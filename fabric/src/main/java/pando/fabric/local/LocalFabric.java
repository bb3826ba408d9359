package pando.fabric.local;

import pando.fabric.Fabric;
import pando.fabric.memory.NativeMemory;
import pando.fabric.server.MemoryServer;
import pando.fabric.server.PoolOptions;

/** A pool of memory servers inside this JVM, whose processors are threads. */
public final class LocalFabric {
  private LocalFabric() {}

  /**
   * Starts memory servers and returns a fabric that is connected to them. Closing the fabric stops
   * them and frees their memory.
   */
  public static Fabric open(PoolOptions options) {
    LocalPool pool =
        LocalPool.of(
            options,
            NativeMemory::allocate,
            (number, segment) -> MemoryServer.start(number, 0, segment, options));
    return pool.fabric("local", options.seed());
  }
}
