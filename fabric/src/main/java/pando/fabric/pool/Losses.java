package pando.fabric.pool;

import org.jspecify.annotations.Nullable;
import pando.fabric.FencedException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;

/**
 * Takes steps at several memory servers. A lost one keeps no step at another from being taken, and
 * the fence of this compute server keeps none of its own from being tried; any other failure is
 * thrown at once, as the steps can be taken again.
 */
public final class Losses {
  private @Nullable PandoException first;

  /** Creates an object that knows of no loss. */
  public Losses() {}

  /** Takes a step; records that a memory server is lost, or this compute server fenced. */
  public void defer(Runnable step) {
    try {
      step.run();
    } catch (MemoryServerLostException | FencedException e) {
      if (first == null) {
        first = e;
      } else if (e instanceof FencedException && !(first instanceof FencedException)) {
        e.addSuppressed(first);
        first = e;
      } else {
        first.addSuppressed(e);
      }
    }
  }

  /**
   * Throws the fence of this compute server, as nothing that it has can be written then, or else
   * the first loss, if there was one; the others are suppressed.
   */
  public void rethrow() {
    if (first != null) {
      throw first;
    }
  }
}
