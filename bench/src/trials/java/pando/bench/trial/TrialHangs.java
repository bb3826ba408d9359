package pando.bench.trial;

import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.fabric.StalledException;

/**
 * Operations that stalled although every fault had ended and no other operation ran: they hang for
 * ever.
 */
public final class TrialHangs {
  private @Nullable String first;
  private int count;

  TrialHangs() {}

  /** Records a failed operation if it stalled. */
  void add(String operation, PandoException failure) {
    StalledException stall = stall(failure);
    if (stall == null) {
      return;
    }
    if (first == null) {
      first = operation + ": " + stall.getMessage();
    }
    count++;
  }

  /** Returns whether an operation failed because it waited for too long. */
  static boolean isStall(PandoException failure) {
    return stall(failure) != null;
  }

  private static @Nullable StalledException stall(PandoException failure) {
    Throwable stall = failure instanceof StalledException ? failure : failure.getCause();
    return stall instanceof StalledException found ? found : null;
  }

  /** Returns the number of operations that hang; the search stops after a few. */
  public int count() {
    return count;
  }

  /** Returns the first of them, its key, and what it waited for; {@code null} if none hangs. */
  public @Nullable String first() {
    return first;
  }
}
