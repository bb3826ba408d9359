package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.memory.Words;

/**
 * The bytes of an inner node: 16, and 8 for each of the slots that its type has.
 *
 * <pre>
 *   0  id        a number that no other node has had: tells copies of nodes at one place apart
 *   8  header    type 3 | life 2 | depth 3 | path 56
 *  16  slots     in the order of their arrival
 * </pre>
 *
 * <p>The path is that of all keys below the node: its first bytes, so many as the depth; the others
 * are 0. So a node says by itself what it is for, by whatever way it was reached. Only the type and
 * the life of a header change.
 *
 * <p><b>Life of a node.</b> It is written unborn. Once a slot leads to it, it is made live. Before
 * it is replaced it is sealed, and all its slots are frozen: then it does not change again. It is
 * dead when no slot leads to it any more.
 */
final class NodeLayout {
  static final int ID = 0;
  static final int HEADER = 8;
  static final int SLOTS = 16;

  /** Written, and maybe no slot leads to it yet. */
  static final int UNBORN = 0;

  /** A slot leads to it. */
  static final int LIVE = 1;

  /** Its slots are being frozen, or are frozen. */
  static final int SEALED = 2;

  /** No slot leads to it. */
  static final int DEAD = 3;

  /** Slots by type. */
  private static final int[] CAPACITIES = {6, 14, 22, 32, 64, 128, 256};

  /** The type with a slot for every byte. */
  static final int FULL = CAPACITIES.length - 1;

  /** Bytes of a node of the type with the most slots. */
  static final int BYTES_MAX = SLOTS + 256 * Long.BYTES;

  private static final int TYPE_SHIFT = 61;
  private static final int LIFE_SHIFT = 59;
  private static final long LIFE_MASK = 3L << LIFE_SHIFT;
  private static final int DEPTH_SHIFT = 56;

  private NodeLayout() {}

  /** Returns the number of slots of a type, 0 for no type. */
  static int capacity(int type) {
    return type < CAPACITIES.length ? CAPACITIES[type] : 0;
  }

  /** Returns the bytes of a node of a type. */
  static int bytes(int type) {
    return SLOTS + capacity(type) * Long.BYTES;
  }

  /** Returns the least type that has so many slots, 0 to 256. */
  static int typeFor(int slots) {
    int type = 0;
    while (CAPACITIES[type] < slots) {
      type++;
    }
    return type;
  }

  /** Returns the offset of a slot in its node. */
  static long offset(int slot) {
    return SLOTS + (long) slot * Long.BYTES;
  }

  /** Returns a header. */
  static long header(int type, int life, int depth, long prefix) {
    return ((long) type << TYPE_SHIFT)
        | ((long) life << LIFE_SHIFT)
        | ((long) depth << DEPTH_SHIFT)
        | (prefix >>> Byte.SIZE);
  }

  static int type(long header) {
    return (int) (header >>> TYPE_SHIFT);
  }

  static int life(long header) {
    return (int) (header >>> LIFE_SHIFT) & 3;
  }

  static int depth(long header) {
    return (int) (header >>> DEPTH_SHIFT) & 7;
  }

  static long prefix(long header) {
    return header << Byte.SIZE;
  }

  /** Returns a header with another life. */
  static long withLife(long header, int life) {
    return (header & ~LIFE_MASK) | ((long) life << LIFE_SHIFT);
  }

  /** Returns a header with another type. */
  static long withType(long header, int type) {
    return (header << 3 >>> 3) | ((long) type << TYPE_SHIFT);
  }

  /** Returns whether a header can be one: its type exists, and its path has 0 behind its depth. */
  static boolean isLegal(long header) {
    long prefix = prefix(header);
    return type(header) <= FULL && KeyPath.prefix(prefix, depth(header)) == prefix;
  }

  /**
   * Returns whether a header can be that of a node below a slot: it is legal, and its path begins
   * with those bytes that the slot's node and the slot's byte say. So depths grow on each way down,
   * and even one through damaged nodes has an end.
   *
   * @param prefix the bytes that all paths below the slot begin with
   * @param known number of these bytes
   */
  static boolean isBelow(long header, long prefix, int known) {
    return isLegal(header)
        && depth(header) >= known
        && KeyPath.startsWith(prefix(header), prefix, known);
  }

  static long id(MemorySegment memory, long at) {
    return Words.get(memory, at + ID);
  }

  static long header(MemorySegment memory, long at) {
    return Words.get(memory, at + HEADER);
  }

  /** Returns how many slots a node has, used or not. */
  static int slots(MemorySegment memory, long at) {
    return capacity(type(header(memory, at)));
  }

  static long slot(MemorySegment memory, long at, int slot) {
    return Words.get(memory, at + offset(slot));
  }

  static void setSlot(MemorySegment memory, long at, int slot, long value) {
    Words.set(memory, at + offset(slot), value);
  }

  /** Writes the beginning of a node without children into local memory. */
  static void begin(MemorySegment memory, long at, long id, long header) {
    Words.set(memory, at + ID, id);
    Words.set(memory, at + HEADER, header);
  }

  /** Returns the slot of a byte among the first so many, -1 if there is none. */
  static int find(MemorySegment memory, long at, int capacity, int wanted) {
    for (int i = 0; i < capacity; i++) {
      long slot = slot(memory, at, i);
      if (Slot.byteOf(slot) == wanted && Slot.kind(slot) != Slot.UNUSED) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the first slot that was never used among the first so many, -1 if there is none. */
  static int firstUnused(MemorySegment memory, long at, int capacity) {
    for (int i = 0; i < capacity; i++) {
      if (slot(memory, at, i) == Slot.NEVER) {
        return i;
      }
    }
    return -1;
  }

  /** Returns how many of the first so many slots have a child. */
  static int children(MemorySegment memory, long at, int capacity) {
    int count = 0;
    for (int i = 0; i < capacity; i++) {
      count += Slot.hasChild(slot(memory, at, i)) ? 1 : 0;
    }
    return count;
  }

  /** Returns whether the node that was READ is being replaced. */
  static boolean isFrozen(MemorySegment memory, long at) {
    long header = header(memory, at);
    if (life(header) == SEALED) {
      return true;
    }
    long slots = 0;
    for (int i = 0; i < capacity(type(header)); i++) {
      slots |= slot(memory, at, i);
    }
    return Slot.isFrozen(slots);
  }
}
