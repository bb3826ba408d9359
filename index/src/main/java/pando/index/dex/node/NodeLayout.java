package pando.index.dex.node;

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
 *   0        8      12     16     20     24        32           48           56         64
 *  +--------+------+------+------+------+---------+------------+------------+----------+
 *  | lock   |parent|pins  |state |dirty | address | low | high | descriptor | checksum |
 *  +--------+------+------+------+------+---------+------------+------------+----------+
 *  | low | high  where keys have more than 8 bytes                                     |
 *  +-----------------------------------------------------------------------------------+
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
 * that several compute servers share, and outlives the node: it is 0 in memory that nodes
 * {@linkplain pando.fabric.pool.NodeAllocator#lasting have for the first time}, and a node that
 * takes a freed node's place inherits an unlocked word.
 *
 * <p>A node covers the keys {@code low} to {@code high}, both inclusive (fence keys). A leaf has
 * level 0; its slots are values. An inner node's slots are pointers to children; key {@code i} is
 * the low fence of child {@code i}, so key 0 equals {@code low}. Keys ascend strictly. The checksum
 * covers the header from {@code address} to {@code descriptor}, the fences, and the used keys and
 * slots.
 *
 * <p>A key is one word or more, which are compared one after the other, as signed numbers. What
 * stands for a key outside a node is a {@code long}: where keys have one word, the key itself;
 * where they have more, the place of its words in the memory of the nodes. So what is returned for
 * a key of a node lasts as long as that node does not change: {@link #keep} copies a key to a place
 * of the caller's own. Methods that compute a key take such a place; where keys have one word, they
 * do not use it.
 */
public abstract sealed class NodeLayout permits WideLayout, WordLayout {
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

  /** Offset of the room for two fences of one word. */
  static final int FENCES = ADDRESS + Long.BYTES;

  private static final int DESCRIPTOR = FENCES + 2 * Long.BYTES;
  private static final int CHECKSUM = DESCRIPTOR + Long.BYTES;

  /** Bytes of the header, behind which a node has longer fences, then its keys. */
  public static final int HEADER_BYTES = CHECKSUM + Long.BYTES;

  /** Least size of a node in bytes. */
  public static final int NODE_BYTES_MIN = 128;

  /** Greatest size of a node in bytes. */
  public static final int NODE_BYTES_MAX = 64 << 10;

  /** Greatest length of a key in bytes; the least is that of a word, 8. */
  public static final int KEY_BYTES_MAX = 1024;

  /** Least number of entries of a full node. */
  public static final int CAPACITY_MIN = 4;

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

  static {
    if (HEADER_BYTES != ALIGNMENT) {
      throw new AssertionError("node header is not one line: bytes=" + HEADER_BYTES);
    }
  }

  /**
   * Declared unaligned, although every word is aligned: this saves the alignment check of each
   * access.
   */
  static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int nodeBytes;
  private final int keyBytes;
  private final int capacity;

  /** Offset of the keys in a node. */
  final int keys;

  /** Offset of the slots in a node. */
  final int slots;

  /**
   * Creates the layout of nodes of a size.
   *
   * @param fenceBytes bytes of the fences behind the header
   */
  NodeLayout(int nodeBytes, int keyBytes, int fenceBytes) {
    this.nodeBytes = nodeBytes;
    this.keyBytes = keyBytes;
    this.keys = HEADER_BYTES + fenceBytes;
    this.capacity = Math.max(0, (nodeBytes - keys) / (keyBytes + Long.BYTES));
    this.slots = keys + capacity * keyBytes;
  }

  /**
   * Returns the layout of nodes of a size.
   *
   * @param nodeBytes a multiple of 64, {@link #NODE_BYTES_MIN} to {@link #NODE_BYTES_MAX}
   * @param keyBytes length of each key, a multiple of 8, 8 to {@link #KEY_BYTES_MAX}
   * @throws IllegalArgumentException if one is out of range, or a node has room for fewer than
   *     {@link #CAPACITY_MIN} entries
   */
  public static NodeLayout of(int nodeBytes, int keyBytes) {
    Arguments.checkNodeBytes(nodeBytes, NODE_BYTES_MIN, NODE_BYTES_MAX);
    if (keyBytes < Long.BYTES || keyBytes > KEY_BYTES_MAX || keyBytes % Long.BYTES != 0) {
      throw new IllegalArgumentException(
          "the length of keys must be a multiple of 8: keyBytes=%s, least=%s, greatest=%s"
              .formatted(keyBytes, Long.BYTES, KEY_BYTES_MAX));
    }
    NodeLayout layout =
        keyBytes == Long.BYTES ? new WordLayout(nodeBytes) : new WideLayout(nodeBytes, keyBytes);
    if (layout.capacity < CAPACITY_MIN) {
      throw new IllegalArgumentException(
          "a node has room for too few entries: nodeBytes=%s, keyBytes=%s, entries=%s, least=%s"
              .formatted(nodeBytes, keyBytes, layout.capacity, CAPACITY_MIN));
    }
    return layout;
  }

  /** Returns the size of a node. */
  public final int nodeBytes() {
    return nodeBytes;
  }

  /** Returns the length of a key in bytes. */
  public final int keyBytes() {
    return keyBytes;
  }

  /** Returns the length of a key in words. */
  public final int keyWords() {
    return keyBytes / Long.BYTES;
  }

  /** Returns the offset of a node in an array of nodes. */
  public final long offset(int number) {
    return (long) number * nodeBytes;
  }

  /** Returns the number of the node at an offset in an array of nodes. */
  public final int number(long offset) {
    return (int) (offset / nodeBytes);
  }

  /** Returns the size of the image in bytes: what a READ of a node transfers. */
  public final int imageBytes() {
    return nodeBytes - IMAGE;
  }

  /** READs the image at an address into the node at an offset of the worker's memory. */
  public final void readImage(Worker worker, long address, long node) {
    worker.read(address + IMAGE, node + IMAGE, imageBytes());
  }

  /** WRITEs a node's sealed image to its address in the pool. */
  public final void writeImage(Worker worker, long node) {
    worker.write(address(worker.memory(), node) + IMAGE, node + IMAGE, imageBytes());
  }

  /** Adds the READ of an image to a list. */
  public final VerbList readImage(VerbList list, long address, long node) {
    return list.read(address + IMAGE, node + IMAGE, imageBytes());
  }

  /** Adds the WRITE of a node's sealed image to a list. */
  public final VerbList writeImage(VerbList list, long address, long node) {
    return list.write(address + IMAGE, node + IMAGE, imageBytes());
  }

  /** Copies a node's image into another node. */
  public final void copyImage(MemorySegment memory, long source, long target) {
    MemorySegment.copy(memory, source + IMAGE, memory, target + IMAGE, imageBytes());
  }

  /** Returns the capacity of a node: entries of a leaf, children of an inner node. */
  public final int capacity() {
    return capacity;
  }

  /** Returns the global address that the node says it has. */
  public static long address(MemorySegment memory, long node) {
    return memory.get(LONG, node + ADDRESS);
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

  // Keys outside nodes.

  /** Copies a key to a place. */
  public abstract long keep(MemorySegment memory, long key, long place);

  /** Computes the greatest key below a key that is not the least of all. */
  public abstract long before(MemorySegment memory, long key, long place);

  /** Computes the least key above a key that is not the greatest of all. */
  public abstract long after(MemorySegment memory, long key, long place);

  /** Makes the key with this first word, whose other words are all {@code rest}. */
  public abstract long make(MemorySegment memory, long first, long rest, long place);

  /** Makes the least key with this first word. */
  public final long least(MemorySegment memory, long first, long place) {
    return make(memory, first, Long.MIN_VALUE, place);
  }

  /** Makes the greatest key with this first word. */
  public final long greatest(MemorySegment memory, long first, long place) {
    return make(memory, first, Long.MAX_VALUE, place);
  }

  /** Returns the first word of a key. */
  public abstract long first(MemorySegment memory, long key);

  /** Returns whether all words of a key but the first are {@code rest}. */
  public abstract boolean endsWith(MemorySegment memory, long key, long rest);

  /** Returns whether the keys from {@code low} to {@code high} are all there are. */
  public final boolean isEverything(MemorySegment memory, long low, long high) {
    return first(memory, low) == Long.MIN_VALUE
        && first(memory, high) == Long.MAX_VALUE
        && endsWith(memory, low, Long.MIN_VALUE)
        && endsWith(memory, high, Long.MAX_VALUE);
  }

  /** Compares two keys. */
  public abstract int compare(MemorySegment memory, long one, long other);

  /** Copies the words of a key out of the memory of the nodes, to an array from {@code at} on. */
  public abstract void toWords(MemorySegment memory, long key, long[] words, int at);

  /** Copies the words of a key into the memory of the nodes. */
  public abstract long ofWords(long[] words, int at, MemorySegment memory, long place);

  /** Writes a key to where others find it by {@link #load}. */
  public abstract void store(MemorySegment memory, long place, long key);

  /** Returns the key that was stored at a place. */
  public abstract long load(MemorySegment memory, long place);

  /** Returns a layout of the same nodes, for which keys outside nodes are in another memory. */
  public abstract NodeLayout withKeysIn(MemorySegment others);

  /** Returns a key as text, for a message. */
  public abstract String text(MemorySegment memory, long key);

  // Keys of nodes.

  /** Returns the least key that the node covers. */
  public abstract long low(MemorySegment memory, long node);

  /** Returns the greatest key that the node covers. */
  public abstract long high(MemorySegment memory, long node);

  /** Returns whether the node covers a key. */
  public abstract boolean covers(MemorySegment memory, long node, long key);

  /** Sets the least key that the node covers. */
  public abstract void setLow(MemorySegment memory, long node, long low);

  /** Sets the greatest key that the node covers. */
  public abstract void setHigh(MemorySegment memory, long node, long high);

  /** Sets the greatest key that the node covers to the one before another. */
  public abstract void setHighBefore(MemorySegment memory, long node, long key);

  /** Returns a key. */
  public abstract long key(MemorySegment memory, long node, int index);

  /** Sets a key. */
  public abstract void setKey(MemorySegment memory, long node, int index, long key);

  /** Returns a slot: a leaf's value, or an inner node's pointer. */
  public final long slot(MemorySegment memory, long node, int index) {
    return memory.get(LONG, node + slots + ((long) index << 3));
  }

  /** Sets a slot. */
  public final void setSlot(MemorySegment memory, long node, int index, long slot) {
    memory.set(LONG, node + slots + ((long) index << 3), slot);
  }

  /** Makes an empty node. */
  public final void format(
      MemorySegment memory, long node, long address, int level, long low, long high) {
    memory.set(LONG, node + ADDRESS, address);
    setLow(memory, node, low);
    setHigh(memory, node, high);
    memory.set(LONG, node + DESCRIPTOR, MAGIC | ((long) level << LEVEL_SHIFT));
  }

  /**
   * Adds an entry behind the last. The node must not be full, and the key must be above all others.
   */
  public final void append(MemorySegment memory, long node, long key, long slot) {
    int count = count(memory, node);
    setKey(memory, node, count, key);
    setSlot(memory, node, count, slot);
    setCount(memory, node, count + 1);
  }

  /**
   * Inserts an entry at {@code index}; entries from there on move up by one. The node must not be
   * full.
   */
  public final void insert(MemorySegment memory, long node, int index, long key, long slot) {
    int count = count(memory, node);
    copyEntries(memory, node, index, node, index + 1, count - index);
    setKey(memory, node, index, key);
    setSlot(memory, node, index, slot);
    setCount(memory, node, count + 1);
  }

  /** Deletes an entry; the entries behind it move down by one. */
  public final void delete(MemorySegment memory, long node, int index) {
    int count = count(memory, node);
    copyEntries(memory, node, index + 1, node, index, count - index - 1);
    setCount(memory, node, count - 1);
  }

  /** Copies entries from one node into another, or within one; changes neither count. */
  public final void copyEntries(
      MemorySegment memory, long source, int from, long target, int to, int entries) {
    MemorySegment.copy(
        memory, keyAt(source, from), memory, keyAt(target, to), (long) entries * keyBytes);
    MemorySegment.copy(
        memory,
        source + slots + ((long) from << 3),
        memory,
        target + slots + ((long) to << 3),
        (long) entries << 3);
  }

  /** Moves the upper half of a node's entries into a new sibling, and sets the fences of both. */
  public final void split(MemorySegment memory, long node, long sibling, long siblingAddress) {
    int count = count(memory, node);
    int kept = count / 2;
    long low = separator(memory, node, kept, low(memory, sibling));
    format(memory, sibling, siblingAddress, level(memory, node), low, high(memory, node));
    copyEntries(memory, node, kept, sibling, 0, count - kept);
    setCount(memory, sibling, count - kept);
    setCount(memory, node, kept);
    setHighBefore(memory, node, low);
  }

  /** Cuts off what a node has below and above fences that lie within its own. */
  public final void narrow(MemorySegment memory, long node, long low, long high) {
    int end = floor(memory, node, high) + 1;
    int start = floor(memory, node, low);
    start = holds(memory, node, start, low) ? start : start + 1;
    copyEntries(memory, node, start, node, 0, end - start);
    setCount(memory, node, end - start);
    setLow(memory, node, low);
    setHigh(memory, node, high);
  }

  /**
   * Returns a key that separates an entry from the one before it. In a leaf it is the least with
   * its first word, if it can be, so that a range of keys can begin there.
   *
   * @param index of the entry, above 0
   */
  public abstract long separator(MemorySegment memory, long node, int index, long place);

  /** Copies entries out of a node, to the start of two arrays: the words of keys, and values. */
  public final void copyOut(
      MemorySegment memory, long node, int from, int entries, long[] words, long[] values) {
    MemorySegment.copy(memory, LONG, keyAt(node, from), words, 0, entries * keyWords());
    MemorySegment.copy(memory, LONG, node + slots + ((long) from << 3), values, 0, entries);
  }

  /** Returns the place of a key of a node. */
  final long keyAt(long node, int index) {
    return node + keys + (long) index * keyBytes;
  }

  /**
   * Returns the index of the greatest key at or below {@code key}, -1 if there is none. If the node
   * changes meanwhile, returns any legal index of the node, or -1.
   */
  public abstract int floor(MemorySegment memory, long node, long descriptor, long key);

  /** Returns the index of the greatest key at or below {@code key}, -1 if there is none. */
  public final int floor(MemorySegment memory, long node, long key) {
    return floor(memory, node, descriptor(memory, node), key);
  }

  /** Returns whether the key at an index that {@link #floor} returned is the key itself. */
  public abstract boolean holds(MemorySegment memory, long node, int index, long key);

  /** Computes the greatest key that an inner node's child covers. */
  public final long highOfChild(MemorySegment memory, long node, int index, long place) {
    return index + 1 < count(memory, node)
        ? before(memory, key(memory, node, index + 1), place)
        : keep(memory, high(memory, node), place);
  }

  // Checksums.

  /** Computes the checksum of a node's current image. */
  public final long computeChecksum(MemorySegment memory, long node) {
    long descriptor = descriptor(memory, node);
    int count = Math.min(countOf(descriptor), capacity);
    return address(memory, node) * Multipliers.ADDRESS
        + descriptor * Multipliers.DESCRIPTOR
        + sumOfFences(memory, node)
        + sumOfEntries(memory, node, count);
  }

  abstract long sumOfFences(MemorySegment memory, long node);

  abstract long sumOfEntries(MemorySegment memory, long node, int count);

  /** Returns the multiplier of a slot in the checksum. */
  abstract long slotMultiplier(int index);

  /**
   * Computes the checksum, stores it and returns it. To be called before an image is written to the
   * pool.
   */
  public final long seal(MemorySegment memory, long node) {
    long checksum = computeChecksum(memory, node);
    memory.set(LONG, node + CHECKSUM, checksum);
    return checksum;
  }

  /** Updates a leaf's checksum after one value changed. */
  public final void resealValue(
      MemorySegment memory, long node, int index, long before, long after) {
    long checksum = checksum(memory, node);
    memory.set(LONG, node + CHECKSUM, checksum + (after - before) * slotMultiplier(index));
  }
}
