package pando.baselines.rolex;

import java.util.Arrays;

/** Models in the order of keys, in columns. Grows. */
final class ModelArrays {
  private static final int COLUMNS = 4;

  long[] lows;
  long[] places;
  long[] lines;
  long[] stamps;
  private int count;

  /**
   * Creates an empty list.
   *
   * @param capacity models that it has room for before it grows
   */
  ModelArrays(int capacity) {
    this.lows = new long[capacity];
    this.places = new long[capacity];
    this.lines = new long[capacity];
    this.stamps = new long[capacity];
  }

  int count() {
    return count;
  }

  void clear() {
    count = 0;
  }

  void add(long low, long place, long line, long stamp) {
    if (count == lows.length) {
      lows = Arrays.copyOf(lows, 2 * count);
      places = Arrays.copyOf(places, 2 * count);
      lines = Arrays.copyOf(lines, 2 * count);
      stamps = Arrays.copyOf(stamps, 2 * count);
    }
    lows[count] = low;
    places[count] = place;
    lines[count] = line;
    stamps[count++] = stamp;
  }

  /** Adds models of another list. */
  void addAll(ModelArrays other, int from, int to) {
    for (int i = from; i < to; i++) {
      add(other.lows[i], other.places[i], other.lines[i], other.stamps[i]);
    }
  }

  /** Returns a copy of some models, without room for more. */
  ModelArrays slice(int from, int to) {
    ModelArrays slice = new ModelArrays(to - from);
    slice.addAll(this, from, to);
    return slice;
  }

  /** Returns the last model whose least key is not above a key, -1 where there is none. */
  int find(long key) {
    int found = Arrays.binarySearch(lows, 0, count, key);
    return found >= 0 ? found : -found - 2;
  }

  /** Returns about how many bytes it takes. */
  long bytes() {
    return (long) COLUMNS * Long.BYTES * lows.length;
  }
}
