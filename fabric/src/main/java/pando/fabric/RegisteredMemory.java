package pando.fabric;

import java.lang.foreign.MemorySegment;

/** Local memory known to a fabric. Offsets in it are the local side of verbs. Thread-safe. */
public interface RegisteredMemory extends AutoCloseable {
  /** Returns the bytes, native and 64-byte aligned. Throws on access after {@link #close()}. */
  MemorySegment segment();

  /** Frees the memory. No worker may use it any more. */
  @Override
  void close();
}
