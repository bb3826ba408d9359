package pando.bench.keys;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;
import pando.bench.records.Keys;

/**
 * Keys of a distribution: the quantile of each place, where places divide the probability evenly,
 * scaled to the key space with 0 at 0. Records in random places are a sample of the distribution.
 */
final class Quantiles implements Shape {
  /** Number of evenly spaced places whose keys bound the search for a key's place. */
  private static final int KNOTS = 1 << 12;

  /**
   * Interpolation steps of a search, enough if the quantile is smooth; further steps halve the
   * range.
   */
  private static final int INTERPOLATIONS = 8;

  /** Share of the key space that is not used, so that rounding cannot leave it. */
  private static final double MARGIN = 0x1p-10;

  private final DoubleUnaryOperator quantile;
  private final long places;
  private final double scale;
  private final long[] knots = new long[KNOTS];

  /**
   * Scales a distribution.
   *
   * @param quantile ascends, and so steeply everywhere that the keys of no two places are the same
   * @param places a power of two, above {@link #KNOTS} and at most 2^52
   */
  Quantiles(DoubleUnaryOperator quantile, long places) {
    this.quantile = quantile;
    this.places = places;
    double most = Math.max(Math.abs(quantile(0)), Math.abs(quantile(places - 1)));
    scale = 0x1p63 * (1 - MARGIN) / most;
    for (int i = 0; i < KNOTS; i++) {
      knots[i] = key(i * (places / KNOTS));
    }
  }

  private double quantile(long place) {
    return quantile.applyAsDouble((place + 0.5) / places);
  }

  @Override
  public long key(long place) {
    return (long) (quantile(place) * scale);
  }

  @Override
  public long place(long key) {
    int found = Arrays.binarySearch(knots, key);
    int knot = found >= 0 ? found : -found - 2;
    if (knot < 0) {
      return Keys.NONE;
    }
    long low = knot * (places / KNOTS);
    return place(key, low, Math.min(low + places / KNOTS, places - 1));
  }

  /** Searches from a place whose key is not greater, to one whose key is not less, if any is. */
  private long place(long key, long from, long to) {
    long low = from;
    long high = to;
    long lowKey = key(low);
    long highKey = key(high);
    for (int step = 0; lowKey < key && key < highKey && high - low > 1; step++) {
      double share = step < INTERPOLATIONS ? (double) (key - lowKey) / (highKey - lowKey) : 0.5;
      long middle = Math.clamp(low + Math.round(share * (high - low)), low + 1, high - 1);
      long middleKey = key(middle);
      if (middleKey <= key) {
        low = middle;
        lowKey = middleKey;
      } else {
        high = middle;
        highKey = middleKey;
      }
    }
    if (lowKey == key) {
      return low;
    }
    return highKey == key ? high : Keys.NONE;
  }
}
