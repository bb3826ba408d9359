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
   * Repeats a step until it ends without a {@link PandoException} or an {@link Error}. Pauses
   * briefly before each new attempt.
   *
   * @param step must be repeatable, whether or not an earlier attempt took effect
   * @throws PandoException if all {@value #ATTEMPTS_MAX} attempts fail: the last failure, which may
   *     be an {@link Error} instead
   */
  public static void untilDone(Worker worker, Runnable step) {
    for (int attempt = 0; ; attempt++) {
      try {
        step.run();
        return;
      } catch (PandoException | Error e) {
        if (attempt == ATTEMPTS_MAX - 1) {
          throw e;
        }
        worker.backoff().pauseBriefly(attempt);
      }
    }
  }

  /**
   * Repeats a step as {@link #untilDone} does, while the session holds locks on nodes that are
   * damaged until the step is done. If it fails, all locks stay held, so that no session changes
   * the nodes.
   *
   * @param change name of the change that the step belongs to, for the message
   * @param node address of the node, for the message
   * @throws StalledException if the step is not done in the end
   * @throws IllegalStateException if the fabric is closed
   */
  public static void underLocks(
      Worker worker, SessionLocks locks, String change, long node, Runnable step) {
    try {
      untilDone(worker, step);
    } catch (IllegalStateException e) {
      // The fabric is closed: nobody can use the nodes any more.
      locks.keep();
      throw e;
    } catch (RuntimeException | Error e) {
      locks.keep();
      throw new StalledException(
          "%s stopped half-way, and keeps its nodes locked: node=%s, because=%s"
              .formatted(change, GlobalAddress.toString(node), e));
    }
  }
}
