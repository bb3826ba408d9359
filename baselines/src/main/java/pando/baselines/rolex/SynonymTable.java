package pando.baselines.rolex;

import java.util.concurrent.atomic.AtomicLongArray;
import pando.fabric.GlobalAddress;

/**
 * The synonym leaves that a compute server knows (ROLEX's synonym leaf table, as far as it is
 * cached), so that they are read with the leaves they stand behind. A hint: a pair may be old or,
 * as its two words are not written atomically, of two leaves. The reader detects that by the
 * synonym leaf's checksum and fences.
 *
 * <p>Thread-safe. Several leaves share a place of the table; the last one stored stays.
 */
final class SynonymTable {
  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;
  private static final int WORDS_TO_A_PAIR = 2;

  private final AtomicLongArray words;
  private final int shift;

  /**
   * Creates an empty table.
   *
   * @param pairs room for leaves and their synonym leaves, a power of two, at least 2
   */
  SynonymTable(int pairs) {
    words = new AtomicLongArray(WORDS_TO_A_PAIR * pairs);
    shift = Long.SIZE - Integer.numberOfTrailingZeros(pairs);
  }

  /** Returns the synonym leaf that is known behind a leaf, {@code NULL} if none is. */
  long of(long leaf) {
    int place = place(leaf);
    return words.get(place) == leaf ? words.get(place + 1) : GlobalAddress.NULL;
  }

  /** Takes note of a synonym leaf, or that there is none. */
  void set(long leaf, long synonym) {
    int place = place(leaf);
    if (synonym != GlobalAddress.NULL) {
      words.set(place, leaf);
      words.set(place + 1, synonym);
    } else if (words.get(place) == leaf) {
      words.set(place, 0);
    }
  }

  /** Returns how many bytes it takes. */
  long bytes() {
    return (long) words.length() * Long.BYTES;
  }

  private int place(long leaf) {
    return WORDS_TO_A_PAIR * (int) ((leaf * SPREAD) >>> shift);
  }
}
