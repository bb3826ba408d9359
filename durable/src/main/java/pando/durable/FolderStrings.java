package pando.durable;

import java.lang.foreign.MemorySegment;
import pando.index.bytes.ByteSource;
import pando.journal.EntryStream;

/** The entries of a folder of byte strings. */
record FolderStrings(String folder, EntryStream entries) implements ByteSource {
  @Override
  public boolean next() {
    return FolderWords.next(folder, entries);
  }

  @Override
  public MemorySegment key() {
    return entries.key();
  }

  @Override
  public MemorySegment value() {
    return entries.value();
  }
}
