package pando.baselines.deft;

import pando.fabric.GlobalAddress;

/**
 * The pointers in inner nodes, which have the shape and version of the child they point to (DEFT
 * section 4.4).
 *
 * <pre>
 *  63  62     56 55          50 49          44 43     34 33              0
 * +---+---------+--------------+--------------+---------+-----------------+
 * | 0 | shape   | data version | commit       | memory  | offset / 64     |
 * |   | of the  | of the node  | version      | server  |                 |
 * |   | child   | this is in   | of the child |         |                 |
 * +---+---------+--------------+--------------+---------+-----------------+
 * </pre>
 *
 * <p>Every pointer in an inner node repeats the node's data version. A reader of a part of the node
 * compares it with the commit version in the pointer that led there (on-path decoupled versioning).
 * Versions have {@value #VERSION_BITS} bits and wrap, and a new node in the same place can have the
 * same version. An error that they do not detect is detected at the leaf, whose lines have its
 * fences. A pointer to a leaf has no commit version and no shape.
 *
 * <p>Bit 63 is clear. The first word of a leaf's line has it set, so that no line of an inner node
 * is taken for a leaf's.
 */
final class ChildPointer {
  /** The pointer that leads to no node. */
  static final long NONE = 0;

  /** Number of bits of a version. */
  static final int VERSION_BITS = 6;

  static final int VERSION_MASK = (1 << VERSION_BITS) - 1;

  /** Maximum number of memory servers that a pointer can name. */
  static final int SERVERS_MAX = 1 << 10;

  /** Maximum DRAM size of a memory server that a pointer can address, in bytes. */
  static final long DRAM_BYTES_MAX = 1L << 40;

  private static final int SHAPE_SHIFT = 56;
  private static final int SHAPE_MASK = 0x7F;
  private static final int DATA_SHIFT = 50;
  private static final int COMMIT_SHIFT = 44;
  private static final int SERVER_SHIFT = 34;
  private static final int UNIT_SHIFT = 6;
  private static final long UNITS_MASK = (1L << SERVER_SHIFT) - 1;
  private static final long PLACE_MASK = (1L << COMMIT_SHIFT) - 1;

  private ChildPointer() {}

  /** Returns the pointer to a leaf. */
  static long toLeaf(long address) {
    return ((long) GlobalAddress.server(address) << SERVER_SHIFT)
        | (GlobalAddress.offset(address) >>> UNIT_SHIFT);
  }

  /** Returns the pointer to an inner node. */
  static long toInner(long address, int shape, int commitVersion) {
    return toLeaf(address) | ((long) shape << SHAPE_SHIFT) | ((long) commitVersion << COMMIT_SHIFT);
  }

  /** Returns a pointer with its data version replaced. */
  static long withData(long pointer, int version) {
    return (pointer & ~((long) VERSION_MASK << DATA_SHIFT)) | ((long) version << DATA_SHIFT);
  }

  /** Returns the address of the child, {@code NULL} for an entry that is not in use. */
  static long address(long pointer) {
    long place = pointer & PLACE_MASK;
    return place == 0
        ? GlobalAddress.NULL
        : GlobalAddress.of((int) (place >>> SERVER_SHIFT), (place & UNITS_MASK) << UNIT_SHIFT);
  }

  static boolean isNull(long pointer) {
    return (pointer & PLACE_MASK) == 0;
  }

  static int shape(long pointer) {
    return (int) (pointer >>> SHAPE_SHIFT) & SHAPE_MASK;
  }

  static int data(long pointer) {
    return (int) (pointer >>> DATA_SHIFT) & VERSION_MASK;
  }

  static int commit(long pointer) {
    return (int) (pointer >>> COMMIT_SHIFT) & VERSION_MASK;
  }
}
