package pando.journal;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/**
 * Merges the sorted files of a folder, by a thread of its own.
 *
 * <p>Once the files behind the base have half as many entries as the base, all become a new base.
 * Before that, and where the disk has no room for that, the newest eight become one if they are of
 * about the same size. So a byte that was logged is written once when its segment is sorted, once
 * for each step in size by a factor of eight, and about three times into a base.
 */
final class Merger implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("pando.journal");

  /** So many files of a size become one. */
  private static final int FILES = 8;

  private static final long RETRY_NANOS = 10_000_000_000L;

  private final DataFolder folder;
  private final SortedFiles files;
  private final Thread thread =
      Thread.ofPlatform().daemon().name("pando-log-merger").unstarted(this::run);
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean looks = true;

  /** Whether all files are to become one, however many and large they are. */
  private boolean mergesAll;

  /** Whether the last merge has failed: there may be room for a smaller one. */
  private boolean lacksRoom;

  private volatile boolean closing;

  Merger(DataFolder folder, SortedFiles files) {
    this.folder = folder;
    this.files = files;
  }

  void start() {
    thread.start();
  }

  /** Has the thread look whether there is something to merge. */
  void look() {
    lock.lock();
    try {
      looks = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Has all sorted files of now become one. */
  void mergeAll() {
    lock.lock();
    try {
      mergesAll = true;
      looks = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    while (awaitChange()) {
      try {
        List<Manifest.Sorted> some = next();
        while (some != null && !closing) {
          merge(some);
          lacksRoom &= some.getFirst().from() != 0;
          some = next();
        }
      } catch (ForceFailedException e) {
        folder.log().fail(e);
        return;
      } catch (IOException e) {
        LOG.log(System.Logger.Level.WARNING, "sorted files are not merged: folder=" + folder, e);
        lacksRoom = true;
        pause();
      } catch (Throwable e) {
        LOG.log(System.Logger.Level.ERROR, "sorted files cannot be merged: folder=" + folder, e);
        return;
      }
    }
  }

  private boolean awaitChange() {
    lock.lock();
    try {
      while (!looks && !closing) {
        changed.awaitUninterruptibly();
      }
      looks = false;
      return !closing;
    } finally {
      lock.unlock();
    }
  }

  /** Waits after a failure, and looks again then. */
  private void pause() {
    lock.lock();
    try {
      long left = RETRY_NANOS;
      while (left > 0 && !closing) {
        left = changed.awaitNanos(left);
      }
      looks = true;
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts the merger of sorted files", e);
    } finally {
      lock.unlock();
    }
  }

  private @Nullable List<Manifest.Sorted> next() {
    List<Manifest.Sorted> all = folder.manifest().sorted();
    lock.lock();
    try {
      boolean takesAll = mergesAll && all.size() > 1;
      mergesAll = false;
      return takesAll ? all : next(all, lacksRoom);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the files to merge next; {@code null} if there are none.
   *
   * @param lacksRoom whether the base is to be left as it is, as long as others can be merged
   */
  static @Nullable List<Manifest.Sorted> next(List<Manifest.Sorted> all, boolean lacksRoom) {
    List<Manifest.Sorted> newest = newest(all);
    return isBaseDue(all) && !(lacksRoom && newest != null) ? all : newest;
  }

  /** Returns whether those behind the base have half as many entries as it. */
  private static boolean isBaseDue(List<Manifest.Sorted> all) {
    if (all.size() < 2) {
      return false;
    }
    long base = all.getFirst().from() == 0 ? all.getFirst().entries() : 0;
    long behind = -base;
    for (Manifest.Sorted file : all) {
      behind += file.entries();
    }
    return behind >= base / 2;
  }

  /** Returns the newest files that are about equally large; {@code null} if they are few. */
  static @Nullable List<Manifest.Sorted> newest(List<Manifest.Sorted> all) {
    for (int first = all.size() - FILES; first > 0; first--) {
      List<Manifest.Sorted> newest = all.subList(first, all.size());
      long least = newest.stream().mapToLong(Manifest.Sorted::entries).min().orElseThrow();
      if (newest.getFirst().entries() / FILES <= least) {
        return newest;
      }
    }
    return null;
  }

  private void merge(List<Manifest.Sorted> some) throws IOException {
    long from = some.getFirst().from();
    long to = some.getLast().to();
    EntryStream entries;
    try {
      entries = files.read(some, List.of(), from != 0);
    } catch (DamagedFolderException | NoSuchFileException e) {
      if (folder.manifest().sorted().containsAll(some)) {
        throw e;
      }
      return; // A load has removed them meanwhile.
    }
    Manifest.Sorted made = files.write(from, to, entries, () -> closing);
    if (made == null) {
      return;
    }
    boolean isNamed = folder.replace(some, made);
    for (Manifest.Sorted file : isNamed ? some : List.of(made)) {
      files.remove(file);
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closing = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    Closing.join(thread);
  }
}
