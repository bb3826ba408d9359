package pando.fabric.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A lock on a file that is held until it is closed or its process dies in any way.
 *
 * <p>It belongs to the open file, not to the process as the locks of {@code java.nio} do: other
 * code in the same process may open and close the file, and query the lock, without releasing it.
 */
public final class ProcessLock implements AutoCloseable {
  private static final int OWNER_READS_AND_WRITES = 0600;
  private static final short WRITE_LOCK = 1;
  private static final short UNLOCKED = 2;

  /** Bytes of {@code struct flock}: type and start-from (2 each), start, length (8 each), pid. */
  private static final long LOCK_BYTES = 32;

  private final int descriptor;
  private boolean closed;

  private ProcessLock(int descriptor) {
    this.descriptor = descriptor;
  }

  /** Locks a file, and creates it if it does not exist. Returns empty if the lock is held. */
  public static Optional<ProcessLock> tryAcquire(Path file) {
    int descriptor = open(file, Linux.O_CREAT);
    try {
      try (Arena arena = Arena.ofConfined()) {
        long result =
            Linux.FCNTL.tryCall(descriptor, Linux.F_OFD_SETLK, wholeFile(arena).address());
        if (result >= 0) {
          return Optional.of(new ProcessLock(descriptor));
        }
        if (result != -Errno.EAGAIN && result != -Errno.EACCES) {
          throw Linux.FCNTL.failure("lock file=" + file, (int) -result);
        }
      }
    } catch (RuntimeException | Error e) {
      close(descriptor);
      throw e;
    }
    close(descriptor);
    return Optional.empty();
  }

  /** Returns whether a process holds the lock, without taking it. */
  public static boolean isHeld(Path file) {
    if (Files.notExists(file)) {
      return false;
    }
    int descriptor = open(file, 0);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment lock = wholeFile(arena);
      Linux.FCNTL.call("query file=" + file, descriptor, Linux.F_OFD_GETLK, lock.address());
      return lock.get(ValueLayout.JAVA_SHORT, 0) != UNLOCKED;
    } finally {
      close(descriptor);
    }
  }

  /** Unlocks the file. A second call does nothing. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      close(descriptor);
    }
  }

  private static MemorySegment wholeFile(Arena arena) {
    MemorySegment lock = arena.allocate(LOCK_BYTES, Long.BYTES);
    lock.set(ValueLayout.JAVA_SHORT, 0, WRITE_LOCK);
    return lock;
  }

  private static int open(Path file, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      int all = Linux.O_RDWR | Linux.O_CLOEXEC | Linux.O_NOFOLLOW | flags;
      long path = arena.allocateFrom(file.toString()).address();
      return (int) Linux.OPEN.call("file=" + file, path, all, OWNER_READS_AND_WRITES);
    }
  }

  private static void close(int descriptor) {
    Linux.CLOSE.call("descriptor=" + descriptor, descriptor);
  }
}
