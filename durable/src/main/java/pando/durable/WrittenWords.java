package pando.durable;

import pando.index.EntrySource;
import pando.journal.FolderLoad;

/** The entries of a load, which are written to a folder as they are read. */
record WrittenWords(EntrySource entries, FolderLoad load) implements EntrySource {
  @Override
  public boolean next() {
    boolean found = entries.next();
    if (found) {
      load.append(entries.key(), entries.value());
    }
    return found;
  }

  @Override
  public long key() {
    return entries.key();
  }

  @Override
  public long value() {
    return entries.value();
  }
}
