package pando.journal;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import pando.fabric.memory.Closing;

/**
 * A data folder that is read as it is. No file is opened for writing, but nobody else may open the
 * folder meanwhile. Not thread-safe.
 */
public final class FolderReader implements AutoCloseable {
  private final Disk disk;
  private final Runnable unlock;
  private final Manifest manifest;
  private final LogTail tail;

  private FolderReader(Disk disk, Runnable unlock, Manifest manifest, LogTail tail) {
    this.disk = disk;
    this.unlock = unlock;
    this.manifest = manifest;
    this.tail = tail;
  }

  /**
   * Opens a folder.
   *
   * @throws IllegalArgumentException if it is no data folder
   * @throws DamagedFolderException if its manifest or its log is damaged, or a newer Pando wrote it
   * @throws DataFolderException if it is in use, or the system does not let this process use it
   */
  public static FolderReader open(Path folder) {
    Disk disk = FolderAccess.toRead(folder);
    try {
      FolderLock lock = FolderLock.acquire(folder.toRealPath());
      try {
        return open(disk, lock::close);
      } catch (Throwable e) {
        Closing.after(e, lock::close);
        throw e;
      }
    } catch (IOException e) {
      throw FolderAccess.failed(folder, e);
    }
  }

  /** As {@link #open(Path)}; {@code unlock} is run at its end. */
  static FolderReader open(Disk disk, Runnable unlock) throws IOException {
    Manifest manifest = FolderAccess.manifest(disk);
    return new FolderReader(disk, unlock, manifest, LogTail.view(disk, manifest));
  }

  /** Returns the kind of its entries. */
  public String kind() {
    return manifest.kind();
  }

  /** Returns the names of the codecs of keys and values; empty if there are none. */
  public String codecs() {
    return manifest.codecs();
  }

  LogTail tail() {
    return tail;
  }

  /**
   * Returns all entries, without removals. To be closed before this one.
   *
   * @throws DamagedFolderException if a file is damaged; also from {@link EntryStream#next}
   */
  public EntryStream entries() {
    List<EntryStream> later = tail.entries(manifest.logFrom());
    try {
      return new SortedFiles(disk, manifest).read(manifest.sorted(), later, false);
    } catch (IOException e) {
      throw FolderAccess.unreadable(disk, e);
    }
  }

  /** Visits all records of the log that are not in sorted files yet. */
  public void records(RecordVisitor visitor) {
    for (LogTail.Part part : tail.parts()) {
      RecordWalk walk = new RecordWalk(part.segment());
      while (walk.end() < part.end() && walk.next()) {
        walk.visit(visitor);
      }
    }
  }

  /** Returns where the folder is. */
  @Override
  public String toString() {
    return disk.toString();
  }

  @Override
  public void close() {
    Closing.all(tail::close, unlock);
  }
}
