package pando.bench.workload;

import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * The mixes of operations in Table 1 and Table 3 of the DEX paper, and those of YCSB's core
 * workloads that are not among them: YCSB's A is {@link #WRITE_INTENSIVE}, B {@link
 * #READ_INTENSIVE} and C {@link #READ_ONLY}.
 */
public enum Workload {
  /** Lookups alone. */
  READ_ONLY(100, 0, 0, 0),
  /** A few updates. */
  READ_INTENSIVE(95, 5, 0, 0),
  /** Half updates. */
  WRITE_INTENSIVE(50, 50, 0, 0),
  /** Half inserts. */
  INSERT_INTENSIVE(50, 0, 50, 0),
  /** Scans and a few inserts. */
  SCAN_INTENSIVE(0, 0, 5, 95),
  /** Inserts alone; their keys are uniform. */
  INSERT_ONLY(0, 0, 100, 0),
  /** A few inserts, Table 3. */
  READ_INTENSIVE_2(95, 0, 5, 0),
  /** Updates alone, as in Sherman's Table 3. */
  WRITE_ONLY(0, 100, 0, 0),
  /** A few inserts, and lookups of what is new. */
  YCSB_D(95, 0, 5, 0) {
    @Override
    public Distribution distribution(Distribution asked) {
      return Distribution.LATEST;
    }
  },
  /** Scans of every length, and a few inserts. */
  YCSB_E(0, 0, 5, 95) {
    @Override
    int scanLength(SplittableRandom random) {
      return 1 + random.nextInt(SCAN_LENGTH_MAX);
    }
  },
  /** As {@link #INSERT_ONLY}, by an operation that does not say whether the key was there. */
  STORE_ONLY(0, 0, 100, 0) {
    @Override
    WorkloadOperation draw(SplittableRandom random) {
      return WorkloadOperation.STORE;
    }
  },
  /** Lookups alone, several keys at a time; each counts as an operation. */
  MULTI_GET(100, 0, 0, 0) {
    @Override
    public int keysAtOnce() {
      return LOOKED_UP_AT_ONCE;
    }
  },
  /** As {@link #STORE_ONLY}, many keys at a time; each counts as an operation. */
  MULTI_PUT(0, 0, 100, 0) {
    @Override
    WorkloadOperation draw(SplittableRandom random) {
      return WorkloadOperation.STORE;
    }

    @Override
    public int keysAtOnce() {
      return Batch.CAPACITY;
    }
  },
  /** Half scans, half updates. */
  SCAN_UPDATE(0, 50, 0, 50),
  /** Half lookups that are followed by an update of the same record. */
  YCSB_F(50, 0, 0, 0, 50);

  /** Records that a scan reads at the most. */
  public static final int SCAN_LENGTH_MAX = 100;

  private static final int LOOKED_UP_AT_ONCE = 32;

  /** What {@code all} stands for, in the order of the paper. */
  public static final List<Workload> ALL =
      List.of(
          READ_ONLY,
          READ_INTENSIVE,
          WRITE_INTENSIVE,
          INSERT_INTENSIVE,
          SCAN_INTENSIVE,
          INSERT_ONLY);

  private final int lookups;
  private final int updates;
  private final int inserts;
  private final int scans;
  private final int modifies;

  Workload(int lookups, int updates, int inserts, int scans) {
    this(lookups, updates, inserts, scans, 0);
  }

  Workload(int lookups, int updates, int inserts, int scans, int modifies) {
    if (lookups + updates + inserts + scans + modifies != 100) {
      throw new AssertionError("shares must sum to 100");
    }
    this.lookups = lookups;
    this.updates = updates;
    this.inserts = inserts;
    this.scans = scans;
    this.modifies = modifies;
  }

  /** Returns whether the workload leaves more records behind than it found. */
  public boolean inserts() {
    return inserts > 0;
  }

  /** Returns whether the workload changes values of records. */
  public boolean updates() {
    return updates > 0 || modifies > 0;
  }

  /** Returns whether the workload changes nothing. */
  public boolean isReadOnly() {
    return !updates() && inserts == 0;
  }

  /** Returns whether the workload scans. */
  public boolean scans() {
    return scans > 0;
  }

  /** Returns how many keys are looked up, or stored, together; 1 if each is by itself. */
  public int keysAtOnce() {
    return 1;
  }

  /** Returns the share of inserts, 0 to 1. */
  public double insertShare() {
    return inserts / 100.0;
  }

  /**
   * Returns the distribution of a run: the one asked for, except that new keys are always uniform
   * and YCSB's D has its own.
   */
  public Distribution distribution(Distribution asked) {
    return inserts == 100 ? Distribution.UNIFORM : asked;
  }

  /** Draws an operation. */
  WorkloadOperation draw(SplittableRandom random) {
    int percent = random.nextInt(100);
    if (percent < lookups) {
      return WorkloadOperation.LOOKUP;
    }
    if (percent < lookups + updates) {
      return WorkloadOperation.UPDATE;
    }
    if (percent < lookups + updates + inserts) {
      return WorkloadOperation.INSERT;
    }
    return percent < lookups + updates + inserts + scans
        ? WorkloadOperation.SCAN
        : WorkloadOperation.MODIFY;
  }

  /** Draws how many records a scan reads. */
  int scanLength(SplittableRandom random) {
    return SCAN_LENGTH_MAX;
  }

  /** Returns the name on the command line, such as {@code read-only}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
