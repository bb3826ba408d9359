package pando.fabric.memory;

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
  static final int MADV_DONTNEED = 4;
  static final int MADV_HUGEPAGE = 14;
  static final int MADV_NOHUGEPAGE = 15;
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

  static final NativeFunction MMAP = NativeFunction.ofSystem("mmap", long.class);
  static final NativeFunction MUNMAP = NativeFunction.ofSystem("munmap", int.class);
  static final NativeFunction MADVISE = NativeFunction.ofSystem("madvise", int.class);
  static final NativeFunction MEMFD_CREATE = NativeFunction.ofSystem("memfd_create", int.class);
  static final NativeFunction FTRUNCATE = NativeFunction.ofSystem("ftruncate", int.class);
  static final NativeFunction POSIX_FALLOCATE =
      NativeFunction.ofSystem("posix_fallocate", int.class);
  static final NativeFunction OPEN = NativeFunction.ofSystemVariadic("open", int.class);
  static final NativeFunction CLOSE = NativeFunction.ofSystem("close", int.class);
  static final NativeFunction LSEEK = NativeFunction.ofSystem("lseek", long.class);
  static final NativeFunction FCNTL = NativeFunction.ofSystemVariadic("fcntl", int.class);
  static final NativeFunction GETEUID = NativeFunction.ofSystem("geteuid", int.class);

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
}
