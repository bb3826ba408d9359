package pando.bench.figure;

import pando.bench.keys.KeySet;
import pando.bench.workload.Distribution;
import pando.bench.workload.Values;
import pando.bench.workload.Workload;

/**
 * What the clients of a lab do.
 *
 * @param theta skew of the Zipfian distributions
 */
record Load(
    Workload workload,
    Values values,
    Distribution distribution,
    double theta,
    Start start,
    Clients clients,
    Times times) {
  /** Stands for the value of the lab, if a load does not set its own. */
  static final int OF_LAB = -1;

  private static final double THETA = 0.99;

  private static final long NANOS_PER_MILLI = 1_000_000;

  /**
   * The index before the load.
   *
   * @param keys of the records
   * @param isEmpty whether no record is loaded
   */
  record Start(KeySet keys, boolean isEmpty) {}

  /**
   * How many clients there are, and threads that serve them.
   *
   * @param threads of each compute server, or {@link #OF_LAB}
   * @param coroutines clients of each thread
   * @param processorThreads of each memory server, which serve CALLs
   */
  record Clients(int threads, int coroutines, int processorThreads) {}

  /**
   * How long the load runs.
   *
   * @param warmup operations before those that are measured, or {@link #OF_LAB}
   * @param nanos virtual time that is measured
   * @param splitNanos after so much of it, the first compute server gives about half of its range
   *     to a new one; 0 if none does
   */
  record Times(long warmup, long nanos, long splitNanos) {}

  /** A load with one client per thread, for the time that suffices if locks do not collapse. */
  Load(Workload workload, Distribution distribution) {
    this(
        workload,
        Values.CHANGING,
        distribution,
        THETA,
        new Start(KeySet.UNIFORM, false),
        new Clients(OF_LAB, 1, 1),
        new Times(OF_LAB, 4 * NANOS_PER_MILLI, 0));
  }

  static Load zipfian(Workload workload) {
    return new Load(workload, Distribution.ZIPFIAN);
  }

  static Load uniform(Workload workload) {
    return new Load(workload, Distribution.UNIFORM);
  }

  /** Returns the names of workload and distribution. */
  String name() {
    return workload + ", " + distribution;
  }

  Load withKeys(KeySet keys) {
    return with(new Start(keys, start.isEmpty));
  }

  /** Returns this load on an empty index, without a warm-up. */
  Load fromNothing() {
    return with(new Start(start.keys, true)).withWarmup(0);
  }

  private Load with(Start other) {
    return new Load(workload, values, distribution, theta, other, clients, times);
  }

  /** Returns this load with updates of a record that all write the same value. */
  Load withSameValues() {
    return new Load(workload, Values.SAME, distribution, theta, start, clients, times);
  }

  Load withTheta(double other) {
    return new Load(workload, values, distribution, other, start, clients, times);
  }

  Load withThreads(int number) {
    return with(new Clients(number, clients.coroutines, clients.processorThreads));
  }

  Load withCoroutines(int number) {
    return with(new Clients(clients.threads, number, clients.processorThreads));
  }

  Load withProcessorThreads(int number) {
    return with(new Clients(clients.threads, clients.coroutines, number));
  }

  private Load with(Clients others) {
    return new Load(workload, values, distribution, theta, start, others, times);
  }

  Load withWarmup(long operations) {
    return with(new Times(operations, times.nanos, times.splitNanos));
  }

  Load forMillis(long millis) {
    return with(new Times(times.warmup, millis * NANOS_PER_MILLI, times.splitNanos));
  }

  /** Returns this load on DEX, one of whose compute servers is split after a while. */
  Load splitAfterMillis(long millis) {
    return with(new Times(times.warmup, times.nanos, millis * NANOS_PER_MILLI));
  }

  private Load with(Times others) {
    return new Load(workload, values, distribution, theta, start, clients, others);
  }
}
