package pando.durable;

import pando.index.EntrySource;
import pando.journal.FolderLoad;

/**
 * The entries of a load, which are written to a folder as they are read. All are on the disk before
 * the index has come to the end: so a full disk is found while the index still has none of them.
 */
final class WrittenWords implements EntrySource {
  private final EntrySource entries;
  private final FolderLoad load;
  private boolean ended;

  WrittenWords(EntrySource entries, FolderLoad load) {
    this.entries = entries;
    this.load = load;
  }

  @Override
  public boolean next() {
    boolean found = entries.next();
    if (found) {
      load.append(entries.key(), entries.value());
    } else {
      load.end();
      ended = true;
    }
    return found;
  }

  /** Returns whether all entries were read, and are on the disk. */
  boolean hasEnded() {
    return ended;
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
