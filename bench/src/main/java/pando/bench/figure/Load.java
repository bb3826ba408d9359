package pando.bench.figure;

import pando.bench.keys.KeySet;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;

/**
 * What the clients of a lab do.
 *
 * @param keys of the records
 * @param fromEmpty whether no record is loaded
 * @param threads of each compute server, or {@link #OF_LAB}
 * @param coroutines clients of each thread
 * @param processorThreads of each memory server, which serve CALLs
 * @param warmup operations before those that are measured, or {@link #OF_LAB}
 * @param nanos virtual time that is measured
 * @param splitNanos after so much of it, the first compute server gives about half of its range to
 *     a new one; 0 if none does
 */
record Load(
    Workload workload,
    Distribution distribution,
    KeySet keys,
    boolean fromEmpty,
    int threads,
    int coroutines,
    int processorThreads,
    long warmup,
    long nanos,
    long splitNanos) {
  /** Stands for the value of the lab, if a load does not set its own. */
  static final int OF_LAB = -1;

  private static final long NANOS_PER_MILLI = 1_000_000;

  /** A load with one client per thread, for the time that suffices if locks do not collapse. */
  Load(Workload workload, Distribution distribution) {
    this(
        workload,
        distribution,
        KeySet.UNIFORM,
        false,
        OF_LAB,
        1,
        1,
        OF_LAB,
        4 * NANOS_PER_MILLI,
        0);
  }

  Load withKeys(KeySet others) {
    return new Load(
        workload,
        distribution,
        others,
        fromEmpty,
        threads,
        coroutines,
        processorThreads,
        warmup,
        nanos,
        splitNanos);
  }

  /** Returns this load on an empty index, without a warm-up. */
  Load fromNothing() {
    return new Load(
        workload,
        distribution,
        keys,
        true,
        threads,
        coroutines,
        processorThreads,
        0,
        nanos,
        splitNanos);
  }

  Load withThreads(int number) {
    return new Load(
        workload,
        distribution,
        keys,
        fromEmpty,
        number,
        coroutines,
        processorThreads,
        warmup,
        nanos,
        splitNanos);
  }

  Load withCoroutines(int number) {
    return new Load(
        workload,
        distribution,
        keys,
        fromEmpty,
        threads,
        number,
        processorThreads,
        warmup,
        nanos,
        splitNanos);
  }

  Load withProcessorThreads(int number) {
    return new Load(
        workload,
        distribution,
        keys,
        fromEmpty,
        threads,
        coroutines,
        number,
        warmup,
        nanos,
        splitNanos);
  }

  Load withWarmup(long operations) {
    return new Load(
        workload,
        distribution,
        keys,
        fromEmpty,
        threads,
        coroutines,
        processorThreads,
        operations,
        nanos,
        splitNanos);
  }

  Load forMillis(long millis) {
    return new Load(
        workload,
        distribution,
        keys,
        fromEmpty,
        threads,
        coroutines,
        processorThreads,
        warmup,
        millis * NANOS_PER_MILLI,
        splitNanos);
  }

  /** Returns this load on DEX, one of whose compute servers is split after a while. */
  Load splitAfterMillis(long millis) {
    return new Load(
        workload,
        distribution,
        keys,
        fromEmpty,
        threads,
        coroutines,
        processorThreads,
        warmup,
        nanos,
        millis * NANOS_PER_MILLI);
  }
}
