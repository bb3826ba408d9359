package pando.bench.run;

import pando.bench.keys.KeySet;
import pando.bench.records.Records;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;

/**
 * The parameters of a run, independent of its subject.
 *
 * @param keys of the records
 * @param records number of records loaded before a workload; 0 only if all workloads only insert
 * @param fill share of each node that the load fills
 * @param distribution of lookups, updates and scans
 * @param theta skew of the Zipfian distributions
 * @param operations measured, by all clients together
 * @param warmup operations before those, by all clients together
 * @param threads clients, each a thread; in all processes together
 * @param lanes platform threads that carry them; 0 if each client is a platform thread of its own
 * @param secondsMax time in operations after which a client ends the warm-up, or what is measured,
 *     early; 0 for never
 * @param seed of keys, values and operations
 */
public record Plan(
    KeySet keys,
    long records,
    double fill,
    Distribution distribution,
    double theta,
    long operations,
    long warmup,
    int threads,
    int lanes,
    int secondsMax,
    long seed) {

  /** Returns the most clients that a lane carries; there must be lanes. */
  int clientsPerLane() {
    return Math.ceilDiv(threads, lanes);
  }

  /** Returns the records to load, and to insert from. */
  public Records supply() {
    return keys.records(records, seed);
  }

  /**
   * Returns the number of records of which a cache may hold a share: those loaded, or, if none are,
   * those inserted.
   */
  public long recordsToCache() {
    return records == 0 ? warmup + operations : records;
  }

  /** Returns the number of records that a workload may insert. */
  public long insertsMax(Workload workload) {
    double expected = workload.insertShare() * (warmup + operations);
    // The share is drawn, so it may be a few more.
    return (long) (expected * 1.05) + 1_000;
  }
}
