package pando.index.bytes;

/**
 * How many lookups over a network go together: it is not known how long the values are that they
 * find, so it follows from those that were found last. Not thread-safe.
 */
public final class BatchSize {
  /** Most operations that go together. */
  public static final int OPERATIONS_MAX = 64;

  /** About so many bytes go together, unless one operation has more. */
  public static final int BYTES = 1 << 20;

  private static final int FIRST = 16;

  private int lookups = FIRST;

  /** Begins with a few, as nothing is known yet. */
  public BatchSize() {}

  /** Returns how many lookups go together next, at least one. */
  public int lookups() {
    return lookups;
  }

  /** Learns how many bytes some lookups have found. At most twice as many go together next. */
  public void found(int count, long bytes) {
    long fitting = bytes == 0 ? OPERATIONS_MAX : (long) count * BYTES / bytes;
    lookups = Math.clamp(fitting, 1, Math.min(2 * lookups, OPERATIONS_MAX));
  }
}
