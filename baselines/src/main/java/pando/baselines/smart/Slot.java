package pando.baselines.smart;

import pando.fabric.GlobalAddress;

/**
 * A slot of an inner node, in one word: what lies below one byte.
 *
 * <pre>
 *  63    56 55  54 53     52  50 49   44 43     34 33                                  0
 * +--------+------+------+------+-------+---------+-------------------------------------+
 * | byte   | kind |frozen| type | spare | server  | place, in units of 64 bytes         |  leaf, node
 * +--------+------+------+------+-------+---------+-------------------------------------+
 * | byte   | kind |frozen| drawn at random                                              |  empty
 * +--------+------+------+--------------------------------------------------------------+
 * </pre>
 *
 * <p>A slot that was never used is 0. <b>A slot keeps its byte</b>: an emptied one may be taken by
 * the same byte alone, and no two removals leave the same word in it, so an equal word means that
 * nothing has happened. Once frozen, a slot never changes again: its node is being replaced.
 */
final class Slot {
  /** A slot that was never used. */
  static final long NEVER = 0;

  /** Kind of a slot that was never used. */
  static final int UNUSED = 0;

  /** Kind of a slot with a leaf. */
  static final int LEAF = 1;

  /** Kind of a slot with an inner node. */
  static final int NODE = 2;

  /** Kind of a slot whose child was removed. */
  static final int EMPTY = 3;

  /** Bit of a slot whose node is being replaced. */
  static final long FROZEN = 1L << 53;

  /** Greatest number of memory servers that a slot can name. */
  static final int SERVERS_MAX = 1 << 10;

  /** Greatest size of a memory server's memory, in bytes, that a slot can name. */
  static final long SERVER_BYTES_MAX = 1L << 40;

  private static final int BYTE_SHIFT = 56;
  private static final int KIND_SHIFT = 54;
  private static final int TYPE_SHIFT = 50;
  private static final long TYPE_MASK = 7L << TYPE_SHIFT;
  private static final int SERVER_SHIFT = 34;
  private static final long UNIT_MASK = (1L << SERVER_SHIFT) - 1;
  private static final int UNIT_BITS = 6;
  private static final long BYTE_MASK = 0xFFL << BYTE_SHIFT;
  private static final long RANDOM_MASK = FROZEN - 1;

  private Slot() {}

  /** Returns the slot of a leaf. */
  static long leaf(int firstByte, long address) {
    return of(firstByte, LEAF, 0, address);
  }

  /** Returns the slot of an inner node, with the type that it has at least. */
  static long node(int firstByte, int type, long address) {
    return of(firstByte, NODE, type, address);
  }

  /** Returns the slot of a byte whose child was removed. */
  static long empty(int firstByte, long random) {
    return ((long) firstByte << BYTE_SHIFT) | ((long) EMPTY << KIND_SHIFT) | (random & RANDOM_MASK);
  }

  private static long of(int firstByte, int kind, int type, long address) {
    return ((long) firstByte << BYTE_SHIFT)
        | ((long) kind << KIND_SHIFT)
        | ((long) type << TYPE_SHIFT)
        | ((long) GlobalAddress.server(address) << SERVER_SHIFT)
        | (GlobalAddress.offset(address) >>> UNIT_BITS);
  }

  /** Returns a slot with the same child below another byte, not frozen. */
  static long withByte(long slot, int otherByte) {
    return (slot & ~BYTE_MASK & ~FROZEN) | ((long) otherByte << BYTE_SHIFT);
  }

  /** Returns a slot with the same child, of another type. */
  static long withType(long slot, int type) {
    return (slot & ~TYPE_MASK) | ((long) type << TYPE_SHIFT);
  }

  /** Returns a slot as it was before it was frozen. */
  static long thawed(long slot) {
    return slot & ~FROZEN;
  }

  /** Returns the byte of a slot that was used, 0 to 255. */
  static int byteOf(long slot) {
    return (int) (slot >>> BYTE_SHIFT);
  }

  /** Returns the kind of a slot. */
  static int kind(long slot) {
    return (int) (slot >>> KIND_SHIFT) & 3;
  }

  /** Returns whether a slot has a child. */
  static boolean hasChild(long slot) {
    int kind = kind(slot);
    return kind == LEAF || kind == NODE;
  }

  /** Returns whether a slot is frozen. */
  static boolean isFrozen(long slot) {
    return (slot & FROZEN) != 0;
  }

  /** Returns the type that the node in a slot has at least. */
  static int type(long slot) {
    return (int) (slot >>> TYPE_SHIFT) & 7;
  }

  /** Returns the bytes that the node in a slot has at least. */
  static int nodeBytes(long slot) {
    return NodeLayout.bytes(Math.min(type(slot), NodeLayout.FULL));
  }

  /** Returns the global address of a slot's child. */
  static long address(long slot) {
    int server = (int) (slot >>> SERVER_SHIFT) & (SERVERS_MAX - 1);
    return GlobalAddress.of(server, (slot & UNIT_MASK) << UNIT_BITS);
  }
}
