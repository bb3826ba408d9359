package pando.bench.simulate;

import org.HdrHistogram.Histogram;
import pando.sim.Cluster;

/** Counts and times the operations that end in the time that is measured. */
final class Meter {
  private static final long LATENCY_NANOS_MAX = 60_000_000_000L;
  private static final int ROUND_TRIPS_MAX = 1_000_000;
  private static final int DIGITS = 3;

  private final Cluster cluster;
  private final long start;
  private final long end;
  private final Histogram latencies = new Histogram(1, LATENCY_NANOS_MAX, DIGITS);
  private final Histogram roundTrips = new Histogram(1, ROUND_TRIPS_MAX, DIGITS);
  private long operations;

  /**
   * Creates a meter of nothing.
   *
   * @param start when to begin, in nanoseconds of virtual time
   * @param end when to end
   */
  Meter(Cluster cluster, long start, long end) {
    this.cluster = cluster;
    this.start = start;
    this.end = end;
  }

  /** Tells whether clients are to go on. */
  boolean isRunning() {
    return cluster.nanos() < end;
  }

  long start() {
    return start;
  }

  long end() {
    return end;
  }

  /**
   * Notes an operation that has ended now.
   *
   * @param began when it began
   * @param trips its round trips
   */
  void record(long began, long trips) {
    long now = cluster.nanos();
    if (now >= start && now < end) {
      operations++;
      latencies.recordValue(Math.clamp(now - began, 1, LATENCY_NANOS_MAX));
      roundTrips.recordValue(Math.min(trips, ROUND_TRIPS_MAX));
    }
  }

  long operations() {
    return operations;
  }

  Histogram latencies() {
    return latencies;
  }

  Histogram roundTrips() {
    return roundTrips;
  }
}
