package pando.bench.simulate;

import org.HdrHistogram.Histogram;
import pando.fabric.VerbCounters;
import pando.sim.Utilization;

/**
 * What a run in virtual time came to.
 *
 * @param name of the index, or {@code lock}
 * @param clients that ran
 * @param operations that ended in the time that was measured
 * @param nanos virtual time that was measured
 * @param verbs issued in that time
 * @param hits operations that found their leaf cached
 * @param misses operations that did not
 * @param verified values found right
 * @param latencies of the operations, in nanoseconds
 * @param roundTrips of the operations
 * @param utilization of everything, over the whole run
 * @param events of the whole run
 * @param cpuNanos real time of the run
 * @param hash of all events
 */
public record SimResult(
    String name,
    int clients,
    long operations,
    long nanos,
    VerbCounters verbs,
    long hits,
    long misses,
    long verified,
    Histogram latencies,
    Histogram roundTrips,
    Utilization utilization,
    long events,
    long cpuNanos,
    long hash) {

  /** Returns operations per second of virtual time. */
  public double throughput() {
    return operations * 1e9 / nanos;
  }

  /** Returns a count for each operation. */
  public double perOperation(long count) {
    return operations == 0 ? 0 : (double) count / operations;
  }

  /** Returns the share of operations that found their leaf cached, 0 where none looked. */
  public double hitRatio() {
    return hits + misses == 0 ? 0 : (double) hits / (hits + misses);
  }
}
