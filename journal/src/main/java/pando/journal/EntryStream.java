package pando.journal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * A cursor over entries in ascending order of their keys, as unsigned bytes. A key comes once. Not
 * thread-safe.
 */
public interface EntryStream extends AutoCloseable {
  /**
   * Moves to the next entry; returns {@code false} if there is none.
   *
   * @throws DamagedFolderException if a file is damaged
   */
  boolean next() throws IOException;

  /** Returns the key of the current entry, whose bytes stay as they are until the next one. */
  MemorySegment key();

  /** Returns whether the key was removed: it has no value then. */
  boolean isRemoved();

  /** Returns the value of the current entry, whose bytes stay as they are until the next one. */
  MemorySegment value();

  /** Closes the files that it reads. */
  @Override
  void close();
}
