package pando.fabric.layout;

import pando.fabric.GlobalAddress;
import pando.fabric.InvalidAddressException;

/**
 * The bytes of a memory server that verbs reach, by position: its DRAM, and behind that its on-chip
 * region.
 */
public final class Regions {
  /**
   * Mask of an address's offset. It includes the bit that selects on-chip memory, so those offsets
   * are above all of DRAM.
   */
  private static final long OFFSET_MASK = (1L << GlobalAddress.SERVER_SHIFT) - 1;

  private static final long OUTSIDE = -1;

  private Regions() {}

  /**
   * Returns the memory server of an address. That of a swizzled one is a number that no memory
   * server has.
   */
  public static int server(long remote) {
    return (int) (remote >>> GlobalAddress.SERVER_SHIFT);
  }

  /** Returns the exception for an address of a memory server that does not exist. */
  public static InvalidAddressException noSuchServer(long remote, int memoryServers) {
    return new InvalidAddressException(
        "no such memory server: address="
            + GlobalAddress.toString(remote)
            + ", memoryServers="
            + memoryServers);
  }

  /** Checks that there is a memory server of a number. */
  public static void checkServer(int server, int memoryServers) {
    if (server < 0 || server >= memoryServers) {
      throw new IllegalArgumentException(
          "no such memory server: server=" + server + ", memoryServers=" + memoryServers);
    }
  }

  /** Returns whether all bytes are in one region, whichever memory server the address names. */
  public static boolean contains(long dramBytes, long remote, int bytes) {
    return find(dramBytes, remote, bytes) != OUTSIDE;
  }

  /**
   * Returns the position of bytes that verbs may access.
   *
   * @throws InvalidAddressException if not all are in one region
   */
  public static long position(long dramBytes, long remote, int bytes) {
    long position = find(dramBytes, remote, bytes);
    if (position == OUTSIDE) {
      throw outside(dramBytes, remote, bytes);
    }
    return position;
  }

  /**
   * Checks that verbs may access bytes.
   *
   * @throws InvalidAddressException if not all are in one region
   */
  public static void check(long dramBytes, long remote, int bytes) {
    if (!contains(dramBytes, remote, bytes)) {
      throw outside(dramBytes, remote, bytes);
    }
  }

  /**
   * Checks the alignment of an atomic.
   *
   * @param bytes width of the atomic
   */
  public static void checkAligned(long remote, int bytes) {
    if ((remote & (bytes - 1)) != 0) {
      throw new IllegalArgumentException(
          "misaligned atomic: address=" + GlobalAddress.toString(remote) + ", bytes=" + bytes);
    }
  }

  private static long find(long dramBytes, long remote, int bytes) {
    long offset = remote & OFFSET_MASK;
    if (bytes >= 0 && offset <= dramBytes - bytes) {
      return offset;
    }
    return findOnChip(dramBytes, remote, bytes);
  }

  private static long findOnChip(long dramBytes, long remote, int bytes) {
    long offset = GlobalAddress.offset(remote);
    boolean inside =
        GlobalAddress.isOnChip(remote)
            && bytes >= 0
            && offset <= (long) ServerLayout.ON_CHIP_BYTES - bytes;
    return inside ? dramBytes + offset : OUTSIDE;
  }

  private static InvalidAddressException outside(long dramBytes, long remote, int bytes) {
    return new InvalidAddressException(
        "outside the memory server: address="
            + GlobalAddress.toString(remote)
            + ", bytes="
            + bytes
            + ", dramBytes="
            + dramBytes
            + ", onChipBytes="
            + ServerLayout.ON_CHIP_BYTES);
  }
}
