package pando.fabric;

/**
 * A 64-bit address of a byte in the memory pool, as DEX section 3 lays it out.
 *
 * <pre>
 *  63        62            48 47                                             0
 * +---------+----------------+------------------------------------------------+
 * |swizzled | memory server  | offset in the server's region                  |
 * +---------+----------------+------------------------------------------------+
 * </pre>
 *
 * <p>The swizzled bit belongs to the compute side: a cached node marks a child pointer that names a
 * frame of the same cache with it. No address with that bit ever reaches the pool. Bit 47 of the
 * offset selects the memory server's on-chip region, so DRAM may be up to 128 TiB. {@link #NULL} is
 * the first byte of memory server 0, which never holds a node.
 */
public final class GlobalAddress {
  /** The address of no node. */
  public static final long NULL = 0;

  /** Bit that is set in a pointer to a local frame instead of a byte of the pool. */
  public static final long SWIZZLED = 1L << 63;

  /** The number of the memory server, and the swizzled bit above it, start at this bit. */
  public static final int SERVER_SHIFT = 48;

  /** Maximum number of memory servers of a pool. */
  public static final int SERVERS_MAX = 1 << 15;

  private static final long OFFSET_MASK = (1L << SERVER_SHIFT) - 1;
  private static final long ON_CHIP = 1L << 47;

  private GlobalAddress() {}

  /**
   * Returns the address of a byte in a memory server's DRAM.
   *
   * @param server memory server, 0 to {@link #SERVERS_MAX} - 1
   * @param offset bytes from the start of its DRAM, 0 to 2^47 - 1
   */
  public static long of(int server, long offset) {
    if (server < 0 || server >= SERVERS_MAX || offset < 0 || offset >= ON_CHIP) {
      throw new IllegalArgumentException(
          "no such global address: server=" + server + ", offset=" + offset);
    }
    return ((long) server << SERVER_SHIFT) | offset;
  }

  /**
   * Returns the address of a byte in a memory server's on-chip region.
   *
   * @param server memory server, 0 to {@link #SERVERS_MAX} - 1
   * @param offset bytes from the start of the on-chip region
   */
  public static long onChip(int server, long offset) {
    return of(server, offset) | ON_CHIP;
  }

  /** Returns the memory server of an address. */
  public static int server(long address) {
    return (int) (address >>> SERVER_SHIFT) & (SERVERS_MAX - 1);
  }

  /** Returns the offset of an address within its region: DRAM, or on-chip memory. */
  public static long offset(long address) {
    return address & OFFSET_MASK & ~ON_CHIP;
  }

  /** Returns whether an address lies in on-chip memory. */
  public static boolean isOnChip(long address) {
    return (address & ON_CHIP) != 0;
  }

  /** Returns whether a pointer names a local frame. */
  public static boolean isSwizzled(long pointer) {
    return pointer < 0;
  }

  /** Returns the swizzled pointer to a local frame. */
  public static long swizzled(long frame) {
    return frame | SWIZZLED;
  }

  /** Returns the local frame of a swizzled pointer. */
  public static long frame(long pointer) {
    return pointer & ~SWIZZLED;
  }

  /** Returns a readable form, such as {@code 3:0x1f400} or {@code 0:chip:0x40}. */
  public static String toString(long address) {
    String region = isOnChip(address) ? ":chip:0x" : ":0x";
    return (isSwizzled(address) ? "swizzled:" : "")
        + server(address)
        + region
        + Long.toHexString(offset(address));
  }
}
