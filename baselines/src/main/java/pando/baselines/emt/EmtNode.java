package pando.baselines.emt;

import java.lang.foreign.MemorySegment;
import pando.fabric.memory.Words;

/**
 * The bytes of a node.
 *
 * <pre>
 *   0  mark 8      ~ its address; of a node on the free list, its address; 0 if it is taken
 *   8  count 4 | level 4
 *  16  low 8       its least key
 *  24  high 8      its greatest key
 *  32  link 8      of a node on the free list: address of the next one, 0 at the end
 *  40  spare
 *  64  keys, one behind the other, in order; then the values, or the addresses of children
 * </pre>
 *
 * <p>A child has the keys from its own key on up to the one before the next child's. The first
 * child's key is the node's least.
 *
 * <p>There is no checksum and no stamp: no verb reads or writes a node while it is part of a tree,
 * only the processors of its memory server do, under the tree's latch.
 */
final class EmtNode {
  /** Least size of a node: it has 4 entries. */
  static final int BYTES_MIN = 128;

  /** Greatest size of a node. */
  static final int BYTES_MAX = 4096;

  static final int LINK = 32;

  /** In place of the mark of a node that is in no tree and on no free list. */
  static final long NO_MARK = 0;

  private static final int MARK = 0;
  private static final int COUNT = 8;
  private static final int LOW = 16;
  private static final int HIGH = 24;
  private static final int KEYS = 64;
  private static final int LEVEL_SHIFT = 32;

  private final int bytes;
  private final int capacity;
  private final int values;

  EmtNode(int bytes) {
    this.bytes = bytes;
    this.capacity = (bytes - KEYS) / (2 * Long.BYTES);
    this.values = KEYS + capacity * Long.BYTES;
  }

  int bytes() {
    return bytes;
  }

  /** Returns the number of entries or children that a node has room for. */
  int capacity() {
    return capacity;
  }

  /** Makes a node without entries. */
  static void format(
      MemorySegment memory, long node, long address, int level, long low, long high) {
    Words.set(memory, node + MARK, ~address);
    Words.set(memory, node + COUNT, (long) level << LEVEL_SHIFT);
    Words.set(memory, node + LOW, low);
    Words.set(memory, node + HIGH, high);
    Words.set(memory, node + LINK, 0);
  }

  /** Marks a node as one of the free list. */
  static void setFree(MemorySegment memory, long node, long address, long next) {
    setMark(memory, node, address);
    Words.set(memory, node + LINK, next);
  }

  static void setMark(MemorySegment memory, long node, long mark) {
    Words.set(memory, node + MARK, mark);
  }

  static boolean isFree(MemorySegment memory, long node, long address) {
    return Words.get(memory, node + MARK) == address;
  }

  /** Returns whether these are the bytes of the node at an address, with these fences. */
  boolean isWhole(MemorySegment memory, long node, long address, int level, long low, long high) {
    int count = count(memory, node);
    return Words.get(memory, node + MARK) == ~address
        && level(memory, node) == level
        && low(memory, node) == low
        && high(memory, node) == high
        && count >= (level == 0 ? 0 : 1)
        && count <= capacity
        && (level == 0 || key(memory, node, 0) == low);
  }

  static int count(MemorySegment memory, long node) {
    return (int) Words.get(memory, node + COUNT);
  }

  static int level(MemorySegment memory, long node) {
    return (int) (Words.get(memory, node + COUNT) >>> LEVEL_SHIFT);
  }

  private static void setCount(MemorySegment memory, long node, int count) {
    long level = Words.get(memory, node + COUNT) >>> LEVEL_SHIFT;
    Words.set(memory, node + COUNT, level << LEVEL_SHIFT | count);
  }

  static long low(MemorySegment memory, long node) {
    return Words.get(memory, node + LOW);
  }

  static long high(MemorySegment memory, long node) {
    return Words.get(memory, node + HIGH);
  }

  static void setHigh(MemorySegment memory, long node, long high) {
    Words.set(memory, node + HIGH, high);
  }

  /** Sets the least key, of an inner node also as its first child's. */
  static void setLow(MemorySegment memory, long node, long low) {
    Words.set(memory, node + LOW, low);
    if (level(memory, node) > 0) {
      Words.set(memory, node + KEYS, low);
    }
  }

  static long key(MemorySegment memory, long node, int rank) {
    return Words.get(memory, node + KEYS + (long) rank * Long.BYTES);
  }

  /** Returns where in a node a value, or the address of a child, is. */
  int valueAt(int rank) {
    return values + rank * Long.BYTES;
  }

  /** Returns a value, or the address of a child. */
  long value(MemorySegment memory, long node, int rank) {
    return Words.get(memory, node + valueAt(rank));
  }

  void setValue(MemorySegment memory, long node, int rank, long value) {
    Words.set(memory, node + valueAt(rank), value);
  }

  /** Returns the greatest key of a child. */
  static long childHigh(MemorySegment memory, long node, int rank) {
    return rank + 1 < count(memory, node) ? key(memory, node, rank + 1) - 1 : high(memory, node);
  }

  /** Returns the rank of the greatest key that is at most {@code wanted}, -1 if there is none. */
  static int floor(MemorySegment memory, long node, long wanted) {
    int least = 0;
    int most = count(memory, node) - 1;
    while (least <= most) {
      int middle = (least + most) >>> 1;
      if (key(memory, node, middle) <= wanted) {
        least = middle + 1;
      } else {
        most = middle - 1;
      }
    }
    return most;
  }

  /** Returns whether the keys ascend, within the fences. */
  static boolean isInOrder(MemorySegment memory, long node) {
    long least = low(memory, node);
    int count = count(memory, node);
    for (int rank = 0; rank < count; rank++) {
      long key = key(memory, node, rank);
      if (key < least) {
        return false;
      }
      least = key == Long.MAX_VALUE ? key : key + 1;
    }
    return count == 0 || key(memory, node, count - 1) <= high(memory, node);
  }

  /** Adds an entry; the node has room. */
  void insert(MemorySegment memory, long node, int rank, long key, long value) {
    int count = count(memory, node);
    move(memory, node, rank, node, rank + 1, count - rank);
    Words.set(memory, node + KEYS + (long) rank * Long.BYTES, key);
    setValue(memory, node, rank, value);
    setCount(memory, node, count + 1);
  }

  /** Removes an entry. */
  void remove(MemorySegment memory, long node, int rank) {
    int count = count(memory, node);
    move(memory, node, rank + 1, node, rank, count - rank - 1);
    setCount(memory, node, count - 1);
  }

  /** Moves the entries from a rank on to the end of another node, which has room. */
  void moveTo(MemorySegment memory, long node, int rank, long other) {
    int moved = count(memory, node) - rank;
    int there = count(memory, other);
    move(memory, node, rank, other, there, moved);
    setCount(memory, node, rank);
    setCount(memory, other, there + moved);
  }

  private void move(MemorySegment memory, long from, int fromRank, long to, int toRank, int count) {
    long bytesMoved = (long) count * Long.BYTES;
    long source = from + (long) fromRank * Long.BYTES;
    long target = to + (long) toRank * Long.BYTES;
    MemorySegment.copy(memory, source + KEYS, memory, target + KEYS, bytesMoved);
    MemorySegment.copy(memory, source + values, memory, target + values, bytesMoved);
  }
}
