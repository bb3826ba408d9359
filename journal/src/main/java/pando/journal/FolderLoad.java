package pando.journal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A load, which writes all entries of a folder anew. They count once {@link #finish} returns. Until
 * then, and if this is closed before, the folder keeps what it had. After an exception a load can
 * only be closed. Not thread-safe.
 */
public final class FolderLoad implements AutoCloseable {
  private final DataFolder folder;
  private final NewSortedFile file;
  private final MemorySegment key = MemorySegment.ofArray(new byte[Long.BYTES]);
  private final MemorySegment value = MemorySegment.ofArray(new byte[Long.BYTES]);
  private boolean ended;

  /** The file, once it is on the disk. */
  private Manifest.@Nullable Sorted base;

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
   * Has all entries on the disk. They do not count yet. A second call does nothing.
   *
   * @throws LogFullException if the disk has no room
   * @throws LogFailedException if it fails; then the log has failed
   */
  public void end() {
    if (!ended) {
      ended = true;
      run(() -> base = file.finish());
    }
  }

  /**
   * Makes the entries those of the folder. They are on the disk when this returns.
   *
   * @throws LogFullException if the disk has no room; then the folder has what it had
   * @throws LogFailedException if it fails; then the log has failed, and the folder has what it had
   *     or the new entries
   */
  public void finish() {
    finish(its -> its);
  }

  /** As {@link #finish()}, and makes them those of a generation of a cluster at the same time. */
  public void finish(UUID cluster, long generation) {
    finish(its -> its.withGeneration(cluster, generation));
  }

  private void finish(UnaryOperator<Manifest> more) {
    end();
    Manifest.Sorted its = base;
    if (its == null) {
      throw new IllegalStateException("the load has failed before: folder=" + folder);
    }
    run(() -> folder.finish(its, more));
  }

  private void run(CallersWork.FileWork work) {
    try {
      CallersWork.run(work);
    } catch (Throwable e) {
      if (e instanceof IOException cause && !(e instanceof ForceFailedException)) {
        throw folder.full(cause);
      }
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
