package pando.bench.keys;

import java.util.Arrays;
import pando.bench.records.Keys;
import pando.bench.records.Mix;

/**
 * Runs of keys that follow upon each other, far apart: the r-th largest has 1/r of the keys of the
 * largest, about an eighth of all, and it may be any of them.
 */
final class Runs implements Shape {
  /** Number of runs; each lies in its own part of the key space. */
  private static final int RUNS = 1024;

  private static final int PART_SHIFT = 54;

  /** A run starts in the lower half of its part, and is much smaller than the upper half. */
  private static final long START_MASK = (1L << (PART_SHIFT - 1)) - 1;

  private final long[] starts = new long[RUNS];

  /** The first place of each run, and the number of all places. */
  private final long[] places = new long[RUNS + 1];

  /**
   * Creates the runs.
   *
   * @param count of places, 2^11 to 2^53
   * @param seed chooses where runs start, and which are large
   */
  Runs(long count, long seed) {
    Permutation ranks = new Permutation(RUNS, seed);
    double weights = 0;
    for (int run = 0; run < RUNS; run++) {
      starts[run] =
          Long.MIN_VALUE + ((long) run << PART_SHIFT) + (Mix.mix(seed + run) & START_MASK);
      weights += 1.0 / (1 + run);
    }
    double before = 0;
    for (int run = 0; run < RUNS; run++) {
      places[run] = (long) (before / weights * count);
      before += 1.0 / (1 + ranks.place(run));
    }
    places[RUNS] = count;
  }

  @Override
  public long key(long place) {
    int found = Arrays.binarySearch(places, place);
    int run = found >= 0 ? found : -found - 2;
    return starts[run] + place - places[run];
  }

  @Override
  public long place(long key) {
    int run = (int) ((key - Long.MIN_VALUE) >>> PART_SHIFT);
    long place = places[run] + key - starts[run];
    return key >= starts[run] && place < places[run + 1] ? place : Keys.NONE;
  }
}
