package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import pando.baselines.blink.SortedEntries;
import pando.fabric.memory.Words;

/**
 * The bytes of a leaf: a header, and groups of three lines (DEFT section 4.2).
 *
 * <pre>
 *  line 0        1        2          3       4        5          6            15
 *       +--------+--------+----------+-------+--------+----------+-------+-- -------+
 *       | header | front  | overflow | back  | front  | overflow | back  | ...      |
 *       +--------+--------+----------+-------+--------+----------+-------+-- -------+
 *                |&lt;---- bucket 0 ----&gt;|       |&lt;---- bucket 2 ----&gt;|
 *                         |&lt;---- bucket 1 ----&gt;|       |&lt;---- bucket 3 ----&gt;|
 *
 *          0           8       16      24        32      40        48      56        64
 *         +-----------+-------+-------+---------+-------+---------+-------+---------+
 *  line   | line word | fence | key 0 | value 0 | key 1 | value 1 | key 2 | value 2 |
 *         +-----------+-------+-------+---------+-------+---------+-------+---------+
 *
 *             63     62       61    58 57                              0
 *            +------+--------+--------+---------------------------------+
 *  line word | leaf | hidden | line   | stamp (data version)            |
 *            +------+--------+--------+---------------------------------+
 * </pre>
 *
 * <p>A key belongs to a bucket by its hash. A bucket is two adjacent lines: its own line, and the
 * overflow line that it shares with a neighbouring bucket. So one READ of 128 bytes brings every
 * entry that can hold the key. Front and back lines have the leaf's low fence, overflow lines its
 * high fence, so those 128 bytes also show whether the leaf covers the key. All lines of a leaf
 * have the stamp of the last WRITE of the whole leaf, which is never used again: if the stamps of
 * two lines differ, the READ was torn. A hidden leaf is not part of the tree: it is a new leaf
 * whose left neighbour is not yet written, or was merged away.
 *
 * <p>An unused entry holds a key that belongs to another group. So every key and value of 64 bits
 * is legal, and one CAS of 16 bytes takes and fills an entry. Line words and fences cost a quarter
 * of the room: a leaf of 1 KB has 45 entries. The published code has 60; its values have 60 bits,
 * and 0 means no value.
 *
 * <p>In sorted leaves, entries are in key order from line 1 on, and the header has their count.
 * Line words and fences are the same. A lookup READs the whole leaf.
 */
final class DeftLeafLayout {
  static final int LINE_BYTES = 64;
  static final int PAIR_BYTES = 2 * LINE_BYTES;

  private static final int LINE_ENTRIES = 3;
  private static final int GROUP_LINES = 3;
  private static final int OVERFLOW = 1;
  private static final int GROUP_ENTRIES = LINE_ENTRIES * GROUP_LINES;
  private static final int BUCKET_ENTRIES = 2 * LINE_ENTRIES;

  private static final int FENCE = 8;
  private static final int ENTRIES = 16;
  static final int ENTRY_BYTES = 16;
  private static final int VALUE = 8;
  private static final int COUNT = 48;

  private static final long LEAF = 1L << 63;
  private static final long HIDDEN = 1L << 62;
  private static final int LINE_SHIFT = 58;
  private static final int LINE_MASK = 0xF;

  /** Number of bits of a stamp. */
  static final int STAMP_BITS = LINE_SHIFT;

  private static final long STAMP_MASK = (1L << STAMP_BITS) - 1;

  private final int nodeBytes;
  private final boolean hashed;
  private final int groups;

  /**
   * Two keys of different groups. An unused entry holds the one that does not belong to its group.
   */
  private final long unused;

  private final long otherUnused;

  /**
   * Creates the layout of leaves.
   *
   * @param nodeBytes size of a leaf in bytes, as {@link InnerLayout} allows
   * @param hashed whether leaves have hash buckets; else they are sorted
   */
  DeftLeafLayout(int nodeBytes, boolean hashed) {
    this.nodeBytes = nodeBytes;
    this.hashed = hashed;
    this.groups = (nodeBytes - LINE_BYTES) / (GROUP_LINES * LINE_BYTES);
    this.unused = 0;
    long other = 1;
    while (groupOf(other) == groupOf(unused)) {
      other++;
    }
    this.otherUnused = other;
  }

  boolean isHashed() {
    return hashed;
  }

  /** Returns the maximum number of entries of a leaf. */
  int capacity() {
    return groups * GROUP_ENTRIES;
  }

  // Buckets.

  private int bucketOf(long key) {
    long mixed = (key ^ (key >>> 32)) * 0x9FB21C651E98DF25L;
    mixed = (mixed ^ (mixed >>> 35)) * 0x9FB21C651E98DF25L;
    mixed ^= mixed >>> 28;
    return (int) (((mixed >>> 32) * (2L * groups)) >>> 32);
  }

  private int groupOf(long key) {
    return bucketOf(key) / 2;
  }

  /** Returns the offset in a leaf of the bytes that can hold a key. */
  int pairOffset(long key) {
    return hashed ? LINE_BYTES * firstLineOf(bucketOf(key)) : 0;
  }

  /**
   * Returns the number of bytes of a leaf that can hold a key: a pair of lines, or all of a sorted
   * leaf.
   */
  int pairBytes() {
    return hashed ? PAIR_BYTES : nodeBytes;
  }

  private static int firstLineOf(int bucket) {
    return 1 + bucket / 2 * GROUP_LINES + bucket % 2;
  }

  /**
   * Returns the index of the entry at a place of a bucket, from 0. Entries are used in the order of
   * places.
   */
  private static int entryOfBucket(int bucket, int place) {
    int line = firstLineOf(bucket);
    // The bucket's own line comes first: the second one of an odd bucket. Then the overflow line.
    int own = bucket % 2 == 0 ? line : line + 1;
    int shared = bucket % 2 == 0 ? line + 1 : line;
    return ((place < LINE_ENTRIES ? own : shared) - 1) * LINE_ENTRIES + place % LINE_ENTRIES;
  }

  /** Returns the key that entry {@code index} holds while it is unused. */
  long unusedKey(int index) {
    return groupOf(unused) == index / GROUP_ENTRIES ? otherUnused : unused;
  }

  /** Returns whether the buckets of two keys have a line in common. */
  boolean shareLines(long key, long other) {
    return groupOf(key) == groupOf(other);
  }

  // Lines.

  /** Returns whether the lines that can hold a key belong to a leaf and have the same stamp. */
  boolean isPairWhole(MemorySegment memory, long leaf, long key) {
    if (!hashed) {
      return isWhole(memory, leaf);
    }
    int line = firstLineOf(bucketOf(key));
    long word = lineWord(memory, leaf, line);
    return isWordOf(word, line) && lineWord(memory, leaf, line + 1) == nextLineWord(word);
  }

  /** Returns whether at least one of the two lines that can hold a key belongs to a leaf. */
  boolean isPairOfLeaf(MemorySegment memory, long leaf, long key) {
    int line = hashed ? firstLineOf(bucketOf(key)) : 0;
    return (lineWord(memory, leaf, line) | lineWord(memory, leaf, line + 1)) < 0;
  }

  /** Returns whether the header has the same stamp as the lines that can hold a key. */
  boolean isHeaderOfPair(MemorySegment memory, long leaf, long key) {
    long lineBits = (long) LINE_MASK << LINE_SHIFT;
    return lineWord(memory, leaf, 0) == (pairWord(memory, leaf, key) & ~lineBits);
  }

  /** Returns whether all lines belong to a leaf and have the same stamp. */
  boolean isWhole(MemorySegment memory, long leaf) {
    long expected = lineWord(memory, leaf, 0);
    boolean whole = isWordOf(expected, 0);
    for (int line = 1; line < lines(); line++) {
      expected = nextLineWord(expected);
      whole &= lineWord(memory, leaf, line) == expected;
    }
    return whole;
  }

  private int lines() {
    return nodeBytes / LINE_BYTES;
  }

  private static long lineWord(MemorySegment memory, long leaf, int line) {
    return Words.get(memory, leaf + (long) line * LINE_BYTES);
  }

  private static boolean isWordOf(long word, int line) {
    return word < 0 && ((word >>> LINE_SHIFT) & LINE_MASK) == line;
  }

  private static long nextLineWord(long word) {
    return word + (1L << LINE_SHIFT);
  }

  private long pairWord(MemorySegment memory, long leaf, long key) {
    return lineWord(memory, leaf, hashed ? firstLineOf(bucketOf(key)) : 0);
  }

  /** Returns whether the whole lines that can hold a key belong to a hidden leaf. */
  boolean isPairHidden(MemorySegment memory, long leaf, long key) {
    return isHidden(pairWord(memory, leaf, key));
  }

  /** Returns whether a leaf with this line word is hidden. */
  static boolean isHidden(long word) {
    return (word & HIDDEN) != 0;
  }

  /** Returns the low fence, from the lines that can hold a key. */
  long lowOfPair(MemorySegment memory, long leaf, long key) {
    if (!hashed) {
      return NodeHeader.low(memory, leaf);
    }
    int bucket = bucketOf(key);
    return fence(memory, leaf, firstLineOf(bucket) + bucket % 2);
  }

  /** Returns the high fence, from the lines that can hold a key. */
  long highOfPair(MemorySegment memory, long leaf, long key) {
    if (!hashed) {
      return NodeHeader.high(memory, leaf);
    }
    int bucket = bucketOf(key);
    return fence(memory, leaf, firstLineOf(bucket) + 1 - bucket % 2);
  }

  private static long fence(MemorySegment memory, long leaf, int line) {
    return Words.get(memory, leaf + (long) line * LINE_BYTES + FENCE);
  }

  /**
   * Stores the stamp and the header's fences in every line. Called before a whole leaf is written.
   */
  void seal(MemorySegment memory, long leaf, long stamp, boolean hidden) {
    long word = LEAF | (hidden ? HIDDEN : 0) | (stamp & STAMP_MASK);
    long low = NodeHeader.low(memory, leaf);
    long high = NodeHeader.high(memory, leaf);
    Words.set(memory, leaf, word);
    for (int line = 1; line < lines(); line++) {
      word = nextLineWord(word);
      long at = leaf + (long) line * LINE_BYTES;
      Words.set(memory, at, word);
      Words.set(memory, at + FENCE, (line - 1) % GROUP_LINES == OVERFLOW ? high : low);
    }
  }

  /** Shows a hidden leaf. */
  void show(MemorySegment memory, long leaf) {
    for (int line = 0; line < lines(); line++) {
      Words.set(memory, leaf + (long) line * LINE_BYTES, lineWord(memory, leaf, line) & ~HIDDEN);
    }
  }

  /** Returns whether the fences of every line are those of the header. */
  boolean areFencesRepeated(MemorySegment memory, long leaf) {
    long low = NodeHeader.low(memory, leaf);
    long high = NodeHeader.high(memory, leaf);
    for (int line = 1; line < lines(); line++) {
      if (fence(memory, leaf, line) != ((line - 1) % GROUP_LINES == OVERFLOW ? high : low)) {
        return false;
      }
    }
    return true;
  }

  /** Formats an empty leaf. */
  void format(MemorySegment memory, long leaf, long address, long low, long high, long sibling) {
    memory.asSlice(leaf, nodeBytes).fill((byte) 0);
    NodeHeader.setFences(memory, leaf, low, high);
    NodeHeader.setSibling(memory, leaf, sibling);
    NodeHeader.setAddress(memory, leaf, address);
    clearEntries(memory, leaf);
  }

  // Entries, numbered from 0 in the order of their offsets.

  /** Returns the offset of an entry in its leaf: of its key, which the value follows. */
  static int position(int index) {
    return LINE_BYTES
        + index / LINE_ENTRIES * LINE_BYTES
        + ENTRIES
        + index % LINE_ENTRIES * ENTRY_BYTES;
  }

  /** Returns the offset of an entry's value in its leaf. */
  static int valuePosition(int index) {
    return position(index) + VALUE;
  }

  static long key(MemorySegment memory, long leaf, int index) {
    return Words.get(memory, leaf + position(index));
  }

  static long value(MemorySegment memory, long leaf, int index) {
    return Words.get(memory, leaf + valuePosition(index));
  }

  static void setValue(MemorySegment memory, long leaf, int index, long value) {
    Words.set(memory, leaf + valuePosition(index), value);
  }

  private static void put(MemorySegment memory, long leaf, int index, long key, long value) {
    Words.set(memory, leaf + position(index), key);
    Words.set(memory, leaf + valuePosition(index), value);
  }

  private boolean isPresent(MemorySegment memory, long leaf, int index) {
    return hashed ? key(memory, leaf, index) != unusedKey(index) : index < count(memory, leaf);
  }

  /** Returns the number of entries of a sorted leaf. */
  private int count(MemorySegment memory, long leaf) {
    return Math.clamp(Words.get(memory, leaf + COUNT), 0, capacity());
  }

  private void setCount(MemorySegment memory, long leaf, int count) {
    Words.set(memory, leaf + COUNT, count);
  }

  /** Returns the index of a key's entry, -1 if there is none. */
  int find(MemorySegment memory, long leaf, long key) {
    if (!hashed) {
      int index = countBelow(memory, leaf, key);
      return index < count(memory, leaf) && key(memory, leaf, index) == key ? index : -1;
    }
    int bucket = bucketOf(key);
    for (int place = 0; place < BUCKET_ENTRIES; place++) {
      int index = entryOfBucket(bucket, place);
      if (key(memory, leaf, index) == key) {
        return index;
      }
    }
    return -1;
  }

  private int countBelow(MemorySegment memory, long leaf, long key) {
    int count = count(memory, leaf);
    int below = 0;
    while (below < count && key(memory, leaf, below) < key) {
      below++;
    }
    return below;
  }

  /**
   * Returns the index of the unused entry that a key takes, -1 if its bucket is full or leaves are
   * sorted. All sessions take the entries of a bucket in the same order, so that two that add the
   * same key take the same entry.
   */
  int findUnused(MemorySegment memory, long leaf, long key) {
    if (!hashed) {
      return -1;
    }
    int bucket = bucketOf(key);
    for (int place = 0; place < BUCKET_ENTRIES; place++) {
      int index = entryOfBucket(bucket, place);
      if (!isPresent(memory, leaf, index)) {
        return index;
      }
    }
    return -1;
  }

  /** Removes all entries of a leaf. */
  void clearEntries(MemorySegment memory, long leaf) {
    setCount(memory, leaf, 0);
    for (int index = 0; hashed && index < capacity(); index++) {
      put(memory, leaf, index, unusedKey(index), 0);
    }
  }

  /** Removes an entry. */
  void remove(MemorySegment memory, long leaf, int index) {
    if (hashed) {
      Words.set(memory, leaf + position(index), unusedKey(index));
      return;
    }
    int count = count(memory, leaf);
    for (int i = index; i < count - 1; i++) {
      put(memory, leaf, i, key(memory, leaf, i + 1), value(memory, leaf, i + 1));
    }
    setCount(memory, leaf, count - 1);
  }

  /** Adds the entry of a key that is not in the leaf; returns whether there was room. */
  boolean add(MemorySegment memory, long leaf, long key, long value) {
    if (hashed) {
      int index = findUnused(memory, leaf, key);
      if (index >= 0) {
        put(memory, leaf, index, key, value);
      }
      return index >= 0;
    }
    int count = count(memory, leaf);
    if (count == capacity()) {
      return false;
    }
    int at = countBelow(memory, leaf, key);
    for (int i = count; i > at; i--) {
      put(memory, leaf, i, key(memory, leaf, i - 1), value(memory, leaf, i - 1));
    }
    put(memory, leaf, at, key, value);
    setCount(memory, leaf, count + 1);
    return true;
  }

  /** Returns the number of entries in use. */
  int entries(MemorySegment memory, long leaf) {
    int entries = 0;
    for (int index = 0; index < capacity(); index++) {
      entries += isPresent(memory, leaf, index) ? 1 : 0;
    }
    return entries;
  }

  /**
   * Copies the entries within a range of keys, both ends inclusive, in key order; returns their
   * number. A key can be there twice, if it was removed and added again while the leaf was READ;
   * then only one entry is copied.
   *
   * @param keys has room for {@link #capacity()}
   * @param values has room for {@link #capacity()}
   */
  int copySorted(MemorySegment memory, long leaf, long from, long to, long[] keys, long[] values) {
    int copied = 0;
    for (int index = 0; index < capacity(); index++) {
      long key = key(memory, leaf, index);
      if (key >= from && key <= to && isPresent(memory, leaf, index)) {
        copied = SortedEntries.insert(keys, values, copied, key, value(memory, leaf, index));
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
    for (int index = 0; index < capacity(); index++) {
      long found = key(memory, leaf, index);
      boolean beyond = down ? found > key : found < key;
      boolean nearer = best < 0 || (down ? found > nearest : found < nearest);
      if (!beyond && nearer && isPresent(memory, leaf, index)) {
        best = index;
        nearest = found;
      }
    }
    return best;
  }

  /** Replaces the values of the entries that can hold a key by those of a second READ. */
  void takeValues(MemorySegment memory, long leaf, long key, long again) {
    int line = hashed ? firstLineOf(bucketOf(key)) : 1;
    int end = hashed ? line + 2 : lines();
    for (int index = (line - 1) * LINE_ENTRIES; index < (end - 1) * LINE_ENTRIES; index++) {
      setValue(memory, leaf, index, value(memory, again, index));
    }
  }

  /** Returns whether all keys in use lie between the fences, and in their buckets. */
  boolean areKeysInPlace(MemorySegment memory, long leaf) {
    long low = NodeHeader.low(memory, leaf);
    long high = NodeHeader.high(memory, leaf);
    for (int index = 0; index < capacity(); index++) {
      if (isPresent(memory, leaf, index)) {
        long key = key(memory, leaf, index);
        if (key < low || key > high || (hashed && !isInBucket(index, key))) {
          return false;
        }
      }
    }
    return true;
  }

  private boolean isInBucket(int index, long key) {
    int line = 1 + index / LINE_ENTRIES;
    int first = firstLineOf(bucketOf(key));
    return line == first || line == first + 1;
  }
}
