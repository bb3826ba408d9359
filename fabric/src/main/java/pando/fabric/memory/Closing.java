package pando.fabric.memory;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs several closing steps, each even if others fail. */
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
