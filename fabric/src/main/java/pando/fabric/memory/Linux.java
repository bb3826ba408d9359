package pando.fabric.memory;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.util.Locale;

/**
 * The Linux system calls for memory and its sharing, and the constants of the C library. Pointers
 * are passed as numbers.
 */
final class Linux {
  static final long PAGE_BYTES = 4096;

  static final int PROT_NONE = 0;
  static final int PROT_READ_WRITE = 3;
  static final int MAP_SHARED = 0x01;
  static final int MAP_PRIVATE = 0x02;
  static final int MAP_FIXED = 0x10;
  static final int MAP_ANONYMOUS = 0x20;
  static final int MAP_NORESERVE = 0x4000;
  static final int MADV_HUGEPAGE = 14;
  static final int MADV_POPULATE_WRITE = 23;

  static final int MFD_CLOEXEC = 1;
  static final int MFD_ALLOW_SEALING = 2;
  static final int MFD_HUGETLB = 4;
  static final int MFD_HUGE_2MB = 21 << 26;

  static final int O_RDWR = 2;
  static final int O_CREAT = 0x40;
  static final int O_CLOEXEC = 0x80000;
  static final int O_NOFOLLOW = isArm() ? 0x8000 : 0x20000;
  static final int SEEK_END = 2;

  static final int F_OFD_GETLK = 36;
  static final int F_OFD_SETLK = 37;
  static final int F_ADD_SEALS = 1033;
  static final int F_GET_SEALS = 1034;
  static final int F_SEAL_SEAL = 1;
  static final int F_SEAL_SHRINK = 2;
  static final int F_SEAL_GROW = 4;

  static final NativeFunction MMAP =
      function("mmap", true, long.class, long.class, int.class, int.class, int.class, long.class);
  static final NativeFunction MUNMAP = function("munmap", false, long.class, long.class);
  static final NativeFunction MADVISE =
      function("madvise", false, long.class, long.class, int.class);
  static final NativeFunction MEMFD_CREATE = function("memfd_create", false, long.class, int.class);
  static final NativeFunction FTRUNCATE = function("ftruncate", false, int.class, long.class);
  static final NativeFunction POSIX_FALLOCATE =
      function("posix_fallocate", false, int.class, long.class, long.class);
  static final NativeFunction OPEN = variadic("open", long.class, int.class, int.class);
  static final NativeFunction CLOSE = function("close", false, int.class);
  static final NativeFunction LSEEK = function("lseek", true, int.class, long.class, int.class);
  static final NativeFunction FCNTL = variadic("fcntl", int.class, int.class, long.class);
  static final NativeFunction GETEUID = function("geteuid", false);

  private static final boolean AVAILABLE =
      System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("linux")
          && MMAP.isLinked()
          && MUNMAP.isLinked()
          && MADVISE.isLinked();

  private Linux() {}

  /** Returns whether this is Linux and native calls work. */
  static boolean isAvailable() {
    return AVAILABLE;
  }

  private static boolean isArm() {
    return System.getProperty("os.arch", "").equals("aarch64");
  }

  private static NativeFunction function(String name, boolean returnsLong, Class<?>... parameters) {
    return new NativeFunction(name, descriptor(returnsLong, parameters));
  }

  /** Links a function with two fixed parameters and a variadic third. */
  private static NativeFunction variadic(String name, Class<?>... parameters) {
    return new NativeFunction(
        name, descriptor(false, parameters), Linker.Option.firstVariadicArg(2));
  }

  private static FunctionDescriptor descriptor(boolean returnsLong, Class<?>... parameters) {
    return NativeLibrary.descriptor(returnsLong ? long.class : int.class, parameters);
  }
}
