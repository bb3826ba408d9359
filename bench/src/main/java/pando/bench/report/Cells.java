package pando.bench.report;

import java.util.List;
import pando.bench.run.Footprint;
import pando.bench.run.Measurement;
import pando.cli.text.Numbers;

/** The cells of measurements that all tables have. */
final class Cells {
  /** Headers of {@link #verbs}. */
  static final List<String> VERBS = List.of("READs", "WRITEs", "atomics", "CALLs", "trips");

  /** Headers of {@link #footprint}. */
  static final List<String> FOOTPRINT = List.of("cached B/record", "pool B/record");

  private static final double NANOS_PER_MICRO = 1_000;

  private Cells() {}

  /** Returns millions of operations per second. */
  static String megaOps(Measurement measured) {
    return Numbers.decimal(measured.throughput / 1e6, 3);
  }

  /** Returns the microseconds within which so many percent of the operations ended. */
  static String micros(Measurement measured, double percentile) {
    return Numbers.decimal(measured.latencyNanos(percentile) / NANOS_PER_MICRO, 2);
  }

  /** Returns the verbs and round trips of an operation. */
  static List<String> verbs(Measurement measured) {
    return List.of(
        perOperation(measured, measured.verbs.reads),
        perOperation(measured, measured.verbs.writes),
        perOperation(measured, measured.verbs.atomics),
        perOperation(measured, measured.verbs.calls),
        perOperation(measured, measured.verbs.roundTrips));
  }

  private static String perOperation(Measurement measured, long count) {
    return Numbers.decimal(measured.perOperation(count), 4);
  }

  /** Returns the memory for each record: of all compute servers' caches, and of the pool. */
  static List<String> footprint(Footprint footprint) {
    return List.of(
        Numbers.decimal(footprint.cachedBytesPerRecord(), 3),
        Numbers.decimal(footprint.poolBytesPerRecord(), 2));
  }

  /** Returns the bytes of an operation's verbs. */
  static String bytes(Measurement measured) {
    return Numbers.decimal(measured.perOperation(measured.verbs.bytes()), 1);
  }
}
