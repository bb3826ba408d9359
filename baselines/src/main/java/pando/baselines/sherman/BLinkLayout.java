package pando.baselines.sherman;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pando.baselines.blink.Children;
import pando.baselines.blink.SortedEntries;
import pando.fabric.VerbList;
import pando.index.pool.Arguments;
import pando.index.pool.Checksums;

/**
 * The bytes of a node of the B-link tree, the same for a leaf and an inner node, in the pool and in
 * a cache: lines of 64 bytes, the first of which is the header.
 *
 * <pre>
 *          0        8       16        26       34        44        52       62 64
 *         +--------+-------+---------+-----+--------+---------+------------+----------+
 *  line 0 | lock   | stamp | address | low | high   | sibling | descriptor | checksum |
 *         +--------+-------+---------+-----+--------+---------+------------+----------+
 *  line i | stamp  | entry 3i - 3    | entry 3i - 2 | entry 3i - 1         | 2 unused  |
 *         +--------+-----------------+--------------+----------------------+----------+
 *
 *  entry   | front 1 | key 8 | slot 8 | rear 1 |
 *
 *  front  7       4 3    1  0            descriptor  63       32  31    30  24 23  16 15   0
 *        +---------+------+---------+               +-----------+------+------+------+------+
 *        | version | 0    | present |               | MAGIC     | freed| 0    | level| count|
 *        +---------+------+---------+               +-----------+------+------+------+------+
 * </pre>
 *
 * <p>The words of line 0 are 8 bytes each. Bytes from {@link #IMAGE} on are the node's image, which
 * a READ fetches and a WRITE stores. The lock word is not part of the image: it belongs to the
 * place, not to the node. It is used if locks are in the nodes.
 *
 * <p>A node covers the keys {@code low} to {@code high}, both inclusive (fence keys); {@code
 * sibling} is the address of the node that covers the keys above, {@code NULL} for the last node. A
 * leaf has level 0, its slots are values, and its entries are in any order; an entry is in use if
 * its present bit is set, and the count in the descriptor is not used. An inner node's entries are
 * in key order, its slots are addresses of children, and its first key is its low fence. No entry
 * crosses a line, so that an entry lands as one on a fabric where lines do.
 *
 * <p>Each WRITE of a whole node writes a new stamp, which was never used before and does not wrap.
 * An inner node, which is always written as a whole, has a right checksum; a leaf with {@link
 * ShermanValidation#CHECKSUM} alone. An entry's rear version is equal to its front version, for
 * {@link ShermanValidation#ORIGINAL}.
 */
final class BLinkLayout {
  /** Offset of the lock word (8 bytes). */
  static final int LOCK = 0;

  /** Offset of the image. */
  static final int IMAGE = 8;

  static final int LINE_BYTES = 64;
  static final int ENTRY_BYTES = 18;
  static final int NODE_BYTES_MIN = 2 * LINE_BYTES;
  static final int NODE_BYTES_MAX = 64 << 10;

  private static final int STAMP = 8;
  private static final int ADDRESS = 16;
  private static final int LOW = 24;
  private static final int HIGH = 32;

  /** Offset of the sibling's address (8 bytes). */
  static final int SIBLING = 40;

  /** Offset of the descriptor (8 bytes); the checksum follows it. */
  static final int DESCRIPTOR = 48;

  /** Offset of the checksum (8 bytes). */
  static final int CHECKSUM = 56;

  private static final int LINE_ENTRIES = 3;
  private static final int KEY = 1;
  private static final int SLOT = KEY + Long.BYTES;
  private static final int REAR = SLOT + Long.BYTES;

  private static final long MAGIC = 0xB11A_C0DEL << 32;
  private static final long MAGIC_MASK = 0xFFFF_FFFFL << 32;
  private static final long FREED = 1L << 31;
  private static final long RESERVED = 0x7F00_0000L;
  private static final int LEVEL_SHIFT = 16;
  private static final int LEVEL_MASK = 0xFF;
  private static final int COUNT_MASK = 0xFFFF;

  private static final int PRESENT = 1;
  private static final int VERSION_SHIFT = 4;
  private static final int VERSION_MASK = 0xF;

  static {
    assert CHECKSUM + Long.BYTES == LINE_BYTES;
    assert REAR + 1 == ENTRY_BYTES;
    assert Long.BYTES + LINE_ENTRIES * ENTRY_BYTES <= LINE_BYTES;
  }

  /**
   * Multipliers of the checksum: index 0 for a present entry, below 64 for the header, above for
   * keys and slots.
   */
  private static final long[] MULTIPLIERS =
      Checksums.multipliers(LINE_BYTES + 2 * (NODE_BYTES_MAX / LINE_BYTES - 1) * LINE_ENTRIES);

  private static final ValueLayout.OfLong LONG =
      JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int nodeBytes;
  private final int capacity;

  /**
   * Creates the layout of nodes of a size in bytes: a multiple of 64, from {@link #NODE_BYTES_MIN}
   * to {@link #NODE_BYTES_MAX}.
   */
  BLinkLayout(int nodeBytes) {
    Arguments.checkNodeBytes(nodeBytes, NODE_BYTES_MIN, NODE_BYTES_MAX);
    this.nodeBytes = nodeBytes;
    this.capacity = (nodeBytes / LINE_BYTES - 1) * LINE_ENTRIES;
  }

  int nodeBytes() {
    return nodeBytes;
  }

  int imageBytes() {
    return nodeBytes - IMAGE;
  }

  /** Adds the READ of a node's image to a list. */
  void addRead(VerbList list, long address, long node) {
    list.read(address + IMAGE, node + IMAGE, imageBytes());
  }

  /** Returns the maximum number of entries of a leaf, and of children of an inner node. */
  int capacity() {
    return capacity;
  }

  /** Returns the offset of node {@code number} in an array of nodes. */
  long offset(int number) {
    return (long) number * nodeBytes;
  }

  // The header.

  static long address(MemorySegment memory, long node) {
    return memory.get(LONG, node + ADDRESS);
  }

  static long low(MemorySegment memory, long node) {
    return memory.get(LONG, node + LOW);
  }

  static long high(MemorySegment memory, long node) {
    return memory.get(LONG, node + HIGH);
  }

  static void setHigh(MemorySegment memory, long node, long high) {
    memory.set(LONG, node + HIGH, high);
  }

  static long sibling(MemorySegment memory, long node) {
    return memory.get(LONG, node + SIBLING);
  }

  static void setSibling(MemorySegment memory, long node, long sibling) {
    memory.set(LONG, node + SIBLING, sibling);
  }

  static long descriptor(MemorySegment memory, long node) {
    return memory.get(LONG, node + DESCRIPTOR);
  }

  static boolean isDescriptor(long descriptor) {
    return (descriptor & (MAGIC_MASK | RESERVED)) == MAGIC;
  }

  static boolean isFreed(long descriptor) {
    return (descriptor & FREED) != 0;
  }

  static int level(long descriptor) {
    return (int) (descriptor >>> LEVEL_SHIFT) & LEVEL_MASK;
  }

  static int count(long descriptor) {
    return (int) descriptor & COUNT_MASK;
  }

  /** Returns the number of children of an inner node. */
  static int count(MemorySegment memory, long node) {
    return count(descriptor(memory, node));
  }

  private static void setCount(MemorySegment memory, long node, int count) {
    memory.set(LONG, node + DESCRIPTOR, (descriptor(memory, node) & ~COUNT_MASK) | count);
  }

  /** Marks a node as one that is no longer part of the tree. */
  static void free(MemorySegment memory, long node) {
    memory.set(LONG, node + DESCRIPTOR, descriptor(memory, node) | FREED);
  }

  /** Makes a node that was freed a part of the tree again. */
  static void show(MemorySegment memory, long node) {
    memory.set(LONG, node + DESCRIPTOR, descriptor(memory, node) & ~FREED);
  }

  /** Formats an empty node. */
  void format(
      MemorySegment memory, long node, long address, int level, long low, long high, long sibling) {
    memory.asSlice(node, nodeBytes).fill((byte) 0);
    memory.set(LONG, node + ADDRESS, address);
    memory.set(LONG, node + LOW, low);
    memory.set(LONG, node + HIGH, high);
    memory.set(LONG, node + SIBLING, sibling);
    memory.set(LONG, node + DESCRIPTOR, MAGIC | ((long) level << LEVEL_SHIFT));
  }

  // Stamps and the checksum.

  static long stamp(MemorySegment memory, long node) {
    return memory.get(LONG, node + STAMP);
  }

  /** Stores a stamp in every line. Called before a whole node is written. */
  void setStamps(MemorySegment memory, long node, long stamp) {
    memory.set(LONG, node + STAMP, stamp);
    for (int line = LINE_BYTES; line < nodeBytes; line += LINE_BYTES) {
      memory.set(LONG, node + line, stamp);
    }
  }

  /**
   * Returns whether the stamps of all lines are equal: then one WRITE of the whole node wrote them.
   */
  boolean areStampsEqual(MemorySegment memory, long node) {
    long stamp = memory.get(LONG, node + STAMP);
    long differences = 0;
    for (int line = LINE_BYTES; line < nodeBytes; line += LINE_BYTES) {
      differences |= memory.get(LONG, node + line) ^ stamp;
    }
    return differences == 0;
  }

  /**
   * Returns whether the 4-bit versions at both ends of a node are equal, as in the published check.
   */
  boolean areEndsEqual(MemorySegment memory, long node) {
    long front = memory.get(LONG, node + STAMP);
    long rear = memory.get(LONG, node + nodeBytes - LINE_BYTES);
    return ((front ^ rear) & VERSION_MASK) == 0;
  }

  static long checksum(MemorySegment memory, long node) {
    return memory.get(LONG, node + CHECKSUM);
  }

  static void setChecksum(MemorySegment memory, long node, long checksum) {
    memory.set(LONG, node + CHECKSUM, checksum);
  }

  /**
   * Computes the checksum of a node's present bytes: the sum of its words, each times an odd
   * multiplier of its own. A change of any single word changes it.
   */
  long computeChecksum(MemorySegment memory, long node) {
    long sum = 0;
    for (int at = ADDRESS; at <= DESCRIPTOR; at += Long.BYTES) {
      sum += memory.get(LONG, node + at) * MULTIPLIERS[at];
    }
    int index = 0;
    for (long line = node + LINE_BYTES; line < node + nodeBytes; line += LINE_BYTES) {
      long entry = line + Long.BYTES;
      for (int i = 0; i < LINE_ENTRIES; i++, entry += ENTRY_BYTES) {
        sum += sumOfEntry(memory, entry, index++);
      }
    }
    return sum;
  }

  /** Returns the summand of an entry in the checksum. */
  static long entrySum(MemorySegment memory, long node, int index) {
    return sumOfEntry(memory, node + position(index), index);
  }

  private static long sumOfEntry(MemorySegment memory, long entry, int index) {
    long sum =
        memory.get(LONG, entry + KEY) * MULTIPLIERS[LINE_BYTES + 2 * index]
            + memory.get(LONG, entry + SLOT) * MULTIPLIERS[LINE_BYTES + 2 * index + 1]
            + MULTIPLIERS[0];
    return sum & -(memory.get(JAVA_BYTE, entry) & PRESENT);
  }

  // Entries.

  /** Returns the offset of an entry in its node. */
  static int position(int index) {
    return LINE_BYTES
        + index / LINE_ENTRIES * LINE_BYTES
        + Long.BYTES
        + index % LINE_ENTRIES * ENTRY_BYTES;
  }

  static boolean isPresent(MemorySegment memory, long node, int index) {
    return (memory.get(JAVA_BYTE, node + position(index)) & PRESENT) != 0;
  }

  static long key(MemorySegment memory, long node, int index) {
    return memory.get(LONG, node + position(index) + KEY);
  }

  static long slot(MemorySegment memory, long node, int index) {
    return memory.get(LONG, node + position(index) + SLOT);
  }

  /**
   * Returns whether the front and rear version of an entry are equal, as in the published check.
   */
  static boolean isEntryWhole(MemorySegment memory, long node, int index) {
    long entry = node + position(index);
    int differences = memory.get(JAVA_BYTE, entry) ^ memory.get(JAVA_BYTE, entry + REAR);
    return ((differences >>> VERSION_SHIFT) & VERSION_MASK) == 0;
  }

  /** Stores an entry. */
  static void put(MemorySegment memory, long node, int index, long key, long slot) {
    long entry = node + position(index);
    memory.set(LONG, entry + KEY, key);
    memory.set(LONG, entry + SLOT, slot);
    setPresent(memory, entry, PRESENT);
  }

  /** Removes an entry. */
  static void clear(MemorySegment memory, long node, int index) {
    setPresent(memory, node + position(index), 0);
  }

  private static void setPresent(MemorySegment memory, long entry, int present) {
    int version = ((memory.get(JAVA_BYTE, entry) >>> VERSION_SHIFT) + 1) & VERSION_MASK;
    memory.set(JAVA_BYTE, entry, (byte) ((version << VERSION_SHIFT) | present));
    memory.set(JAVA_BYTE, entry + REAR, (byte) (version << VERSION_SHIFT));
  }

  // Leaves.

  /** Returns the index of a key's entry, -1 if there is none. */
  int find(MemorySegment memory, long leaf, long key) {
    long end = leaf + nodeBytes;
    for (long line = leaf + LINE_BYTES; line < end; line += LINE_BYTES) {
      long entry = line + Long.BYTES;
      for (int i = 0; i < LINE_ENTRIES; i++, entry += ENTRY_BYTES) {
        if (memory.get(LONG, entry + KEY) == key && (memory.get(JAVA_BYTE, entry) & PRESENT) != 0) {
          return (int) ((line - leaf) / LINE_BYTES - 1) * LINE_ENTRIES + i;
        }
      }
    }
    return -1;
  }

  /** Returns the index of an entry that is not in use, -1 if the leaf is full. */
  int findFree(MemorySegment memory, long leaf) {
    for (int i = 0; i < capacity; i++) {
      if (!isPresent(memory, leaf, i)) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the number of entries of a leaf. */
  int entries(MemorySegment memory, long leaf) {
    int entries = 0;
    for (int i = 0; i < capacity; i++) {
      entries += memory.get(JAVA_BYTE, leaf + position(i)) & PRESENT;
    }
    return entries;
  }

  /**
   * Copies the entries of a leaf within a range of keys, both ends inclusive, in key order; returns
   * their number. If a key is there twice, as lines of the leaf were READ at different times, only
   * one entry is copied.
   */
  int copySorted(MemorySegment memory, long leaf, long from, long to, long[] keys, long[] values) {
    int copied = 0;
    for (int i = 0; i < capacity; i++) {
      long key = key(memory, leaf, i);
      if (key >= from && key <= to && isPresent(memory, leaf, i)) {
        copied = SortedEntries.insert(keys, values, copied, key, slot(memory, leaf, i));
      }
    }
    return copied;
  }

  /**
   * Returns the index of the greatest key in use at or below {@code key} or, upwards, of the least
   * one at or above it; -1 if there is none.
   */
  int nearest(MemorySegment memory, long leaf, long key, boolean down) {
    int best = -1;
    long nearest = key;
    for (int i = 0; i < capacity; i++) {
      long found = key(memory, leaf, i);
      boolean beyond = down ? found > key : found < key;
      boolean nearer = best < 0 || (down ? found > nearest : found < nearest);
      if (!beyond && nearer && isPresent(memory, leaf, i)) {
        best = i;
        nearest = found;
      }
    }
    return best;
  }

  // Inner nodes.

  /** Returns the index of the last child that begins at or below a key, -1 if there is none. */
  int childOf(MemorySegment memory, long node, long key) {
    int count = Math.min(count(memory, node), capacity);
    int index = -1;
    for (int i = 0; i < count; i++) {
      index += key(memory, node, i) <= key ? 1 : 0;
    }
    return index;
  }

  /** Copies the children of an inner node. */
  void copyChildren(MemorySegment memory, long node, Children children) {
    children.low = low(memory, node);
    children.high = high(memory, node);
    children.count = Math.min(count(memory, node), capacity);
    for (int i = 0; i < children.count; i++) {
      children.keys[i] = key(memory, node, i);
      children.pointers[i] = slot(memory, node, i);
    }
  }

  /** Appends an entry to an inner node, or to a leaf that is filled in key order. */
  static void append(MemorySegment memory, long node, long key, long slot) {
    int count = count(memory, node);
    put(memory, node, count, key, slot);
    setCount(memory, node, count + 1);
  }

  /** Inserts a child at {@code index} and moves the following ones. The node must not be full. */
  static void insert(MemorySegment memory, long node, int index, long key, long child) {
    int count = count(memory, node);
    for (int i = count; i > index; i--) {
      put(memory, node, i, key(memory, node, i - 1), slot(memory, node, i - 1));
    }
    put(memory, node, index, key, child);
    setCount(memory, node, count + 1);
  }

  /** Deletes a child and closes the gap. */
  static void delete(MemorySegment memory, long node, int index) {
    int count = count(memory, node);
    for (int i = index; i < count - 1; i++) {
      put(memory, node, i, key(memory, node, i + 1), slot(memory, node, i + 1));
    }
    clear(memory, node, count - 1);
    setCount(memory, node, count - 1);
  }

  /** Removes all entries of a node. */
  void clearEntries(MemorySegment memory, long node) {
    for (int i = 0; i < capacity; i++) {
      clear(memory, node, i);
    }
    setCount(memory, node, 0);
  }
}
