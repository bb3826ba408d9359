package pando.fabric.local;

import pando.fabric.Fabric;
import pando.fabric.server.PoolOptions;

/** A pool of memory servers inside this JVM, whose processors are threads. */
public final class LocalFabric {
  private LocalFabric() {}

  /**
   * Starts memory servers and returns a fabric that is connected to them. Closing the fabric stops
   * them and frees their memory.
   */
  public static Fabric open(PoolOptions options) {
    return LocalPool.start(options).fabric(LocalPool.NAME, options.seed());
  }
}
