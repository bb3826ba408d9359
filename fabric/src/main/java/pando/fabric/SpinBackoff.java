package pando.fabric;

import java.util.concurrent.locks.LockSupport;

/**
 * Waits in real time: spins at first, then lets other threads run, then sleeps longer and longer.
 *
 * <p>A virtual thread keeps its carrier until it blocks, and one that yields is scheduled again
 * before threads whose timers have expired; the thread that it waits for may be one of those. So a
 * virtual thread sleeps where a platform thread yields, and sometimes where a platform thread
 * spins.
 *
 * <p>Not thread-safe: one for each thread.
 */
public final class SpinBackoff implements Backoff {
  private static final int YIELDING_ATTEMPTS = 64;
  private static final long PARK_NANOS_MIN = 1_000;
  private static final long PARK_NANOS_MAX = 1_000_000;
  private static final int DOUBLINGS_MAX = 10;

  /** Pauses of a virtual thread for each in which it does not spin. */
  private static final int VIRTUAL_PERIOD = 32;

  static {
    assert PARK_NANOS_MIN << DOUBLINGS_MAX >= PARK_NANOS_MAX;
  }

  private int virtualPauses;

  /** Makes one that has not waited yet. */
  public SpinBackoff() {}

  @Override
  public void pauseBriefly(int attempt) {
    pause(Math.min(attempt, YIELDING_ATTEMPTS - 1));
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // With few cores the holder may wait for this one.
  public void pause(int attempt) {
    boolean virtual = Thread.currentThread().isVirtual();
    if (attempt < SPINNING_ATTEMPTS && !(virtual && ++virtualPauses % VIRTUAL_PERIOD == 0)) {
      for (int i = 0; i <= attempt; i++) {
        Thread.onSpinWait();
      }
    } else if (attempt < YIELDING_ATTEMPTS && !virtual) {
      Thread.yield();
    } else {
      int doublings = Math.clamp((attempt - YIELDING_ATTEMPTS) / 4, 0, DOUBLINGS_MAX);
      park(Math.min(PARK_NANOS_MIN << doublings, PARK_NANOS_MAX));
    }
  }

  /** Sleeps for the whole time even in an interrupted thread, which stays interrupted. */
  private static void park(long nanos) {
    long end = System.nanoTime() + nanos;
    boolean interrupted = false;
    for (long left = nanos; left > 0; left = end - System.nanoTime()) {
      interrupted |= Thread.interrupted();
      LockSupport.parkNanos(left);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
