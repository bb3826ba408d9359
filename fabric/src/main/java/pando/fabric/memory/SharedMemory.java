package pando.fabric.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory that several processes map: an unnamed memory file, which exists as long as any process
 * has it open or mapped.
 *
 * <p>All of it is committed when it is created, and its size is sealed. Otherwise an access could
 * kill the JVM, when memory runs out or when another process truncates the file.
 */
public final class SharedMemory implements AutoCloseable {
  private static final int SEALS = Linux.F_SEAL_SHRINK | Linux.F_SEAL_GROW | Linux.F_SEAL_SEAL;

  private final NativeMemory memory;
  private final int descriptor;

  private SharedMemory(NativeMemory memory, int descriptor) {
    this.memory = memory;
    this.descriptor = descriptor;
  }

  /**
   * Creates zeroed memory.
   *
   * @param name shown by the system's tools; has no other meaning
   * @param bytes at least 1
   * @throws NativeMemoryException if there is not so much memory
   */
  public static SharedMemory create(String name, long bytes) {
    checkSystem();
    long fileBytes = Mapping.roundUp(bytes);
    if (fileBytes <= SystemMemory.own().hugePageBytes()) {
      try {
        return create(name, bytes, fileBytes, Linux.MFD_HUGETLB | Linux.MFD_HUGE_2MB);
      } catch (NativeMemoryException takenMeanwhile) {
        // Falls back to ordinary pages.
      }
    }
    long available = SystemMemory.own().availableBytes();
    if (fileBytes > available) {
      throw new NativeMemoryException(
          "not enough memory: bytes=" + fileBytes + ", availableBytes=" + available);
    }
    return create(name, bytes, fileBytes, 0);
  }

  /**
   * Maps memory that another process, or this one, created.
   *
   * @param pid process that has it open
   * @param descriptor its descriptor in that process
   * @param bytes size with which it was created
   * @throws NativeMemoryException if it does not exist, has another size or is not sealed
   */
  public static SharedMemory attach(long pid, int descriptor, long bytes) {
    checkSystem();
    String path = "/proc/" + pid + "/fd/" + descriptor;
    int opened = open(path);
    try {
      long fileBytes = Mapping.roundUp(bytes);
      checkSealed(path, opened);
      checkSize(path, opened, fileBytes);
      return map(Mapping.shared(fileBytes, opened), fileBytes, bytes, opened);
    } catch (RuntimeException | Error e) {
      MemoryFile.close(opened);
      throw e;
    }
  }

  /** Returns the descriptor in this process. */
  public int descriptor() {
    return descriptor;
  }

  /** Returns the memory, always as the same segment. */
  public MemorySegment segment() {
    return memory.segment();
  }

  /** Unmaps the memory in this process; other processes keep it. A second call does nothing. */
  @Override
  public synchronized void close() {
    if (memory.segment().scope().isAlive()) {
      memory.close();
      MemoryFile.close(descriptor);
    }
  }

  private static SharedMemory create(String name, long bytes, long fileBytes, int flags) {
    int descriptor = MemoryFile.create(name, fileBytes, flags);
    try {
      long address = Mapping.shared(fileBytes, descriptor);
      try {
        commit(address, fileBytes, descriptor);
        Linux.FCNTL.call("seal", descriptor, Linux.F_ADD_SEALS, SEALS);
      } catch (RuntimeException | Error e) {
        Mapping.unmap(address, fileBytes);
        throw e;
      }
      return map(address, fileBytes, bytes, descriptor);
    } catch (RuntimeException | Error e) {
      MemoryFile.close(descriptor);
      throw e;
    }
  }

  private static SharedMemory map(long address, long fileBytes, long bytes, int descriptor) {
    NativeMemory memory = NativeMemory.ofMapping(address, fileBytes, bytes);
    try {
      return new SharedMemory(memory, descriptor);
    } catch (RuntimeException | Error e) {
      memory.close();
      throw e;
    }
  }

  /**
   * Commits the memory now, by populating the mapping, as only that brings huge pages; an old
   * kernel, which cannot populate a mapping, allocates small pages by another call.
   */
  private static void commit(long address, long bytes, int descriptor) {
    String purpose = "commit bytes=" + bytes;
    long touched = Linux.MADVISE.tryCall(address, bytes, Linux.MADV_POPULATE_WRITE);
    if (touched == -Errno.EINVAL) {
      allocate(bytes, descriptor, purpose);
    } else if (touched < 0) {
      throw Linux.MADVISE.failure(purpose, (int) -touched);
    }
  }

  private static void allocate(long bytes, int descriptor, String purpose) {
    long error;
    do {
      error = Linux.POSIX_FALLOCATE.tryCall(descriptor, 0L, bytes);
    } while (error == Errno.EINTR);
    if (error != 0) {
      throw Linux.POSIX_FALLOCATE.failure(purpose, (int) error);
    }
  }

  private static int open(String path) {
    try (Arena arena = Arena.ofConfined()) {
      int flags = Linux.O_RDWR | Linux.O_CLOEXEC;
      return (int) Linux.OPEN.call("path=" + path, arena.allocateFrom(path).address(), flags, 0);
    }
  }

  private static void checkSealed(String path, int descriptor) {
    long seals = Linux.FCNTL.tryCall(descriptor, Linux.F_GET_SEALS, 0L);
    if (seals < 0 || (seals & SEALS) != SEALS) {
      throw new NativeMemoryException(
          "not sealed against a change of its size: path="
              + path
              + ", seals="
              + (seals < 0 ? "none, " + Errno.name((int) -seals) : Long.toString(seals))
              + ", required="
              + SEALS);
    }
  }

  private static void checkSize(String path, int descriptor, long required) {
    long bytes = Linux.LSEEK.call("path=" + path, descriptor, 0L, Linux.SEEK_END);
    if (bytes != required) {
      throw new NativeMemoryException(
          "shared memory of another size: path="
              + path
              + ", bytes="
              + bytes
              + ", required="
              + required);
    }
  }

  private static void checkSystem() {
    if (!Linux.isAvailable() || !Linux.MEMFD_CREATE.isLinked()) {
      throw new NativeMemoryException(
          "shared memory needs Linux: os=" + System.getProperty("os.name"));
    }
  }
}
