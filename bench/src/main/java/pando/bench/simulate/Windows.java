package pando.bench.simulate;

import java.util.function.LongSupplier;

/**
 * The windows of a millisecond into which the time that was measured is divided, without what is
 * left over at its end: the operations that ended in each, and the admissions to caches when the
 * first of them ended.
 */
public final class Windows {
  private static final long NANOS = 1_000_000;

  private final long[] operations;
  private final long[] admissions;

  /** Divides a time. */
  Windows(long nanos) {
    operations = new long[Math.toIntExact(nanos / NANOS)];
    admissions = new long[operations.length];
  }

  /**
   * Counts an operation that ended so long after the start.
   *
   * @param counter returns the number of admissions to caches; called once per window, and not
   *     kept, as it references the whole run
   */
  void record(long nanos, LongSupplier counter) {
    int window = (int) (nanos / NANOS);
    if (window < operations.length) {
      if (operations[window] == 0) {
        admissions[window] = counter.getAsLong();
      }
      operations[window]++;
    }
  }

  /** Returns how many there are. */
  public int count() {
    return operations.length;
  }

  /** Returns millions of operations per second in a window. */
  public double megaOps(int window) {
    return operations[window] * 1e3 / NANOS;
  }

  /** Returns the admissions to caches when the first operation of a window ended, 0 if none did. */
  public long admissions(int window) {
    return admissions[window];
  }
}
