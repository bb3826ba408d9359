package pando.cluster;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for what others write into the coordinator. */
final class Waiting {
  /** Looks again after so long, where the coordinator told of no change. */
  private static final long LOOK_MILLIS = 200;

  private Waiting() {}

  /**
   * Waits until something holds.
   *
   * @param longest wait
   * @param condition looked at after each change
   * @param otherwise says what it waited for
   * @throws ClusterException if it does not hold in time, or the thread is interrupted
   */
  static void until(
      Membership membership,
      Duration longest,
      BooleanSupplier condition,
      Supplier<String> otherwise) {
    Semaphore changed = new Semaphore(0);
    membership.watch(changed::release);
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > longest.toNanos()) {
        throw new ClusterException(otherwise.get() + ", waited=" + longest);
      }
      try {
        if (changed.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
          changed.drainPermits();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ClusterException("interrupted: " + otherwise.get());
      }
    }
  }
}
