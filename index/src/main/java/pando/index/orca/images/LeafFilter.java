package pando.index.orca.images;

import java.util.Arrays;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.parts.KeyHash;

/**
 * The filter of a leaf: one byte of the hash of each of its keys, in the order of its slots, 0 for
 * a void slot. The eight bytes of a segment are a word. They show of nearly every absent key that
 * the segment does not have it.
 */
public final class LeafFilter {
  /** The word of a segment of which nothing is known. */
  public static final long UNKNOWN = 0;

  private static final long ONES = 0x0101_0101_0101_0101L;
  private static final long HIGH_BITS = ONES << 7;

  private final long[] words = new long[LeafLayout.SEGMENTS_MAX];

  /** Removes all keys. */
  public void clear() {
    Arrays.fill(words, UNKNOWN);
  }

  /**
   * Adds a key.
   *
   * @param place of its slot: segment * {@link LeafLayout#SLOTS} + slot
   */
  public void add(long key, int place) {
    words[place / LeafLayout.SLOTS] |= hash(key) << (place % LeafLayout.SLOTS * Byte.SIZE);
  }

  /** Returns the word of a segment. */
  public long word(int segment) {
    return words[segment];
  }

  /** Returns whether a segment with this word may have a key. */
  public static boolean mayHave(long word, long key) {
    // A byte that is the key's is 0 now, and the lowest such byte borrows.
    long differences = word ^ (hash(key) * ONES);
    return word == UNKNOWN || ((differences - ONES) & ~differences & HIGH_BITS) != 0;
  }

  /** Returns 1 to 255. */
  private static long hash(long key) {
    return (((KeyHash.of(key) >>> Integer.SIZE) * 255) >>> Integer.SIZE) + 1;
  }
}
