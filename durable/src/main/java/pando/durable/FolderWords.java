package pando.durable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pando.index.EntrySource;
import pando.index.bytes.ByteStrings;
import pando.journal.DamagedLogException;
import pando.journal.DataFolder;
import pando.journal.DataFolderException;
import pando.journal.EntryStream;

/** The entries of a folder of words. */
final class FolderWords implements EntrySource {
  private static final ValueLayout.OfLong VALUE =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final DataFolder folder;
  private final EntryStream entries;

  FolderWords(DataFolder folder, EntryStream entries) {
    this.folder = folder;
    this.entries = entries;
  }

  @Override
  public boolean next() {
    return next(folder, entries);
  }

  /** Moves to the next entry; returns {@code false} if there is none. */
  static boolean next(DataFolder folder, EntryStream entries) {
    try {
      return entries.next();
    } catch (IOException e) {
      throw new DataFolderException(
          "the folder cannot be read: folder=%s, cause=%s".formatted(folder, e), e);
    }
  }

  @Override
  public long key() {
    return word(entries.key()).get(ByteStrings.WORD, 0) ^ Long.MIN_VALUE;
  }

  @Override
  public long value() {
    return word(entries.value()).get(VALUE, 0);
  }

  private MemorySegment word(MemorySegment bytes) {
    if (bytes.byteSize() != Long.BYTES) {
      throw new DamagedLogException(
          "an entry is not of words: folder=%s, bytes=%s".formatted(folder, bytes.byteSize()));
    }
    return bytes;
  }
}
