package pando.fabric.memory;

import java.util.Map;

/** Error numbers of the Linux system calls for memory and its sharing. */
final class Errno {
  static final int EINTR = 4;
  static final int EAGAIN = 11;
  static final int EACCES = 13;
  static final int EINVAL = 22;

  private static final Map<Integer, String> NAMES =
      Map.ofEntries(
          Map.entry(1, "EPERM (not permitted)"),
          Map.entry(2, "ENOENT (no such file)"),
          Map.entry(EINTR, "EINTR (interrupted)"),
          Map.entry(9, "EBADF (bad descriptor)"),
          Map.entry(EAGAIN, "EAGAIN (try again)"),
          Map.entry(12, "ENOMEM (out of memory)"),
          Map.entry(EACCES, "EACCES (access denied)"),
          Map.entry(14, "EFAULT (bad address)"),
          Map.entry(16, "EBUSY (busy)"),
          Map.entry(17, "EEXIST (exists already)"),
          Map.entry(EINVAL, "EINVAL (invalid argument)"),
          Map.entry(23, "ENFILE (too many open files in the system)"),
          Map.entry(24, "EMFILE (too many open files in this process)"),
          Map.entry(27, "EFBIG (file too big)"),
          Map.entry(28, "ENOSPC (no space left)"),
          Map.entry(38, "ENOSYS (not in this kernel)"),
          Map.entry(40, "ELOOP (a symbolic link)"),
          Map.entry(95, "EOPNOTSUPP (not supported)"));

  private Errno() {}

  /** Returns the name of an error number. */
  static String name(int errno) {
    return NAMES.getOrDefault(errno, "errno " + errno);
  }
}
