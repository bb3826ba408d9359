package pando.fabric;

import java.lang.foreign.MemorySegment;

/**
 * Bytes of the pool where they are, see {@link Worker#view}. Others may write them while they are
 * looked at. Not thread-safe; may be used again and again.
 */
public final class PoolView {
  private MemorySegment memory = MemorySegment.NULL;
  private long at;

  /** Creates a view of nothing. */
  public PoolView() {}

  /** Says where the bytes are; called by a fabric. */
  public void set(MemorySegment newMemory, long newAt) {
    memory = newMemory;
    at = newAt;
  }

  /** Returns the memory that the bytes are in. */
  public MemorySegment memory() {
    return memory;
  }

  /** Returns where they begin in it. */
  public long at() {
    return at;
  }
}
