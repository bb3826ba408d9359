package pando.bench.figure;

import java.util.List;
import java.util.Map;
import pando.bench.run.Footprint;
import pando.bench.run.Measurement;
import pando.bench.simulate.SimResult;
import pando.bench.simulate.Windows;
import pando.fabric.VerbCounters;

/** The results of one index in a lab. */
final class Results {
  private final Map<Load, SimResult> results;

  Results(Map<Load, SimResult> results) {
    this.results = results;
  }

  /** Returns millions of operations per second. */
  double megaOps(Load load) {
    return measurement(load).throughput / 1e6;
  }

  /** Returns the ratio of this throughput to another's. */
  double over(Results other, Load load) {
    return measurement(load).throughput / other.measurement(load).throughput;
  }

  double p99Millis(Load load) {
    return measurement(load).latencyNanos(99) / 1e6;
  }

  double p99RoundTrips(Load load) {
    return of(load).roundTrips().getValueAtPercentile(99);
  }

  /** Returns the percentage of operations that took at most so many round trips. */
  double percentWithin(long roundTrips, Load load) {
    return of(load).roundTrips().getPercentileAtOrBelowValue(roundTrips);
  }

  /** Returns the bytes that each operation read from the pool. */
  double bytesIn(Load load) {
    Measurement measured = measurement(load);
    return measured.perOperation(measured.verbs.bytesIn);
  }

  /**
   * Returns what each operation issued: a line for each kind of verb, for round trips and bytes.
   */
  List<FigureLine> verbs(String what, Load load) {
    VerbCounters verbs = measurement(load).verbs;
    return List.of(
        line(what, "READs", load, verbs.reads),
        line(what, "WRITEs", load, verbs.writes),
        line(what, "atomics", load, verbs.atomics),
        line(what, "CALLs", load, verbs.calls),
        line(what, "trips", load, verbs.roundTrips),
        line(what, "bytes", load, verbs.bytes()));
  }

  private FigureLine line(String what, String measure, Load load, long count) {
    return new FigureLine(
        what, measure, FigureLine.NOT_GIVEN, measurement(load).perOperation(count));
  }

  Footprint footprint(Load load) {
    return of(load).footprint();
  }

  Windows windows(Load load) {
    return of(load).windows();
  }

  Measurement measurement(Load load) {
    return of(load).measurement();
  }

  private SimResult of(Load load) {
    SimResult result = results.get(load);
    if (result == null) {
      throw new IllegalArgumentException("this was not run: " + load);
    }
    return result;
  }
}
