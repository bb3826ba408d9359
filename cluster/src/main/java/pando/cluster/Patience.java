package pando.cluster;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Whether a leader may take those that it misses for lost. What has ended its own session, or kept
 * it from the coordinator, or from running at all, may have done so to others, which come back as
 * it does: so it waits for them. For one thread.
 */
final class Patience {
  /** One that takes steps more seldom than that stood still. */
  private static final long STOOD_STILL_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How many times the length of a lease it waits. */
  private static final int LEASES = 5;

  private final Host host;
  private final long waitNanos;
  private long step;
  private long over;

  Patience(Host host, Config config) {
    this.host = host;
    this.waitNanos = Duration.ofMillis(config.leaseMillis()).multipliedBy(LEASES).toNanos();
    this.step = host.nanoTime();
    this.over = step;
  }

  /** Says that a step is taken. */
  void step() {
    long now = host.nanoTime();
    if (now - step > STOOD_STILL_NANOS) {
      begin();
    }
    step = now;
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
