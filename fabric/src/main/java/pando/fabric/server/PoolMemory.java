package pando.fabric.server;

/** What is behind the memory of a memory server. */
@FunctionalInterface
public interface PoolMemory {
  /** Memory that is committed when a memory server starts, and stays so. */
  PoolMemory COMMITTED = () -> Long.MAX_VALUE;

  /** Returns how many bytes the system can still commit, for chunks that are given out. */
  long availableBytes();

  /**
   * Takes back a part in which no node is; its bytes may be anything from then on.
   *
   * @param offset of the part in the memory server's memory
   */
  default void discard(long offset, long bytes) {}

  /** Takes a part into use again that may have been {@link #discard discarded}. */
  default void reuse(long offset, long bytes) {}
}
