package pando.bench.run;

import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;

/**
 * What is run, whatever it is run against.
 *
 * @param records loaded before a workload, at least 1
 * @param fill share of each node that the load fills
 * @param distribution of lookups, updates and scans
 * @param theta skew of the Zipfian distributions
 * @param operations measured, by all clients together
 * @param warmup operations before those, by all clients together
 * @param threads clients, each a thread; in all processes together
 * @param secondsMax time in operations after which a client ends the warm-up, or what is measured,
 *     early; 0 for never
 * @param seed of keys, values and operations
 */
public record Plan(
    long records,
    double fill,
    Distribution distribution,
    double theta,
    long operations,
    long warmup,
    int threads,
    int secondsMax,
    long seed) {

  /** Returns the number of records that a workload may insert. */
  public long insertsMax(Workload workload) {
    double expected = workload.insertShare() * (warmup + operations);
    // The share is drawn, so it may be a few more.
    return (long) (expected * 1.05) + 1_000;
  }
}
