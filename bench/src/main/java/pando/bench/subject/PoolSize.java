package pando.bench.subject;

/** How much room a run needs. Generous: memory that no node needs costs nothing, mostly. */
public final class PoolSize {
  private static final int RECORD_BYTES = 2 * Long.BYTES;

  /** Inner nodes, headers and roundings, as a factor. */
  private static final double OVERHEAD = 1.15;

  /** Splits leave two nodes half full; new records may at worst make all old nodes split, too. */
  private static final int INSERT_FACTOR = 4;

  /** Subtrees are dealt to memory servers at random. */
  private static final double IMBALANCE = 1.25;

  private static final long CHUNK_BYTES = 8L << 20;
  private static final long CHUNKS_MIN = 8;

  private PoolSize() {}

  /** Returns the bytes that nodes may come to take. */
  public static long bytes(long records, long inserts, double fill) {
    double loaded = records * RECORD_BYTES / fill * OVERHEAD;
    double inserted = (double) inserts * RECORD_BYTES * INSERT_FACTOR;
    return (long) (loaded + inserted) + CHUNKS_MIN * CHUNK_BYTES;
  }

  /**
   * Returns the bytes that each memory server should have.
   *
   * @param computeServers each may hold chunks of every memory server that are hardly used, one for
   *     each size of node
   */
  public static long bytesPerServer(long bytes, int memoryServers, int computeServers) {
    long chunks = (CHUNKS_MIN + 4L * computeServers) * CHUNK_BYTES;
    return (long) (bytes / (double) memoryServers * IMBALANCE) + chunks;
  }
}
