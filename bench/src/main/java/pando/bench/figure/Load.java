package pando.bench.figure;

import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;

/**
 * What the clients of a lab do.
 *
 * @param coroutines clients of each thread
 * @param nanos virtual time that is measured
 */
record Load(Workload workload, Distribution distribution, int coroutines, long nanos) {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** One client a thread, for as long as it takes where locks do not collapse. */
  Load(Workload workload, Distribution distribution) {
    this(workload, distribution, 1, 4 * NANOS_PER_MILLI);
  }

  Load withCoroutines(int number) {
    return new Load(workload, distribution, number, nanos);
  }

  Load forMillis(long millis) {
    return new Load(workload, distribution, coroutines, millis * NANOS_PER_MILLI);
  }
}
