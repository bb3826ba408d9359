package pando.fabric.lane;

import pando.fabric.Backoff;
import pando.fabric.SpinBackoff;

/**
 * Waits in a lane: lets the lane's other threads run at first, then sleeps longer and longer, and
 * never spins, as what it waits for may be done by a thread of the same lane.
 */
final class LaneBackoff implements Backoff {
  private static final int YIELDING_ATTEMPTS = 64;
  private static final long SLEEP_NANOS_MIN = 1_000;
  private static final int DOUBLINGS_MAX = 10;

  private final LaneLoop lane;
  private final Sleeper sleeper = new Sleeper();

  /** For a thread that is not of the lane, and uses a worker of it. */
  private final Backoff outside = new SpinBackoff();

  LaneBackoff(LaneLoop lane) {
    this.lane = lane;
  }

  @Override
  public void pauseBriefly(int attempt) {
    pause(Math.min(attempt, YIELDING_ATTEMPTS - 1));
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // In a lane it is what lets others run.
  public void pause(int attempt) {
    if (!lane.carriesCurrentThread()) {
      outside.pause(attempt);
    } else if (attempt < YIELDING_ATTEMPTS) {
      Thread.yield();
    } else {
      int doublings = Math.clamp((attempt - YIELDING_ATTEMPTS) / 4, 0, DOUBLINGS_MAX);
      lane.sleep(sleeper, SLEEP_NANOS_MIN << doublings);
    }
  }
}
