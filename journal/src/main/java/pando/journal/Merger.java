package pando.journal;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/**
 * Merges the sorted files of a folder, by a thread of its own.
 *
 * <p>Once the files behind the base have half as many entries as the base, all become a new base.
 * Before that, and where that fails, the newest eight become one if they are of about the same
 * size. So a byte that was logged is written once when its segment is sorted, once for each step in
 * size by a factor of eight, and about three times into a base.
 *
 * <p>A merge fails if the disk has no room for it, which is asked before it begins, or if a file is
 * damaged. It is tried again after 10 seconds, and after twice as long each time, up to 11 minutes.
 */
final class Merger implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("pando.journal");

  /** So many files of a size become one. */
  private static final int FILES = 8;

  private static final long RETRY_NANOS = 10_000_000_000L;
  private static final int DOUBLINGS_MAX = 6;

  /** In place of a time: nothing is tried again by itself. */
  private static final long NEVER = 0;

  private final DataFolder folder;
  private final SortedFiles files;

  /** Bytes of the disk that a merge leaves to the log. */
  private final long spareBytes;

  private final Thread thread =
      Thread.ofPlatform().daemon().name("pando-log-merger").unstarted(this::run);
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean looks = true;

  /** Whether all files are to become one, however many and large they are. */
  private boolean mergesAll;

  /** What could not be merged; {@code null} once it is, or is not there any more. */
  private @Nullable Failure failure;

  /** When that is tried again; {@link #NEVER} where it may be at once. */
  private long retryAt = NEVER;

  private long failures;
  private volatile boolean closing;

  /**
   * A merge that has failed.
   *
   * @param times in a row
   */
  private record Failure(List<Manifest.Sorted> files, Throwable cause, int times) {}

  Merger(DataFolder folder, SortedFiles files, long spareBytes) {
    this.folder = folder;
    this.files = files;
    this.spareBytes = spareBytes;
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
      look();
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many merges have failed. */
  long failures() {
    lock.lock();
    try {
      return failures;
    } finally {
      lock.unlock();
    }
  }

  /** Returns why files are never merged, unless somebody mends them; empty if all is well. */
  Optional<String> hindrance() {
    lock.lock();
    try {
      return Optional.ofNullable(failure)
          .filter(its -> !(its.cause() instanceof IOException) && isThere(its))
          .map(its ->
              "sorted files cannot be merged: folder=%s, cause=%s"
                  .formatted(folder, its.cause().getMessage()));
    } finally {
      lock.unlock();
    }
  }

  private boolean isThere(Failure its) {
    return folder.manifest().sorted().contains(its.files().getFirst());
  }

  private void run() {
    boolean goesOn = true;
    while (goesOn && awaitChange()) {
      List<Manifest.Sorted> some = next();
      goesOn = some == null || mergeOrFail(some);
    }
  }

  /** Merges some files; returns {@code false} where the log has failed. */
  private boolean mergeOrFail(List<Manifest.Sorted> some) {
    try {
      merge(some);
      succeed(some);
      return true;
    } catch (ForceFailedException e) {
      folder.log().fail(e);
      return false;
    } catch (Throwable e) {
      fail(some, e);
      return true;
    }
  }

  private void succeed(List<Manifest.Sorted> some) {
    lock.lock();
    try {
      looks = true;
      Failure before = failure;
      if (before != null && (some.contains(before.files().getFirst()) || !isThere(before))) {
        failure = null;
        retryAt = NEVER;
      }
    } finally {
      lock.unlock();
    }
  }

  private void fail(List<Manifest.Sorted> some, Throwable cause) {
    LOG.log(
        System.Logger.Level.WARNING,
        "sorted files are not merged: folder=%s, files=%s".formatted(folder, some.size()),
        cause);
    lock.lock();
    try {
      looks = true;
      failures++;
      failure = new Failure(List.copyOf(some), cause, failure == null ? 1 : failure.times() + 1);
      retryAt = (System.nanoTime() + pauseNanos(failure.times())) | 1;
    } finally {
      lock.unlock();
    }
  }

  /** Returns how long to wait after so many failures in a row. */
  static long pauseNanos(int times) {
    return RETRY_NANOS << Math.min(times - 1, DOUBLINGS_MAX);
  }

  /** Waits until there may be something to do; returns {@code false} at the end. */
  private boolean awaitChange() {
    lock.lock();
    try {
      while (!looks && !closing) {
        if (retryAt == NEVER) {
          changed.awaitUninterruptibly();
        } else if (changed.awaitNanos(retryAt - System.nanoTime()) <= 0) {
          retryAt = NEVER;
          looks = true;
        }
      }
      looks = false;
      return !closing;
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
      if (takesAll) {
        return all;
      }
      Failure before = failure;
      if (before == null || retryAt == NEVER) {
        return next(all, before != null);
      }
      List<Manifest.Sorted> newest = newest(all);
      return before.files().equals(newest) ? null : newest;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the files to merge next; {@code null} if there are none.
   *
   * @param baseFails whether the base is to be left as it is, as long as others can be merged
   */
  static @Nullable List<Manifest.Sorted> next(List<Manifest.Sorted> all, boolean baseFails) {
    List<Manifest.Sorted> newest = newest(all);
    return isBaseDue(all) && !(baseFails && newest != null) ? all : newest;
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
      files.checkRoom(some, spareBytes);
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
    List<Manifest.Sorted> unused = List.of(made);
    try {
      unused = folder.replace(some, made) ? some : unused;
    } finally {
      unused.forEach(files::remove);
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
