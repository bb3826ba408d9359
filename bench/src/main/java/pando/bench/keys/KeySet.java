package pando.bench.keys;

import java.util.Locale;
import pando.bench.records.Keys;
import pando.bench.records.Records;

/**
 * The sets of keys that a benchmark can load and insert from. In each but {@link #DENSE}, inserted
 * keys have the same distribution as loaded ones, and a record's number is independent of its
 * place: hot records, and those of one client, are spread over all keys.
 */
public enum KeySet {
  /** Any 64-bit word with the same probability. */
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
      AddressKeys addresses = AddressKeys.bundled();
      return new ShapedKeys(new Layers(addresses.ranges(), seed), addresses);
    }

    @Override
    public long defaultRecords(boolean inserts) {
      int ranges = AddressKeys.bundled().ranges();
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
   * 1, 2, 3, ..., times a constant that leaves room between two keys: loaded keys are spaced
   * evenly; if none are loaded, the first 2^20 that are inserted are.
   */
  SEQUENTIAL {
    @Override
    Keys keys(long loaded, long seed) {
      long steps = loaded == 0 ? STEPS : loaded;
      return new ShapedKeys(new Layers(steps, seed), new Steps(steps));
    }
  },

  /**
   * 0, 1, 2, ..., with no room between: loaded keys in random order, as in the benchmark of DEX's
   * paper; inserted keys follow at the end, in order. That benchmark has holes for them among the
   * loaded ones.
   */
  DENSE {
    @Override
    Keys keys(long loaded, long seed) {
      return new DenseKeys(loaded, seed);
    }
  };

  /**
   * Number of keys of a distribution: more than any run needs, and few enough that the quantiles of
   * any two differ in 64 bits.
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
   * @param seed seed of random keys; equal seeds give equal records
   */
  public Records records(long loaded, long seed) {
    return new Records(keys(loaded, seed), seed);
  }

  /** Returns the default number of records to load. */
  public long defaultRecords(boolean inserts) {
    return RECORDS;
  }

  /** Returns the name on the command line, such as {@code ipv4}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
