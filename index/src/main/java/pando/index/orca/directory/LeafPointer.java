package pando.index.orca.directory;

import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.index.orca.leaf.LeafLayout;
import pando.index.pool.NodePlaces;

/**
 * The pointer to a leaf or a page in a {@link DirectoryPage}.
 *
 * <pre>
 *  63        59 58            44 43                                   2 1   0
 * +------------+----------------+--------------------------------------+-----+
 * | segments   | memory server  | offset / 64                          | 0   |
 * +------------+----------------+--------------------------------------+-----+
 * </pre>
 *
 * <p>A leaf has 2 to 31 segments; a page has 0. So a pointer says how many bytes to READ.
 */
public final class LeafPointer {
  private static final int SEGMENTS_SHIFT = 59;
  private static final int SERVER_SHIFT = 44;
  private static final int SERVER_MASK = GlobalAddress.SERVERS_MAX - 1;
  private static final int OFFSET_SHIFT = 2;
  private static final int ALIGNMENT_SHIFT = 6;
  private static final long ALIGNMENT_MASK = (1L << ALIGNMENT_SHIFT) - 1;
  private static final long OFFSET_MASK = (1L << (SERVER_SHIFT - OFFSET_SHIFT)) - 1;
  private static final long ZERO_MASK = (1L << OFFSET_SHIFT) - 1;

  private LeafPointer() {}

  /**
   * Returns a pointer.
   *
   * @param address global address of a leaf or page, in DRAM and a multiple of 64
   * @param segments number of segments of a leaf, 2 to 31; 0 for a page
   */
  public static long of(long address, int segments) {
    if (GlobalAddress.isSwizzled(address)
        || GlobalAddress.isOnChip(address)
        || (address & ALIGNMENT_MASK) != 0
        || !(segments == 0 || isLeaf(segments))) {
      throw new IllegalArgumentException(
          "no such pointer: address=" + GlobalAddress.toString(address) + ", segments=" + segments);
    }
    return (long) segments << SEGMENTS_SHIFT
        | (long) GlobalAddress.server(address) << SERVER_SHIFT
        | GlobalAddress.offset(address) >>> ALIGNMENT_SHIFT << OFFSET_SHIFT;
  }

  /** Returns the global address that a pointer names. */
  public static long address(long pointer) {
    long server = (pointer >>> SERVER_SHIFT) & SERVER_MASK;
    long offset = ((pointer >>> OFFSET_SHIFT) & OFFSET_MASK) << ALIGNMENT_SHIFT;
    return server << GlobalAddress.SERVER_SHIFT | offset;
  }

  /** Returns the number of segments of the leaf that a pointer names; 0 for a page. */
  public static int segments(long pointer) {
    return (int) (pointer >>> SEGMENTS_SHIFT);
  }

  /**
   * Returns what is wrong with a pointer that was READ from a page, or null if it may be followed:
   * what it names has the right kind and lies in the pool.
   *
   * @param pointer any word
   * @param level level of the page that has it: pointers of level 0 name leaves, others pages
   * @param places the pool's places
   */
  public static @Nullable String problem(long pointer, int level, NodePlaces places) {
    int segments = segments(pointer);
    boolean leaf = level == 0;
    int bytes = leaf ? LeafLayout.bytes(segments) : DirectoryPage.BYTES;
    if ((leaf ? isLeaf(segments) : segments == 0)
        && (pointer & ZERO_MASK) == 0
        && places.fits(address(pointer), bytes)) {
      return null;
    }
    return "no such pointer: pointer=0x"
        + Long.toHexString(pointer)
        + ", address="
        + GlobalAddress.toString(address(pointer))
        + ", segments="
        + segments
        + ", level="
        + level;
  }

  private static boolean isLeaf(int segments) {
    return segments >= LeafLayout.SEGMENTS_MIN && segments <= LeafLayout.SEGMENTS_MAX;
  }
}
