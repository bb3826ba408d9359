package pando.journal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * A load, which writes all entries of a folder anew. They count once {@link #finish} returns. Until
 * then, and if this is closed before, the folder keeps what it had. Not thread-safe.
 */
public final class FolderLoad implements AutoCloseable {
  private final DataFolder folder;
  private final NewSortedFile file;
  private final MemorySegment key = MemorySegment.ofArray(new byte[Long.BYTES]);
  private final MemorySegment value = MemorySegment.ofArray(new byte[Long.BYTES]);

  FolderLoad(DataFolder folder, NewSortedFile file) {
    this.folder = folder;
    this.file = file;
  }

  /**
   * Appends an entry whose key is above all before.
   *
   * @throws LogFullException if the disk has no room
   */
  public void append(MemorySegment itsKey, MemorySegment itsValue) {
    try {
      file.writer().append(itsKey, itsValue);
    } catch (IOException e) {
      throw folder.full(e);
    }
  }

  /** As {@link #append(MemorySegment, MemorySegment)}, of words. */
  public void append(long itsKey, long itsValue) {
    EntryWords.setKey(key, 0, itsKey);
    EntryWords.setValue(value, 0, itsValue);
    append(key, value);
  }

  /**
   * Makes the entries those of the folder. They are on the disk when this returns.
   *
   * @throws LogFailedException if that fails; then the log has failed, and the folder has what it
   *     had or the new entries
   */
  public void finish() {
    try {
      CallersWork.run(() -> folder.finish(file.finish()));
    } catch (Throwable e) {
      folder.log().fail(e);
      folder.log().check();
    }
  }

  @Override
  public void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw folder.full(e);
    }
  }
}
