package pando.client;

import java.util.Arrays;

/** Where each of some keys came first: a table with open addressing. Not thread-safe. */
final class FirstPlaces {
  private static final long GOLDEN_RATIO = 0x9E37_79B9_7F4A_7C15L;

  private final long[] keys;
  private final int[] places;
  private final int shift;

  /**
   * Creates an empty table.
   *
   * @param keysMax most keys
   */
  FirstPlaces(int keysMax) {
    int slots = Integer.highestOneBit(2 * keysMax - 1) << 1;
    keys = new long[slots];
    places = new int[slots];
    shift = Long.SIZE - Integer.numberOfTrailingZeros(slots);
    clear();
  }

  void clear() {
    Arrays.fill(places, -1);
  }

  /** Returns the place that a key has already, or gives it one and returns -1. */
  int put(long key, int place) {
    int slot = (int) ((key * GOLDEN_RATIO) >>> shift);
    while (places[slot] >= 0) {
      if (keys[slot] == key) {
        return places[slot];
      }
      slot = (slot + 1) & (places.length - 1);
    }
    keys[slot] = key;
    places[slot] = place;
    return -1;
  }
}
