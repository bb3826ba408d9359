package pando.index.session;

import pando.fabric.FencedException;
import pando.fabric.PandoException;
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

  /** Returns whether a failure says that this compute server is fenced. */
  public static boolean isFenced(Throwable failure) {
    return failure instanceof FencedException || failure.getCause() instanceof FencedException;
  }
}
