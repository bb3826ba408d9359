package pando.bench.figure;

import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import pando.bench.simulate.SimResult;
import pando.fabric.VerbCounters;

/**
 * What is measured of a run.
 *
 * @param name with the unit
 * @param number of a result
 */
record Measure(String name, ToDoubleFunction<SimResult> number) {
  static final Measure MOPS = new Measure("Mops", result -> result.measurement().throughput / 1e6);

  /** Throughput, where it is compared with another's. */
  static final Measure RATIO = new Measure("x", result -> result.measurement().throughput);

  static final Measure P99_MICROS = new Measure("p99 us", result -> p99Nanos(result) / 1e3);
  static final Measure P99_MILLIS = new Measure("p99 ms", result -> p99Nanos(result) / 1e6);
  static final Measure P99_TRIPS =
      new Measure("p99 round trips", result -> result.roundTrips().getValueAtPercentile(99));

  static final Measure READS = perOperation("READs", verbs -> verbs.reads);
  static final Measure WRITES = perOperation("WRITEs", verbs -> verbs.writes);
  static final Measure ATOMICS = perOperation("atomics", verbs -> verbs.atomics);
  static final Measure CALLS = perOperation("CALLs", verbs -> verbs.calls);
  static final Measure TRIPS = perOperation("trips", verbs -> verbs.roundTrips);
  static final Measure BYTES = perOperation("bytes", VerbCounters::bytes);
  static final Measure BYTES_READ = perOperation("bytes READ", verbs -> verbs.bytesIn);

  /** What an operation issues. */
  static final List<Measure> EACH_VERB = List.of(READS, WRITES, ATOMICS, CALLS, TRIPS, BYTES);

  /** Of all compute servers together. */
  static final Measure CACHED =
      new Measure("cached B/record", result -> result.footprint().cachedBytesPerRecord());

  static final Measure POOL =
      new Measure("pool B/record", result -> result.footprint().poolBytesPerRecord());

  /** Returns a count of verbs or bytes for each operation. */
  static Measure perOperation(String name, ToLongFunction<VerbCounters> count) {
    return new Measure(
        name,
        result -> result.measurement().perOperation(count.applyAsLong(result.measurement().verbs)));
  }

  /** Returns the percentage of operations that took at most so many round trips. */
  static Measure percentWithin(int roundTrips) {
    return new Measure(
        "%% in at most %d round trips".formatted(roundTrips),
        result -> result.roundTrips().getPercentileAtOrBelowValue(roundTrips));
  }

  private static double p99Nanos(SimResult result) {
    return result.measurement().latencyNanos(99);
  }

  /** Returns this measure by another name. */
  Measure as(String other) {
    return new Measure(other, number);
  }

  double of(SimResult result) {
    return number.applyAsDouble(result);
  }
}
