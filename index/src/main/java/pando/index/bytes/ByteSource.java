package pando.index.bytes;

import java.lang.foreign.MemorySegment;

/** A cursor over entries: returns their keys and values one by one. */
public interface ByteSource {
  /** Moves to the next entry; returns {@code false} if there is none. */
  boolean next();

  /** Returns the key of the current entry, whose bytes stay as they are until the next one. */
  MemorySegment key();

  /** Returns the value of the current entry, whose bytes stay as they are until the next one. */
  MemorySegment value();
}
