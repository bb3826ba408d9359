package pando.index.dex;

/** Options under which splits, merges and evictions happen all the time. */
final class Tiny {
  private Tiny() {}

  static DexOptions options(int computeServers) {
    return DexOptions.defaults()
        .with("node-bytes", "192")
        .with("cache-bytes", String.valueOf(64 * 192))
        .with("compute-servers", String.valueOf(computeServers));
  }
}
