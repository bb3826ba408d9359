package pando.fabric.verbs;

import java.util.concurrent.TimeUnit;
import pando.fabric.StalledException;

/**
 * How often a queue pair that broke may be made anew. One that breaks at once, again and again, has
 * a cause that another one does not cure. Not thread-safe.
 */
final class Renewals {
  /** Most renewals within {@link #WITHIN_NANOS}. */
  static final int MAX = 3;

  static final long WITHIN_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final int server;

  /** When the last renewals were, the oldest at the place of the next one. */
  private final long[] times = new long[MAX];

  private long count;

  /**
   * Counts none yet.
   *
   * @param server that the queue pair connects to
   */
  Renewals(int server) {
    this.server = server;
  }

  /**
   * Counts a renewal.
   *
   * @param now in nanoseconds
   * @throws StalledException if there were too many of late; this one is not counted
   */
  void count(long now) {
    int place = (int) (count % MAX);
    long since = now - times[place];
    if (count >= MAX && since < WITHIN_NANOS) {
      throw new StalledException(
          "the queue pair breaks again and again: server="
              + server
              + ", renewals="
              + MAX
              + ", withinMillis="
              + TimeUnit.NANOSECONDS.toMillis(since)
              + ", nextInMillis="
              + TimeUnit.NANOSECONDS.toMillis(WITHIN_NANOS - since));
    }
    times[place] = now;
    count++;
  }
}
