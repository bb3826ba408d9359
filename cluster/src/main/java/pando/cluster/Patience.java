package pando.cluster;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Whether the leader may declare servers lost. What ended its own session, or kept it from the
 * coordinator or from running, may have struck the others, too; so it first gives them time to come
 * back. Time inside a step does not count: a fence waits seconds for a server that is lost. For one
 * thread.
 */
final class Patience {
  /** A leader that rests for longer than this between two steps stood still. */
  private static final long STOOD_STILL_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How many times the length of a lease it waits. */
  private static final int LEASES = 5;

  private final Host host;
  private final long waitNanos;
  private long rested;
  private long over;

  Patience(Host host, Config config) {
    this.host = host;
    this.waitNanos = Duration.ofMillis(config.leaseMillis()).multipliedBy(LEASES).toNanos();
    this.rested = host.nanoTime();
    this.over = rested;
  }

  /** Notes that a step begins. */
  void step() {
    if (host.nanoTime() - rested > STOOD_STILL_NANOS) {
      begin();
    }
  }

  /** Notes that a step has ended. */
  void rest() {
    rested = host.nanoTime();
  }

  /** Begins to wait. */
  void begin() {
    over = host.nanoTime() + waitNanos;
  }

  /** Returns whether the wait is over, or there is none. */
  boolean isOver() {
    return host.nanoTime() - over >= 0;
  }
}
