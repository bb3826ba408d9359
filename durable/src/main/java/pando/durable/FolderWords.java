package pando.durable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import pando.index.EntrySource;
import pando.journal.DamagedFolderException;
import pando.journal.DataFolderException;
import pando.journal.EntryStream;
import pando.journal.EntryWords;

/** The entries of a folder of words. */
record FolderWords(String folder, EntryStream entries) implements EntrySource {
  /** The part of a node or block that a load fills. */
  static final double FILL = 0.8;

  @Override
  public boolean next() {
    return next(folder, entries);
  }

  /** Moves to the next entry; returns {@code false} if there is none. */
  static boolean next(String folder, EntryStream entries) {
    try {
      return entries.next();
    } catch (IOException e) {
      throw new DataFolderException(
          "the folder cannot be read: folder=%s, cause=%s".formatted(folder, e), e);
    }
  }

  @Override
  public long key() {
    return EntryWords.key(word(entries.key()));
  }

  @Override
  public long value() {
    return EntryWords.value(word(entries.value()));
  }

  private MemorySegment word(MemorySegment bytes) {
    if (bytes.byteSize() != Long.BYTES) {
      throw new DamagedFolderException(
          "an entry is not of words: folder=%s, bytes=%s".formatted(folder, bytes.byteSize()));
    }
    return bytes;
  }
}
