package pando.cli.cluster;

import java.time.Duration;
import java.util.Optional;

/**
 * When a server's process that has ended by itself starts again: soon at first, later and later
 * where it ends soon again, and then not any more. For one thread.
 */
final class Restarts {
  /** So many that end soon again, one after the other, are enough. */
  static final int FAILURES_MAX = 5;

  /** One that has run for so long has not ended soon. */
  static final Duration LONG = Duration.ofMinutes(1);

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

  private int failures;

  /**
   * Returns how long to wait until the next start; nothing if there is none.
   *
   * @param ran how long the process ran
   */
  Optional<Duration> pauseAfter(Duration ran) {
    failures = ran.compareTo(LONG) < 0 ? failures + 1 : 1;
    return failures > FAILURES_MAX
        ? Optional.empty()
        : Optional.of(FIRST_PAUSE.multipliedBy(1L << (failures - 1)));
  }
}
