package pando.baselines.rolex;

import java.util.Arrays;

/**
 * Finds the page of a key by models trained on the smallest keys of all pages, as the paper's upper
 * model finds the model of a key. Immutable.
 */
final class UpperModel {
  private static final int EPSILON = 8;
  private static final double MARGIN = 0.01;
  private static final int POINTS_MAX = 1 << 14;

  private final long[] smallest;

  /** For each line: the first page that it stands for, that page's smallest key, and itself. */
  private final int[] firsts;

  private final long[] lows;
  private final long[] lines;

  /**
   * Trains on the smallest keys of pages.
   *
   * @param smallest ascending, at least one
   */
  UpperModel(long[] smallest) {
    this.smallest = smallest;
    int[] startOf = new int[smallest.length];
    long[] trained = new long[smallest.length];
    Trainer trainer = new Trainer(Math.min(smallest.length, POINTS_MAX));
    int count = 0;
    for (int from = 0; from < smallest.length; count++) {
      startOf[count] = from;
      from += trainer.fit(smallest[from], smallest, from, smallest.length, 1, EPSILON - MARGIN);
      trained[count] = trainer.line();
    }
    this.firsts = Arrays.copyOf(startOf, count);
    this.lines = Arrays.copyOf(trained, count);
    this.lows = new long[count];
    Arrays.setAll(lows, i -> smallest[firsts[i]]);
  }

  /** Returns the last page whose smallest key is not above a key, -1 where there is none. */
  int find(long key) {
    int line = floor(lows, 0, lows.length, key);
    if (line < 0) {
      return -1;
    }
    int first = firsts[line];
    int end = line + 1 < firsts.length ? firsts[line + 1] : smallest.length;
    double position = Math.min(Line.at(lines[line], lows[line], key), smallest.length);
    int from = Math.min(Math.max(first + (int) position - EPSILON - 1, first), end - 1);
    int to = Math.min(from + 2 * EPSILON + 3, end);
    return floor(smallest, from, to, key);
  }

  /** Returns about how many bytes it takes beside the smallest keys. */
  long bytes() {
    return lows.length * (2L * Long.BYTES + Integer.BYTES);
  }

  private static int floor(long[] keys, int from, int to, long key) {
    int found = Arrays.binarySearch(keys, from, to, key);
    return found >= 0 ? found : -found - 2;
  }
}
