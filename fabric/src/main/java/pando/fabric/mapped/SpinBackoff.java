package pando.fabric.mapped;

import java.util.concurrent.locks.LockSupport;
import pando.fabric.Backoff;

/**
 * Waits in real time: spins at first, then lets other threads run, then sleeps longer and longer.
 */
final class SpinBackoff implements Backoff {
  private static final int SPINNING_ATTEMPTS = 16;
  private static final int YIELDING_ATTEMPTS = 64;
  private static final long PARK_NANOS_MIN = 1_000;
  private static final long PARK_NANOS_MAX = 1_000_000;
  private static final int DOUBLINGS_MAX = 10;

  static {
    assert PARK_NANOS_MIN << DOUBLINGS_MAX >= PARK_NANOS_MAX;
  }

  @Override
  public void pauseBriefly(int attempt) {
    pause(Math.min(attempt, YIELDING_ATTEMPTS - 1));
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // With few cores the holder may wait for this one.
  public void pause(int attempt) {
    if (attempt < SPINNING_ATTEMPTS) {
      for (int i = 0; i <= attempt; i++) {
        Thread.onSpinWait();
      }
    } else if (attempt < YIELDING_ATTEMPTS) {
      Thread.yield();
    } else {
      int doublings = Math.min((attempt - YIELDING_ATTEMPTS) / 4, DOUBLINGS_MAX);
      LockSupport.parkNanos(Math.min(PARK_NANOS_MIN << doublings, PARK_NANOS_MAX));
    }
  }
}
