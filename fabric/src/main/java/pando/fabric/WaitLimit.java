package pando.fabric;

import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The longest time of a wait for others. It is a time, not a number of attempts, as an interrupted
 * thread does not sleep between attempts.
 *
 * <pre>{@code
 * long start = 0;
 * for (int attempt = 0; !tryLock(bucket); attempt++) {
 *   start = WaitLimit.SHORT.pause(backoff, attempt, start, "locked: bucket", bucket);
 * }
 * }</pre>
 *
 * @param nanos in nanoseconds
 */
public record WaitLimit(long nanos) {
  /** For what others hold for some verbs at the most: 10 seconds. */
  public static final WaitLimit SHORT = ofSeconds(10);

  /** For changes of an index as a whole, and operations that keep them waiting: 100 seconds. */
  public static final WaitLimit LONG = ofSeconds(100);

  private static WaitLimit ofSeconds(long seconds) {
    return new WaitLimit(seconds * 1_000_000_000);
  }

  /**
   * Pauses after an attempt that failed.
   *
   * @param attempt number of the attempt, from 0
   * @param start what the pause before has returned; does not matter for the first attempt
   * @param what is wrong, for the message
   * @return when the wait began
   * @throws StalledException if it has taken too long
   */
  public long pause(Backoff backoff, int attempt, long start, String what) {
    long began = check(backoff, attempt, start, what, 0, null);
    backoff.pause(attempt);
    return began;
  }

  /**
   * As {@link #pause(Backoff, int, long, String)}.
   *
   * @param what ends with the name of a value
   * @param which the value
   */
  public long pause(Backoff backoff, int attempt, long start, String what, long which) {
    return pause(backoff, attempt, start, what, which, Long::toString);
  }

  /**
   * As {@link #pause(Backoff, int, long, String, long)}.
   *
   * @param text of the value
   */
  public long pause(
      Backoff backoff,
      int attempt,
      long start,
      String what,
      long which,
      LongFunction<String> text) {
    long began = check(backoff, attempt, start, what, which, text);
    backoff.pause(attempt);
    return began;
  }

  /** As {@link #pause(Backoff, int, long, String)}, by brief pauses. */
  public long pauseBriefly(Backoff backoff, int attempt, long start, String what) {
    long began = check(backoff, attempt, start, what, 0, null);
    backoff.pauseBriefly(attempt);
    return began;
  }

  /** As {@link #pause(Backoff, int, long, String, long)}, by brief pauses. */
  public long pauseBriefly(Backoff backoff, int attempt, long start, String what, long which) {
    long began = check(backoff, attempt, start, what, which, Long::toString);
    backoff.pauseBriefly(attempt);
    return began;
  }

  /** Returns whether a wait has taken too long, for one whose exception says more. */
  public boolean isOver(long waitedNanos) {
    return waitedNanos > nanos;
  }

  private long check(
      Backoff backoff,
      int attempt,
      long start,
      String what,
      long which,
      @Nullable LongFunction<String> text) {
    long now = backoff.nanoTime();
    if (attempt == 0) {
      return now;
    }
    if (isOver(now - start)) {
      throw new StalledException(
          "%s%s waitedNanos=%s, attempts=%s"
              .formatted(
                  what, text == null ? ":" : "=" + text.apply(which) + ",", now - start, attempt));
    }
    return start;
  }
}
