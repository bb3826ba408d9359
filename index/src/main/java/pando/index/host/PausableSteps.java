package pando.index.host;

import java.util.function.BooleanSupplier;
import pando.fabric.Backoff;

/** The steps of a background task, which other threads pause and resume. Thread-safe. */
public final class PausableSteps {
  private volatile boolean busy;
  private volatile boolean paused;

  /**
   * Takes a step, unless the task is paused. Only the task may call it.
   *
   * @return whether there was work
   */
  public boolean take(BooleanSupplier step) {
    busy = true;
    try {
      return !paused && step.getAsBoolean();
    } finally {
      busy = false;
    }
  }

  /** Waits until the current step has ended. No other one begins before {@link #resume}. */
  public void pause(Backoff backoff) {
    paused = true;
    for (int attempt = 0; busy; attempt++) {
      backoff.pauseBriefly(attempt);
    }
  }

  /** Goes on. */
  public void resume() {
    paused = false;
  }
}
