package pando.bench.workload;

import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/** The mixes of operations in Table 1 and Table 3 of the DEX paper. */
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
  WRITE_ONLY(0, 100, 0, 0);

  /** Records that a scan reads. */
  public static final int SCAN_RECORDS = 100;

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

  Workload(int lookups, int updates, int inserts, int scans) {
    if (lookups + updates + inserts + scans != 100) {
      throw new AssertionError("shares must sum to 100");
    }
    this.lookups = lookups;
    this.updates = updates;
    this.inserts = inserts;
    this.scans = scans;
  }

  /** Tells whether the workload leaves more records behind than it found. */
  public boolean inserts() {
    return inserts > 0;
  }

  /** Tells whether the workload changes nothing. */
  public boolean isReadOnly() {
    return updates == 0 && inserts == 0;
  }

  /** Tells whether the workload scans. */
  public boolean scans() {
    return scans > 0;
  }

  /** Returns the share of inserts, 0 to 1. */
  public double insertShare() {
    return inserts / 100.0;
  }

  /** Returns the distribution that a run has of the one asked for: new keys are always uniform. */
  public Distribution distribution(Distribution asked) {
    return inserts == 100 ? Distribution.UNIFORM : asked;
  }

  /** Draws an operation. */
  Operation draw(SplittableRandom random) {
    int percent = random.nextInt(100);
    if (percent < lookups) {
      return Operation.LOOKUP;
    }
    if (percent < lookups + updates) {
      return Operation.UPDATE;
    }
    return percent < lookups + updates + inserts ? Operation.INSERT : Operation.SCAN;
  }

  /** Returns the name on the command line, such as {@code read-only}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
