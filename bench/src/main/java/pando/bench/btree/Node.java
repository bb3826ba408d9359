package pando.bench.btree;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pando.fabric.memory.Words;

/**
 * The layout of a node: 1 KB.
 *
 * <pre>
 *  byte     0  version    odd while a writer holds the node, 2 more after each
 *           8  count      entries of a leaf, keys of an inner node
 *          10  level      0 for a leaf
 *          12  next       leaf: number of the leaf to the right, 0 for none
 *
 *  leaf    16  keys       63 ascending
 *         520  values     63, in the order of the keys
 *
 *  inner   16  keys       83 ascending; keys at or above key i are below child i + 1
 *         680  children   84 node numbers
 *        1016  unused
 * </pre>
 */
final class Node {
  static final int BYTES = 1024;

  private static final int LINE_BYTES = 64;

  static final int LEAF_CAPACITY = 63;
  static final int INNER_CAPACITY = 83;

  static final int VERSION_OFFSET = 0;
  static final int KEYS_OFFSET = 16;
  static final int VALUES_OFFSET = KEYS_OFFSET + LEAF_CAPACITY * Long.BYTES;
  static final int CHILDREN_OFFSET = KEYS_OFFSET + INNER_CAPACITY * Long.BYTES;

  private static final int COUNT_OFFSET = 8;
  private static final int LEVEL_OFFSET = 10;
  private static final int NEXT_OFFSET = 12;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static {
    if (VALUES_OFFSET + LEAF_CAPACITY * Long.BYTES != BYTES
        || CHILDREN_OFFSET + (INNER_CAPACITY + 1) * Integer.BYTES != BYTES - 8) {
      throw new AssertionError("node layout does not add up");
    }
  }

  private Node() {}

  static int count(MemorySegment memory, long node) {
    return memory.get(SHORT, node + COUNT_OFFSET);
  }

  static void setCount(MemorySegment memory, long node, int count) {
    memory.set(SHORT, node + COUNT_OFFSET, (short) count);
  }

  static int level(MemorySegment memory, long node) {
    return memory.get(SHORT, node + LEVEL_OFFSET);
  }

  static void setLevel(MemorySegment memory, long node, int level) {
    memory.set(SHORT, node + LEVEL_OFFSET, (short) level);
  }

  static boolean isFull(MemorySegment memory, long node) {
    int capacity = level(memory, node) == 0 ? LEAF_CAPACITY : INNER_CAPACITY;
    return count(memory, node) == capacity;
  }

  /** Returns the offset of the leaf to the right, 0 for none. */
  static long next(MemorySegment memory, long node) {
    return (long) memory.get(INT, node + NEXT_OFFSET) * BYTES;
  }

  static void setNext(MemorySegment memory, long node, long next) {
    memory.set(INT, node + NEXT_OFFSET, (int) (next / BYTES));
  }

  static long key(MemorySegment memory, long node, int index) {
    return Words.getUnaligned(memory, node + KEYS_OFFSET + (long) index * Long.BYTES);
  }

  static void setKey(MemorySegment memory, long node, int index, long key) {
    Words.setUnaligned(memory, node + KEYS_OFFSET + (long) index * Long.BYTES, key);
  }

  static long value(MemorySegment memory, long node, int index) {
    return Words.getUnaligned(memory, node + VALUES_OFFSET + (long) index * Long.BYTES);
  }

  static void setValue(MemorySegment memory, long node, int index, long value) {
    Words.setUnaligned(memory, node + VALUES_OFFSET + (long) index * Long.BYTES, value);
  }

  /** Returns the offset of a child. */
  static long child(MemorySegment memory, long node, int index) {
    return (long) memory.get(INT, node + CHILDREN_OFFSET + (long) index * Integer.BYTES) * BYTES;
  }

  static void setChild(MemorySegment memory, long node, int index, long child) {
    memory.set(INT, node + CHILDREN_OFFSET + (long) index * Integer.BYTES, (int) (child / BYTES));
  }

  /**
   * Loads a word of each of a node's cache lines, so that the lines are loaded in parallel, and not
   * one after the other as by a search.
   *
   * @return their sum, which has no meaning
   */
  static long touch(MemorySegment memory, long node) {
    long sum = 0;
    for (int offset = 0; offset < BYTES; offset += LINE_BYTES) {
      sum += Words.getUnaligned(memory, node + offset);
    }
    return sum;
  }

  /** Returns the number of keys below a key: the place where it is, or belongs. */
  static int lowerBound(MemorySegment memory, long node, int count, long key) {
    int base = 0;
    for (int length = count; length > 0; ) {
      int half = (length + 1) >>> 1;
      base = key(memory, node, base + half - 1) < key ? base + half : base;
      length -= half;
    }
    return base;
  }

  /** Returns the number of keys at or below a key: the child that it belongs below. */
  static int upperBound(MemorySegment memory, long node, int count, long key) {
    int base = 0;
    for (int length = count; length > 0; ) {
      int half = (length + 1) >>> 1;
      base = key(memory, node, base + half - 1) <= key ? base + half : base;
      length -= half;
    }
    return base;
  }

  /** Shifts keys, values or children from an index on by one, to make room there. */
  static void shift(MemorySegment memory, long array, int index, int count, int width) {
    long from = array + (long) index * width;
    MemorySegment.copy(memory, from, memory, from + width, (long) (count - index) * width);
  }
}
