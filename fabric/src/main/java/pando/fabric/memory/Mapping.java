package pando.fabric.memory;

/** Mappings of whole pages. Large ones are aligned to huge pages, and the largest ask for them. */
final class Mapping {
  /**
   * Smaller mappings, such as the buffers of sessions, do not ask for huge pages: each byte that is
   * used would commit 2 MiB, and translations of most of their small pages stay in the processor.
   */
  private static final long HUGE_PAGES_MIN = 8 * NativeMemory.HUGE_PAGE_BYTES;

  private Mapping() {}

  /** Returns the size of a mapping for so many bytes: whole pages, or whole huge pages. */
  static long roundUp(long bytes) {
    long unit =
        bytes < NativeMemory.HUGE_PAGE_BYTES ? Linux.PAGE_BYTES : NativeMemory.HUGE_PAGE_BYTES;
    if (bytes > Long.MAX_VALUE - 2 * unit) {
      throw new NativeMemoryException("no address space has so many bytes: bytes=" + bytes);
    }
    return (bytes + unit - 1) / unit * unit;
  }

  /** Maps zeroed memory of this process; returns its address. */
  static long anonymous(long bytes) {
    return map(bytes, Linux.MAP_PRIVATE | Linux.MAP_ANONYMOUS | Linux.MAP_NORESERVE, -1);
  }

  /** Maps a file from its start; returns the address. */
  static long shared(long bytes, int descriptor) {
    return map(bytes, Linux.MAP_SHARED, descriptor);
  }

  /**
   * Maps a file from its start, copy-on-write: changes stay in this mapping; returns the address.
   */
  static long copyOnWrite(long bytes, int descriptor) {
    return map(bytes, Linux.MAP_PRIVATE | Linux.MAP_NORESERVE, descriptor);
  }

  /** Ends a mapping. */
  static void unmap(long address, long bytes) {
    Linux.MUNMAP.call(
        "address=0x" + Long.toHexString(address) + ", bytes=" + bytes, address, bytes);
  }

  private static long map(long bytes, int flags, int descriptor) {
    String purpose = "bytes=" + bytes + ", descriptor=" + descriptor;
    long address = reserve(bytes, purpose);
    long mapped =
        Linux.MMAP.tryCall(
            address, bytes, Linux.PROT_READ_WRITE, flags | Linux.MAP_FIXED, descriptor, 0L);
    if (mapped != address) {
      unmap(address, bytes);
      throw refused(purpose, mapped);
    }
    if (bytes >= HUGE_PAGES_MIN) {
      try {
        askForHugePages(address, bytes, true);
      } catch (RuntimeException | Error e) {
        unmap(address, bytes);
        throw e;
      }
    }
    return address;
  }

  private static NativeMemoryException refused(String purpose, long returned) {
    return Linux.MMAP.failure(
        purpose + "; take less memory, or raise what limits it: ulimit -v, vm.overcommit_memory",
        (int) -returned);
  }

  /**
   * Asks for huge pages, or for small ones, where memory is not committed yet; the system may bring
   * small ones together later. A refusal, by a kernel without huge pages, is ignored.
   */
  static void askForHugePages(long address, long bytes, boolean huge) {
    advise(address, bytes, huge ? Linux.MADV_HUGEPAGE : Linux.MADV_NOHUGEPAGE);
  }

  /** Gives pages of a private mapping back to the system; they are zero when used again. */
  static void discard(long address, long bytes) {
    advise(address, bytes, Linux.MADV_DONTNEED);
  }

  private static void advise(long address, long bytes, int advice) {
    long advised = Linux.MADVISE.tryCall(address, bytes, advice);
    assert advised <= 0;
  }

  /** Reserves address space, aligned to a huge page if the mapping is large enough for one. */
  private static long reserve(long bytes, String purpose) {
    long slack = bytes < NativeMemory.HUGE_PAGE_BYTES ? 0 : NativeMemory.HUGE_PAGE_BYTES;
    int flags = Linux.MAP_PRIVATE | Linux.MAP_ANONYMOUS | Linux.MAP_NORESERVE;
    long start = Linux.MMAP.tryCall(0L, bytes + slack, Linux.PROT_NONE, flags, -1, 0L);
    if (start < 0) {
      throw refused(purpose, start);
    }
    if (slack == 0) {
      return start;
    }
    long aligned = (start + slack - 1) / slack * slack;
    if (aligned > start) {
      unmap(start, aligned - start);
    }
    if (start + slack > aligned) {
      unmap(aligned + bytes, start + slack - aligned);
    }
    return aligned;
  }
}
