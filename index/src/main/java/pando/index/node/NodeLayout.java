package pando.index.node;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.pool.Arguments;
import pando.index.pool.Catalogue;

/**
 * The bytes of a node, the same for a leaf and an inner node, in the pool and in a frame.
 *
 * <pre>
 *   0        8      12     16     20     24        32    40     48           56         64
 *  +--------+------+------+------+------+---------+-----+------+------------+----------+
 *  | lock   |parent|pins  |state |dirty | address | low | high | descriptor | checksum |
 *  +--------+------+------+------+------+---------+-----+------+------------+----------+
 *  | key 0 | key 1 | ...                                            | key capacity - 1  |
 *  +-----------------------------------------------------------------------------------+
 *  | slot 0 | slot 1 | ...                                          | slot capacity - 1 |
 *  +-----------------------------------------------------------------------------------+
 *
 *  descriptor   63        32 31    24 23   16 15        0
 *              +------------+--------+-------+-----------+
 *              | MAGIC      | 0      | level | count     |
 *              +------------+--------+-------+-----------+
 * </pre>
 *
 * <p>Bytes from {@link #IMAGE} on are the node's image: what READ fetches and WRITE stores. The
 * first 24 bytes never travel with it. In a frame they belong to the cache: an optimistic lock, the
 * parent's frame, pins, state, dirty flag. In the pool the lock word is the remote lock of a node
 * that several compute servers share, and outlives the node: a node that takes a freed node's place
 * inherits an unlocked word.
 *
 * <p>A node covers the keys {@code low} to {@code high}, both inclusive (fence keys). A leaf has
 * level 0; its slots are values. An inner node's slots are pointers to children; key {@code i} is
 * the low fence of child {@code i}, so key 0 equals {@code low}. Keys ascend strictly. The checksum
 * covers the header from {@code address} to {@code descriptor} and the used keys and slots.
 */
public final class NodeLayout {
  /** Offset of the lock word (8 bytes), the first of a node. */
  public static final int LOCK = 0;

  /** Offset of the parent's frame (4 bytes; used only in a frame). */
  public static final int PARENT = 8;

  /** Offset of the pin count (4 bytes; used only in a frame). */
  public static final int PINS = 12;

  /** Offset of the frame's state (4 bytes; used only in a frame). */
  public static final int STATE = 16;

  /** Offset of the dirty flag (4 bytes; used only in a frame). */
  public static final int DIRTY = 20;

  /** Offset of the image. */
  public static final int IMAGE = 24;

  private static final int ADDRESS = IMAGE;
  private static final int LOW = ADDRESS + Long.BYTES;
  private static final int HIGH = LOW + Long.BYTES;
  private static final int DESCRIPTOR = HIGH + Long.BYTES;
  private static final int CHECKSUM = DESCRIPTOR + Long.BYTES;

  /** Offset of the keys. */
  public static final int KEYS = CHECKSUM + Long.BYTES;

  /** Least size of a node in bytes. */
  public static final int NODE_BYTES_MIN = 128;

  /** Greatest size of a node in bytes. */
  public static final int NODE_BYTES_MAX = 64 << 10;

  /**
   * Maximum number of levels of a tree; a descriptor with this level or a higher one is damaged.
   */
  public static final int LEVELS_MAX = Catalogue.LEVELS_MAX;

  private static final int ALIGNMENT = 64;
  private static final long MAGIC = 0x9A4D0ED5L << 32;
  private static final long MAGIC_MASK = 0xFFFF_FFFF_FF00_0000L;
  private static final int COUNT_MASK = 0xFFFF;
  private static final int LEVEL_SHIFT = 16;
  private static final int LEVEL_MASK = 0xFF;

  /** Keys in one cache line of the processor. */
  private static final int LINE_KEYS = 8;

  static {
    if (KEYS != ALIGNMENT) {
      throw new AssertionError("node header is not one line: bytes=" + KEYS);
    }
  }

  /**
   * Declared unaligned, although every word is aligned: this saves the alignment check of each
   * access.
   */
  private static final ValueLayout.OfLong LONG =
      JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int nodeBytes;
  private final int capacity;
  private final int slots;

  /**
   * Creates the layout of nodes of a size.
   *
   * @param nodeBytes a multiple of 64, {@link #NODE_BYTES_MIN} to {@link #NODE_BYTES_MAX}
   */
  public NodeLayout(int nodeBytes) {
    Arguments.checkNodeBytes(nodeBytes, NODE_BYTES_MIN, NODE_BYTES_MAX);
    this.nodeBytes = nodeBytes;
    this.capacity = (nodeBytes - KEYS) / (2 * Long.BYTES);
    this.slots = KEYS + capacity * Long.BYTES;
  }

  /** Returns the size of a node. */
  public int nodeBytes() {
    return nodeBytes;
  }

  /** Returns the offset of a node in an array of nodes. */
  public long offset(int number) {
    return (long) number * nodeBytes;
  }

  /** Returns the number of the node at an offset in an array of nodes. */
  public int number(long offset) {
    return (int) (offset / nodeBytes);
  }

  /** Returns the size of the image in bytes: what a READ of a node transfers. */
  public int imageBytes() {
    return nodeBytes - IMAGE;
  }

  /** READs the image at an address into the node at an offset of the worker's memory. */
  public void readImage(Worker worker, long address, long node) {
    worker.read(address + IMAGE, node + IMAGE, imageBytes());
  }

  /** WRITEs a node's sealed image to its address in the pool. */
  public void writeImage(Worker worker, long node) {
    worker.write(address(worker.memory(), node) + IMAGE, node + IMAGE, imageBytes());
  }

  /** Adds the READ of an image to a list. */
  public VerbList readImage(VerbList list, long address, long node) {
    return list.read(address + IMAGE, node + IMAGE, imageBytes());
  }

  /** Adds the WRITE of a node's sealed image to a list. */
  public VerbList writeImage(VerbList list, long address, long node) {
    return list.write(address + IMAGE, node + IMAGE, imageBytes());
  }

  /** Copies a node's image into another node. */
  public void copyImage(MemorySegment memory, long source, long target) {
    MemorySegment.copy(memory, source + IMAGE, memory, target + IMAGE, imageBytes());
  }

  /** Returns the capacity of a node: entries of a leaf, children of an inner node. */
  public int capacity() {
    return capacity;
  }

  /** Returns the global address that the node says it has. */
  public static long address(MemorySegment memory, long node) {
    return memory.get(LONG, node + ADDRESS);
  }

  /** Returns the least key that the node covers. */
  public static long low(MemorySegment memory, long node) {
    return memory.get(LONG, node + LOW);
  }

  /** Returns the greatest key that the node covers. */
  public static long high(MemorySegment memory, long node) {
    return memory.get(LONG, node + HIGH);
  }

  /** Sets the least key that the node covers. */
  public static void setLow(MemorySegment memory, long node, long low) {
    memory.set(LONG, node + LOW, low);
  }

  /** Sets the greatest key that the node covers. */
  public static void setHigh(MemorySegment memory, long node, long high) {
    memory.set(LONG, node + HIGH, high);
  }

  /** Returns the word that holds level and count. */
  public static long descriptor(MemorySegment memory, long node) {
    return memory.get(LONG, node + DESCRIPTOR);
  }

  /** Returns the number of keys in a descriptor. */
  public static int countOf(long descriptor) {
    return (int) descriptor & COUNT_MASK;
  }

  /** Returns the level in a descriptor, 0 for a leaf. */
  public static int levelOf(long descriptor) {
    return (int) (descriptor >>> LEVEL_SHIFT) & LEVEL_MASK;
  }

  /** Returns whether a word is a legal descriptor. */
  public static boolean isDescriptor(long descriptor) {
    return (descriptor & MAGIC_MASK) == MAGIC;
  }

  /** Returns the number of keys. */
  public static int count(MemorySegment memory, long node) {
    return countOf(descriptor(memory, node));
  }

  /** Returns the level, 0 for a leaf. */
  public static int level(MemorySegment memory, long node) {
    return levelOf(descriptor(memory, node));
  }

  /** Sets the number of keys. */
  public static void setCount(MemorySegment memory, long node, int count) {
    memory.set(LONG, node + DESCRIPTOR, (descriptor(memory, node) & ~COUNT_MASK) | count);
  }

  /** Sets the level. */
  public static void setLevel(MemorySegment memory, long node, int level) {
    long others = descriptor(memory, node) & ~((long) LEVEL_MASK << LEVEL_SHIFT);
    memory.set(LONG, node + DESCRIPTOR, others | ((long) level << LEVEL_SHIFT));
  }

  /** Returns the checksum that the node carries. */
  public static long checksum(MemorySegment memory, long node) {
    return memory.get(LONG, node + CHECKSUM);
  }

  /** Sets the checksum, for a copy whose pointers differ from the image that the checksum is of. */
  public static void setChecksum(MemorySegment memory, long node, long checksum) {
    memory.set(LONG, node + CHECKSUM, checksum);
  }

  /** Returns a key. */
  public static long key(MemorySegment memory, long node, int index) {
    return memory.get(LONG, node + KEYS + ((long) index << 3));
  }

  /** Sets a key. */
  public static void setKey(MemorySegment memory, long node, int index, long key) {
    memory.set(LONG, node + KEYS + ((long) index << 3), key);
  }

  /** Returns a slot: a leaf's value, or an inner node's pointer. */
  public long slot(MemorySegment memory, long node, int index) {
    return memory.get(LONG, node + slots + ((long) index << 3));
  }

  /** Sets a slot. */
  public void setSlot(MemorySegment memory, long node, int index, long slot) {
    memory.set(LONG, node + slots + ((long) index << 3), slot);
  }

  /** Makes an empty node. */
  public static void format(
      MemorySegment memory, long node, long address, int level, long low, long high) {
    memory.set(LONG, node + ADDRESS, address);
    memory.set(LONG, node + LOW, low);
    memory.set(LONG, node + HIGH, high);
    memory.set(LONG, node + DESCRIPTOR, MAGIC | ((long) level << LEVEL_SHIFT));
  }

  /**
   * Adds an entry behind the last. The node must not be full, and the key must be above all others.
   */
  public void append(MemorySegment memory, long node, long key, long slot) {
    int count = count(memory, node);
    memory.set(LONG, node + KEYS + ((long) count << 3), key);
    setSlot(memory, node, count, slot);
    setCount(memory, node, count + 1);
  }

  /**
   * Inserts an entry at {@code index}; entries from there on move up by one. The node must not be
   * full.
   */
  public void insert(MemorySegment memory, long node, int index, long key, long slot) {
    int count = count(memory, node);
    long keyAt = node + KEYS + ((long) index << 3);
    long slotAt = node + slots + ((long) index << 3);
    long moved = (long) (count - index) << 3;
    MemorySegment.copy(memory, keyAt, memory, keyAt + Long.BYTES, moved);
    MemorySegment.copy(memory, slotAt, memory, slotAt + Long.BYTES, moved);
    memory.set(LONG, keyAt, key);
    memory.set(LONG, slotAt, slot);
    setCount(memory, node, count + 1);
  }

  /** Deletes an entry; the entries behind it move down by one. */
  public void delete(MemorySegment memory, long node, int index) {
    int count = count(memory, node);
    long keyAt = node + KEYS + ((long) index << 3);
    long slotAt = node + slots + ((long) index << 3);
    long moved = (long) (count - index - 1) << 3;
    MemorySegment.copy(memory, keyAt + Long.BYTES, memory, keyAt, moved);
    MemorySegment.copy(memory, slotAt + Long.BYTES, memory, slotAt, moved);
    setCount(memory, node, count - 1);
  }

  /** Copies entries from one node into another; changes neither count. */
  public void copyEntries(
      MemorySegment memory, long source, int from, long target, int to, int entries) {
    long bytes = (long) entries << 3;
    long keyFrom = source + KEYS + ((long) from << 3);
    long keyTo = target + KEYS + ((long) to << 3);
    MemorySegment.copy(memory, keyFrom, memory, keyTo, bytes);
    long shift = (long) slots - KEYS;
    MemorySegment.copy(memory, keyFrom + shift, memory, keyTo + shift, bytes);
  }

  /** Moves the upper half of a node's entries into a new sibling, and sets the fences of both. */
  public void split(MemorySegment memory, long node, long sibling, long siblingAddress) {
    int count = count(memory, node);
    int kept = count / 2;
    long low = key(memory, node, kept);
    format(memory, sibling, siblingAddress, level(memory, node), low, high(memory, node));
    copyEntries(memory, node, kept, sibling, 0, count - kept);
    setCount(memory, sibling, count - kept);
    setCount(memory, node, kept);
    setHigh(memory, node, low - 1);
  }

  /** Copies entries out of a node, to the start of two arrays. */
  public void copyOut(
      MemorySegment memory, long node, int from, int entries, long[] keys, long[] values) {
    long keyAt = node + KEYS + ((long) from << 3);
    MemorySegment.copy(memory, LONG, keyAt, keys, 0, entries);
    MemorySegment.copy(memory, LONG, keyAt + slots - KEYS, values, 0, entries);
  }

  /**
   * Returns the index of the greatest key at or below {@code key}, -1 if there is none. If the node
   * changes meanwhile, returns any legal index of the node, or -1.
   *
   * <p>Compares the first key of every cache line, then those of one line. No load depends on
   * another, so the lines of a cold node are loaded in parallel; a binary search would load one
   * after the other.
   */
  public int floor(MemorySegment memory, long node, long descriptor, long key) {
    int count = Math.min(countOf(descriptor), capacity);
    long keys = node + KEYS;
    int line = 0;
    for (int first = LINE_KEYS; first < count; first += LINE_KEYS) {
      line += memory.get(LONG, keys + ((long) first << 3)) <= key ? LINE_KEYS : 0;
    }
    int end = Math.min(line + LINE_KEYS, count);
    int index = line - 1;
    for (int i = line; i < end; i++) {
      index += memory.get(LONG, keys + ((long) i << 3)) <= key ? 1 : 0;
    }
    return index;
  }

  /** Returns the index of the greatest key at or below {@code key}, -1 if there is none. */
  public int floor(MemorySegment memory, long node, long key) {
    return floor(memory, node, descriptor(memory, node), key);
  }

  /** Returns whether the key at an index that {@link #floor} returned is the key itself. */
  public static boolean holds(MemorySegment memory, long node, int index, long key) {
    return index >= 0 && key(memory, node, index) == key;
  }

  /** Returns the greatest key that an inner node's child covers. */
  public static long highOfChild(MemorySegment memory, long node, int index) {
    return index + 1 < count(memory, node) ? key(memory, node, index + 1) - 1 : high(memory, node);
  }

  /** Computes the checksum of a node's current image. */
  public long computeChecksum(MemorySegment memory, long node) {
    long descriptor = descriptor(memory, node);
    int count = Math.min(countOf(descriptor), capacity);
    long sum =
        address(memory, node) * Multipliers.ADDRESS
            + low(memory, node) * Multipliers.LOW
            + high(memory, node) * Multipliers.HIGH
            + descriptor * Multipliers.DESCRIPTOR;
    long[] multipliers = Multipliers.ENTRIES;
    long keyAt = node + KEYS;
    long slotAt = node + slots;
    long keySum = 0;
    long slotSum = 0;
    for (int i = 0; i < count; i++) {
      keySum += memory.get(LONG, keyAt + ((long) i << 3)) * multipliers[2 * i];
      slotSum += memory.get(LONG, slotAt + ((long) i << 3)) * multipliers[2 * i + 1];
    }
    return sum + keySum + slotSum;
  }

  /**
   * Computes the checksum, stores it and returns it. To be called before an image is written to the
   * pool.
   */
  public long seal(MemorySegment memory, long node) {
    long checksum = computeChecksum(memory, node);
    memory.set(LONG, node + CHECKSUM, checksum);
    return checksum;
  }

  /** Updates a leaf's checksum after one value changed. */
  public static void resealValue(
      MemorySegment memory, long node, int index, long before, long after) {
    long checksum = checksum(memory, node);
    memory.set(
        LONG, node + CHECKSUM, checksum + (after - before) * Multipliers.ENTRIES[2 * index + 1]);
  }

  /**
   * Odd multipliers of the checksum: a sum of words, each times its own. A change of any one word
   * changes the sum, since multiplication by an odd number is a bijection; changes of several words
   * cancel out with a chance of 2^-64, as the multipliers have no pattern.
   */
  private static final class Multipliers {
    static final long[] ENTRIES = new long[2 * (NODE_BYTES_MAX - KEYS) / (2 * Long.BYTES)];
    static final long ADDRESS = of(-1);
    static final long LOW = of(-2);
    static final long HIGH = of(-3);
    static final long DESCRIPTOR = of(-4);

    static {
      for (int i = 0; i < ENTRIES.length; i++) {
        ENTRIES[i] = of(i);
      }
    }

    private Multipliers() {}

    private static long of(int index) {
      long z = (index + 0x632BE5ABL) * 0x9E3779B97F4A7C15L;
      z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
      z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
      return (z ^ (z >>> 31)) | 1;
    }
  }
}
