package pando.index;

import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;

/**
 * The right of a compute server to answer from its caches, which ends by itself.
 *
 * <p>A session looks at it <em>after</em> an operation: what was found counts only if the lease is
 * held then. A change after which it is not held is of unknown outcome: another compute server may
 * have taken over before.
 */
public interface Lease {
  /** Returns whether the lease is held now. */
  boolean isHeld();

  /**
   * Returns once the lease is held.
   *
   * @throws PandoException if it is not held in time, or never again: what was found must not be
   *     answered
   */
  void await();

  /**
   * Returns after a change, once the lease is held.
   *
   * @throws UnknownOutcomeException if it is not held in time, or never again
   */
  default void awaitAfterChange() {
    if (isHeld()) {
      return;
    }
    try {
      await();
    } catch (PandoException e) {
      throw new UnknownOutcomeException(
          "a change may be lost, as the lease was not held: " + e.getMessage());
    }
  }
}
