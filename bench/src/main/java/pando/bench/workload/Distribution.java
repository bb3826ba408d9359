package pando.bench.workload;

import java.util.Locale;
import java.util.SplittableRandom;
import pando.bench.records.Mix;

/** How operations spread over the loaded records. */
public enum Distribution {
  /**
   * Zipfian, with one record for each rank. Rank and record number are the same: keys are scattered
   * over the key space independent of their records' numbers, so no permutation is needed.
   */
  ZIPFIAN {
    @Override
    public Draw over(long records, double theta) {
      Zipf zipf = new Zipf(records, theta);
      return random -> zipf.next(random) - 1;
    }
  },

  /**
   * Zipfian, scrambled as DEX and YCSB do: a rank's record is its hash modulo the number of
   * records. Ranks collide, so 1/e of the records, 36.8 %, are never accessed, and the others are
   * hotter.
   */
  ZIPFIAN_DEX {
    @Override
    public Draw over(long records, double theta) {
      Zipf zipf = new Zipf(records, theta);
      return random -> Long.remainderUnsigned(Mix.mix(zipf.next(random)), records);
    }
  },

  /** Each record with the same probability. */
  UNIFORM {
    @Override
    public Draw over(long records, double theta) {
      return random -> random.nextLong(records);
    }
  },

  /** Zipfian by age, the newest record first, as YCSB's workload D has it. */
  LATEST {
    @Override
    public Draw over(long records, double theta) {
      return new Latest(records, theta);
    }
  };

  /** Draws records. Thread-safe. */
  @FunctionalInterface
  public interface Draw {
    /** Returns a record's number. */
    long next(SplittableRandom random);

    /** Called for each record that has been inserted. */
    default void onInserted(long record) {}
  }

  /**
   * Returns the distribution over so many records.
   *
   * @param records at least 1
   * @param theta skew of the Zipfian ones, 0 or more; the chance of rank r falls with r^theta
   */
  public abstract Draw over(long records, double theta);

  /** Returns the name on the command line, such as {@code zipfian-dex}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
