package pando.index.lock;

import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;

/** Repeats a step that must not stay half-way, such as a WRITE before an unlock. */
public final class Retry {
  private static final int ATTEMPTS_MAX = 100;

  private Retry() {}

  /**
   * Repeats a step until it ends without a {@link PandoException} or an {@link Error}, or this
   * compute server is fenced. Pauses briefly before each new attempt.
   *
   * @param step must be repeatable, whether or not an earlier attempt took effect
   * @throws PandoException if all {@value #ATTEMPTS_MAX} attempts fail: the last failure, which may
   *     be an {@link Error} instead
   * @throws FencedException if the compute server is fenced, and no attempt may have taken effect
   * @throws UnknownOutcomeException if it is fenced, and one may have
   */
  public static void untilDone(Worker worker, Runnable step) {
    boolean maybeDone = false;
    for (int attempt = 0; ; attempt++) {
      try {
        step.run();
        return;
      } catch (FencedException e) {
        throw maybeDone
            ? new UnknownOutcomeException("fenced after an attempt that may have taken effect", e)
            : e;
      } catch (PandoException | Error e) {
        maybeDone |= e instanceof UnknownOutcomeException || e instanceof Error;
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
   * @throws FencedException if the compute server is fenced, or {@link UnknownOutcomeException}
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
      if (isFenced(e)) {
        // This compute server can use the nodes no more; their locks in the pool stay.
        throw e;
      }
      locks.keep();
      throw new StalledException(
          "%s stopped half-way, and keeps its nodes locked: node=%s, because=%s"
              .formatted(change, GlobalAddress.toString(node), e));
    }
  }

  /** Returns whether a failure says that this compute server is fenced. */
  public static boolean isFenced(Throwable failure) {
    return failure instanceof FencedException || failure.getCause() instanceof FencedException;
  }
}
