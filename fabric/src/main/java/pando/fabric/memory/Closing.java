package pando.fabric.memory;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What closing takes: steps that all run even if others fail, and waits for threads that end. */
public final class Closing {
  private Closing() {}

  /**
   * Runs all steps in order.
   *
   * @throws RuntimeException the first failure, or an {@link Error}; further failures are added to
   *     it as suppressed
   */
  public static void all(Runnable... steps) {
    all(List.of(steps));
  }

  /** Runs all steps in order, as {@link #all(Runnable...)} does. */
  public static void all(List<? extends Runnable> steps) {
    Throwable first = null;
    for (Runnable step : steps) {
      first = run(step, first);
    }
    if (first instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (first instanceof Error error) {
      throw error;
    }
  }

  /** Runs all steps after a failure; further failures are added to it as suppressed. */
  public static void after(Throwable failure, Runnable... steps) {
    for (Runnable step : steps) {
      Throwable _ = run(step, failure);
    }
  }

  /**
   * Waits until a thread has ended, or returns at once if it was not started. A waiter that is
   * interrupted waits anyway, and stays interrupted.
   */
  public static void join(Thread thread) {
    // Without a time: in the simulation a client that parks for a time would do so in real time.
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns whether a thread has ended within a time, as {@link #join(Thread)} waits. */
  public static boolean join(Thread thread, Duration longest) {
    long deadline = System.nanoTime() + longest.toNanos();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return !thread.isAlive()
              || thread.join(Duration.ofNanos(Math.max(deadline - System.nanoTime(), 1)));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static @Nullable Throwable run(Runnable step, @Nullable Throwable first) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      if (first == null) {
        return e;
      }
      first.addSuppressed(e);
    }
    return first;
  }
}
