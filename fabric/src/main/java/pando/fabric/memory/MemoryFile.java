package pando.fabric.memory;

import java.lang.foreign.Arena;

/** Memory files without a name, by descriptor. Linux only. */
final class MemoryFile {
  private MemoryFile() {}

  /**
   * Creates a file of zeroes, which can be sealed. It takes no memory until it is accessed.
   *
   * @param name shown by the system's tools; has no other meaning
   * @param bytes its size, whole pages
   * @param flags further flags, such as that for huge pages
   * @return its descriptor
   */
  static int create(String name, long bytes, int flags) {
    int descriptor = open(name, Linux.MFD_CLOEXEC | Linux.MFD_ALLOW_SEALING | flags);
    try {
      Linux.FTRUNCATE.call("bytes=" + bytes, descriptor, bytes);
      return descriptor;
    } catch (RuntimeException | Error e) {
      close(descriptor);
      throw e;
    }
  }

  /** Closes a file. It ends with its last mapping. */
  static void close(int descriptor) {
    Linux.CLOSE.call("descriptor=" + descriptor, descriptor);
  }

  private static int open(String name, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      return (int)
          Linux.MEMFD_CREATE.call("name=" + name, arena.allocateFrom(name).address(), flags);
    }
  }
}
