package pando.fabric.pool;

import org.jspecify.annotations.Nullable;
import pando.fabric.MemoryServerLostException;

/**
 * Takes steps at several memory servers. A lost one keeps no step at another from being taken; any
 * other failure is thrown at once, as the steps can be taken again.
 */
public final class Losses {
  private @Nullable MemoryServerLostException first;

  /** Creates an object that knows of no loss. */
  public Losses() {}

  /** Takes a step; records that a memory server is lost. */
  public void defer(Runnable step) {
    try {
      step.run();
    } catch (MemoryServerLostException e) {
      if (first == null) {
        first = e;
      } else {
        first.addSuppressed(e);
      }
    }
  }

  /** Throws the first loss, if there was one, with the others suppressed. */
  public void rethrow() {
    if (first != null) {
      throw first;
    }
  }
}
