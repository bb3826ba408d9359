package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import pando.fabric.memory.Words;

/**
 * The bytes of a leaf or a synonym leaf, which have the same layout.
 *
 * <pre>
 *    0  checksum  8   over the leaf's identity and all that follows, as far as it is used
 *    8  low       8   least key that the leaf covers
 *   16  high      8   greatest key that it covers
 *   24  link      8   synonym leaf behind it 58 | entries 6
 *   32  entries  16 for each of delta: key 8, value 8; in order of keys
 * </pre>
 *
 * <p>The <i>identity</i> of a leaf combines its address and the stamp of its model's leaves, which
 * no other model ever has. A leaf that was replaced is <i>retired</i>: its checksum becomes a
 * number that no checksum is. Later bytes at its address have another identity. So a session with
 * an old model detects that the leaf is gone.
 */
final class RolexLeafLayout {
  /** Entries that a leaf can have at most, as many as its link word can count. */
  static final int DELTA_MAX = 60;

  /** Bytes of a leaf before its entries. */
  static final int HEADER_BYTES = 32;

  static final int CHECKSUM = 0;

  /** In place of the checksum of a leaf that was replaced. */
  static final long RETIRED = 1;

  private static final int LOW = 8;
  private static final int HIGH = 16;
  private static final int LINK = 24;
  private static final int ENTRY_BYTES = 16;
  private static final int VALUE = 8;
  private static final long COUNT_MASK = 63;
  private static final long IDENTITY_MULTIPLIER;
  private static final long[] MULTIPLIERS;

  static {
    // Odd multipliers without a pattern: with one, words that change places could keep the sum.
    SplittableRandom random = new SplittableRandom(0x801E_81EA_F000_0001L);
    MULTIPLIERS =
        random
            .longs((HEADER_BYTES + DELTA_MAX * ENTRY_BYTES) / Long.BYTES)
            .map(m -> m | 1)
            .toArray();
    IDENTITY_MULTIPLIER = random.nextLong() | 1;
  }

  private final int delta;

  /** Creates the layout of leaves of {@code delta} entries. */
  RolexLeafLayout(int delta) {
    this.delta = delta;
  }

  int delta() {
    return delta;
  }

  /** Returns the size of a leaf. */
  int bytes() {
    return HEADER_BYTES + delta * ENTRY_BYTES;
  }

  /** Makes an empty leaf. */
  static void format(MemorySegment memory, long leaf, long low, long high, long link) {
    Words.set(memory, leaf + LOW, low);
    Words.set(memory, leaf + HIGH, high);
    Words.set(memory, leaf + LINK, link);
  }

  static long low(MemorySegment memory, long leaf) {
    return Words.get(memory, leaf + LOW);
  }

  static long high(MemorySegment memory, long leaf) {
    return Words.get(memory, leaf + HIGH);
  }

  static boolean covers(MemorySegment memory, long leaf, long key) {
    return low(memory, leaf) <= key && key <= high(memory, leaf);
  }

  static int count(MemorySegment memory, long leaf) {
    return (int) (Words.get(memory, leaf + LINK) & COUNT_MASK);
  }

  /** Returns the address of the synonym leaf behind a leaf, {@code NULL} if there is none. */
  static long link(MemorySegment memory, long leaf) {
    return Words.get(memory, leaf + LINK) & ~COUNT_MASK;
  }

  static void setLink(MemorySegment memory, long leaf, long address) {
    Words.set(memory, leaf + LINK, address | count(memory, leaf));
  }

  static boolean isRetired(MemorySegment memory, long leaf) {
    return Words.get(memory, leaf + CHECKSUM) == RETIRED;
  }

  static void retire(MemorySegment memory, long leaf) {
    Words.set(memory, leaf + CHECKSUM, RETIRED);
  }

  /** Returns whether a leaf has no entry, nor a synonym leaf behind it. */
  static boolean isEmpty(MemorySegment memory, long leaf) {
    return Words.get(memory, leaf + LINK) == 0;
  }

  boolean isFull(MemorySegment memory, long leaf) {
    return count(memory, leaf) == delta;
  }

  static long key(MemorySegment memory, long leaf, int index) {
    return Words.get(memory, entry(leaf, index));
  }

  static long value(MemorySegment memory, long leaf, int index) {
    return Words.get(memory, entry(leaf, index) + VALUE);
  }

  static void setValue(MemorySegment memory, long leaf, int index, long value) {
    Words.set(memory, entry(leaf, index) + VALUE, value);
  }

  /** Returns the index of a key, or {@code -1 - index} where it would go. */
  static int find(MemorySegment memory, long leaf, long key) {
    int index = 0;
    int end = count(memory, leaf);
    while (index < end) {
      int middle = (index + end) >>> 1;
      long found = key(memory, leaf, middle);
      if (found == key) {
        return middle;
      }
      if (found < key) {
        index = middle + 1;
      } else {
        end = middle;
      }
    }
    return -1 - index;
  }

  /** Adds an entry before that of an index, in a leaf with room. */
  static void insert(MemorySegment memory, long leaf, int index, long key, long value) {
    int behind = count(memory, leaf) - index;
    long from = entry(leaf, index);
    MemorySegment.copy(memory, from, memory, from + ENTRY_BYTES, (long) behind * ENTRY_BYTES);
    Words.set(memory, from, key);
    Words.set(memory, from + VALUE, value);
    addToCount(memory, leaf, 1);
  }

  /** Adds an entry behind all others, in a leaf with room. */
  static void append(MemorySegment memory, long leaf, long key, long value) {
    insert(memory, leaf, count(memory, leaf), key, value);
  }

  static void delete(MemorySegment memory, long leaf, int index) {
    int behind = count(memory, leaf) - index - 1;
    long to = entry(leaf, index);
    MemorySegment.copy(memory, to + ENTRY_BYTES, memory, to, (long) behind * ENTRY_BYTES);
    addToCount(memory, leaf, -1);
  }

  private static void addToCount(MemorySegment memory, long leaf, int more) {
    Words.set(memory, leaf + LINK, Words.get(memory, leaf + LINK) + more);
  }

  /** Returns the bytes of a leaf that are used. */
  static int usedBytes(MemorySegment memory, long leaf) {
    return bytesTo(count(memory, leaf));
  }

  /** Returns the bytes of a leaf up to an entry, that one not included. */
  static int bytesTo(int index) {
    return HEADER_BYTES + index * ENTRY_BYTES;
  }

  /** Returns the identity of a leaf. */
  static long identity(long address, long stamp) {
    return address ^ stamp;
  }

  /** Stores the checksum of a leaf that has changed. */
  static void seal(MemorySegment memory, long leaf, long identity) {
    Words.set(memory, leaf + CHECKSUM, computeChecksum(memory, leaf, identity));
  }

  /** Returns whether a leaf has the given identity and is a consistent snapshot. */
  boolean isWhole(MemorySegment memory, long leaf, long identity) {
    return count(memory, leaf) <= delta
        && Words.get(memory, leaf + CHECKSUM) == computeChecksum(memory, leaf, identity);
  }

  private static long computeChecksum(MemorySegment memory, long leaf, long identity) {
    int bytes = usedBytes(memory, leaf);
    long sum = identity * IDENTITY_MULTIPLIER;
    for (int at = Long.BYTES; at < bytes; at += Long.BYTES) {
      sum += Words.get(memory, leaf + at) * MULTIPLIERS[at / Long.BYTES];
    }
    sum ^= sum >>> Integer.SIZE;
    // The lowest numbers are for leaves that are none, such as memory never written.
    return sum >>> 1 == 0 ? sum | 2 : sum;
  }

  private static long entry(long leaf, int index) {
    return leaf + HEADER_BYTES + (long) index * ENTRY_BYTES;
  }
}
