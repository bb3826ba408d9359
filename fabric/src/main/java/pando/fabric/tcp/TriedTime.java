package pando.fabric.tcp;

import java.util.concurrent.TimeUnit;

/**
 * How long a memory server was tried without success. An attempt counts for no longer than one can
 * take: for the rest of its time this process stood still, and the memory server may have done so,
 * too. For one thread.
 */
final class TriedTime {
  /** An attempt to connect, and the pause before it, do not take longer. */
  static final long ATTEMPT_NANOS_MAX = TimeUnit.SECONDS.toNanos(4);

  private long leftNanos;
  private long before;

  /**
   * Begins.
   *
   * @param longestNanos after which it is over
   * @param now by a monotonic clock, as all times
   */
  TriedTime(long longestNanos, long now) {
    this.leftNanos = longestNanos;
    this.before = now;
  }

  /** Counts an attempt that has failed; returns whether the time is over. */
  boolean isOver(long now) {
    leftNanos -= Math.min(now - before, ATTEMPT_NANOS_MAX);
    before = now;
    return leftNanos < 0;
  }
}
