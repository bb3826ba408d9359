package pando.bench.subject;

import pando.index.IndexOptions;

/** The size of the pool that a run needs. Generous, as unused memory usually costs nothing. */
public final class PoolSize {
  private static final int RECORD_BYTES = 2 * Long.BYTES;

  /** Factor for inner nodes, headers and rounding. */
  private static final double OVERHEAD = 1.15;

  /**
   * Factor for inserted records: splits leave nodes half full, and new records may split all old
   * nodes.
   */
  private static final int INSERT_FACTOR = 4;

  /** Factor for the uneven distribution of subtrees over memory servers. */
  private static final double IMBALANCE = 1.25;

  /** Factor for the fences of nodes with long keys, and the room behind their last entry. */
  private static final double LONG_KEY_FACTOR = 1.7;

  private static final long CHUNK_BYTES = 8L << 20;
  private static final long CHUNKS_MIN = 8;

  private PoolSize() {}

  /** Returns the maximum size of all nodes of an index in bytes. */
  public static long of(IndexOptions index, long records, long inserts, double fill) {
    long most = records * index.recordBytesMax() + bytes(0, inserts, fill);
    return Math.max(bytes(records, inserts, fill), most);
  }

  /** Returns the maximum size of all nodes of a B+-tree in bytes. */
  public static long bytes(long records, long inserts, double fill) {
    double loaded = records * RECORD_BYTES / fill * OVERHEAD;
    double inserted = (double) inserts * RECORD_BYTES * INSERT_FACTOR;
    return (long) (loaded + inserted) + CHUNKS_MIN * CHUNK_BYTES;
  }

  /**
   * Returns the maximum size of all nodes in bytes where keys have another length.
   *
   * @param bytes the size where they have 8 bytes
   */
  public static long withKeys(long bytes, int keyBytes) {
    return keyBytes == Long.BYTES
        ? bytes
        : (long) (bytes * LONG_KEY_FACTOR * (keyBytes + Long.BYTES) / RECORD_BYTES);
  }

  /**
   * Returns the bytes that each memory server should have.
   *
   * @param computeServers number of compute servers; each may hold almost unused chunks of every
   *     memory server, one for each size of node
   */
  public static long bytesPerServer(long bytes, int memoryServers, int computeServers) {
    long chunks = (CHUNKS_MIN + 4L * computeServers) * CHUNK_BYTES;
    return (long) (bytes / (double) memoryServers * IMBALANCE) + chunks;
  }
}
