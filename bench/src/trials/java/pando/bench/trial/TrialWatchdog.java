package pando.bench.trial;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import pando.sim.Cluster;

/**
 * Runs clusters under supervision: each in its own thread, which is abandoned if no event happens
 * for long. Code under simulation that spins without a pause cannot be stopped.
 */
public final class TrialWatchdog {
  private static final long STUCK_NANOS = 10_000_000_000L;
  private static final int STEP_MILLIS = 100;

  /** A day of virtual time. */
  private static final long NANOS_MAX = 86_400_000_000_000L;

  private final Cluster cluster;
  private final long stuckNanos;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private long eventsSeen = -1;
  private long seenAt;

  private TrialWatchdog(Cluster cluster, long stuckNanos) {
    this.cluster = cluster;
    this.stuckNanos = stuckNanos;
  }

  /**
   * Runs a cluster until its clients have ended.
   *
   * @throws HangException if no event happens for ten seconds of real time
   */
  public static void run(Cluster cluster) {
    run(cluster, () -> cluster.run(NANOS_MAX, Long.MAX_VALUE));
  }

  /**
   * Runs a cluster by the given action.
   *
   * @throws HangException if no event happens for ten seconds of real time
   */
  public static void run(Cluster cluster, Runnable simulation) {
    run(cluster, simulation, STUCK_NANOS);
  }

  public static void run(Cluster cluster, Runnable simulation, long stuckNanos) {
    new TrialWatchdog(cluster, stuckNanos).run(simulation);
  }

  private void run(Runnable simulation) {
    seenAt = System.nanoTime();
    Thread runner =
        Thread.ofPlatform()
            .daemon()
            .name("simulation")
            .uncaughtExceptionHandler((thread, thrown) -> failure.set(thrown))
            .start(simulation);
    try {
      while (!runner.join(Duration.ofMillis(STEP_MILLIS))) {
        check();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a simulation ran", e);
    }
    rethrow();
  }

  private void check() {
    long events = cluster.events();
    long now = System.nanoTime();
    if (events != eventsSeen) {
      eventsSeen = events;
      seenAt = now;
    } else if (now - seenAt > stuckNanos) {
      throw new HangException("a simulation hangs: events=" + events + "\n" + cluster.stacks());
    }
  }

  private void rethrow() {
    Throwable thrown = failure.get();
    if (thrown instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (thrown instanceof Error error) {
      throw error;
    }
  }
}
