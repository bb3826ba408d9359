package pando.index.lock;

import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.Worker;

/** Repeats a step that must not stay half-way, such as a WRITE before an unlock. */
public final class Retry {
  private static final int ATTEMPTS_MAX = 100;

  private Retry() {}

  /**
   * Repeats a step until it ends without a {@link PandoException}, and waits a little before each
   * new attempt.
   *
   * @param step may be repeated, whether or not an earlier attempt took effect
   * @throws PandoException the failure of the last of {@value #ATTEMPTS_MAX} attempts
   */
  public static void untilDone(Worker worker, Runnable step) {
    for (int attempt = 0; ; attempt++) {
      try {
        step.run();
        return;
      } catch (PandoException e) {
        if (attempt == ATTEMPTS_MAX - 1) {
          throw e;
        }
        worker.backoff().pauseBriefly(attempt);
      }
    }
  }

  /**
   * Repeats, as {@link #untilDone}, a step without which nodes that the session has locked are
   * damaged. Where it is never done, all locks stay held, so that no session uses the nodes.
   *
   * @param change what the step belongs to, for the message
   * @param node address of a node that is half changed
   * @throws StalledException where the step is never done
   */
  public static void underLocks(
      Worker worker, SessionLocks locks, String change, long node, Runnable step) {
    try {
      untilDone(worker, step);
    } catch (RuntimeException | Error e) {
      locks.keep();
      throw new StalledException(
          change
              + " stopped half-way, and keeps its nodes locked: node="
              + GlobalAddress.toString(node)
              + ", because="
              + e);
    }
  }
}
