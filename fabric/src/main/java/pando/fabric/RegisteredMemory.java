package pando.fabric;

import java.lang.foreign.MemorySegment;

/**
 * Local memory that is registered with a fabric. Verbs name their local bytes by offsets in it.
 * Thread-safe.
 */
public interface RegisteredMemory extends AutoCloseable {
  /** Returns the memory: native, 64-byte aligned. Any access after {@link #close()} throws. */
  MemorySegment segment();

  /** Frees the memory. No worker may use it any more. */
  @Override
  void close();
}
