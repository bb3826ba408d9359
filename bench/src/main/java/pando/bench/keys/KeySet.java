package pando.bench.keys;

import java.util.Locale;
import pando.bench.records.Keys;
import pando.bench.records.Records;

/**
 * The sets of keys that a benchmark can load and insert from. In each, what is inserted lies
 * between what was loaded, as that does, and a record's number says nothing of its place: hot
 * records, and those of a client, are anywhere.
 */
public enum KeySet {
  /** Anywhere among all 64-bit words, each as likely. */
  UNIFORM {
    @Override
    Keys keys(long loaded, long seed) {
      return new Records(seed).keys();
    }
  },

  /** Normal around 0, with a standard deviation of 1/13 of the key space. */
  NORMAL {
    @Override
    Keys keys(long loaded, long seed) {
      return new ShapedKeys(scattered(seed), new Quantiles(Normal::quantile, PLACES));
    }
  },

  /** Positive, logarithms normal with a standard deviation of 2, as papers on learned indexes. */
  LOGNORMAL {
    @Override
    Keys keys(long loaded, long seed) {
      return new ShapedKeys(
          scattered(seed), new Quantiles(p -> StrictMath.exp(2 * Normal.quantile(p)), PLACES));
    }
  },

  /**
   * The first addresses of the demo's IPv4 ranges, in the upper halves of keys; beyond those, ever
   * more keys within the ranges.
   */
  IPV4 {
    @Override
    Keys keys(long loaded, long seed) {
      Addresses addresses = Addresses.bundled();
      return new ShapedKeys(new Layers(addresses.ranges(), seed), addresses);
    }

    @Override
    public long defaultRecords(boolean inserts) {
      int ranges = Addresses.bundled().ranges();
      return inserts ? ranges / 2 : ranges;
    }
  },

  /** A thousand dense runs of uneven sizes, far apart. */
  CLUSTERED {
    @Override
    Keys keys(long loaded, long seed) {
      return new ShapedKeys(scattered(seed), new Runs(PLACES, seed));
    }
  },

  /**
   * 1, 2, 3, ..., times what leaves room between two: all that is loaded is spaced evenly. Where
   * nothing is, that holds for the first 2^20 that are inserted.
   */
  SEQUENTIAL {
    @Override
    Keys keys(long loaded, long seed) {
      long steps = loaded == 0 ? STEPS : loaded;
      return new ShapedKeys(new Layers(steps, seed), new Steps(steps));
    }
  };

  /**
   * Keys that a distribution has: above all that a run can want, and few enough for 64-bit numbers
   * to tell the quantiles of any two apart.
   */
  private static final long PLACES = 1L << 36;

  private static final long STEPS = 1L << 20;
  private static final long RECORDS = 20_000_000;

  abstract Keys keys(long loaded, long seed);

  private static Order scattered(long seed) {
    return new Permutation(PLACES, seed);
  }

  /**
   * Returns the records of this set.
   *
   * @param loaded how many are loaded, 0 to 2^31
   * @param seed chooses keys where there is a choice; equal seeds give equal records
   */
  public Records records(long loaded, long seed) {
    return new Records(keys(loaded, seed), seed);
  }

  /** Returns how many records to load where nothing is said. */
  public long defaultRecords(boolean inserts) {
    return RECORDS;
  }

  /** Returns the name on the command line, such as {@code ipv4}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
