package pando.cluster;

import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;

/**
 * Looks at the {@link Lease} after an operation: what was found counts only if it is held then. A
 * change after which it is not held is of unknown outcome: another compute server may have taken
 * over before.
 */
final class LeaseCheck {
  private final Lease lease;

  LeaseCheck(Lease lease) {
    this.lease = lease;
  }

  /** Returns an answer once the lease is held. */
  boolean found(boolean found) {
    look();
    return found;
  }

  /** Returns a number of entries once the lease is held: that there are no others is an answer. */
  long counted(long entries) {
    look();
    return entries;
  }

  /** Returns once the lease is held. */
  void look() {
    if (!PlantedBug.LEASE_UNCHECKED) {
      lease.await();
    }
  }

  /** Returns the answer of a change once the lease is held. */
  boolean changed(boolean changed) {
    changed();
    return changed;
  }

  /** Returns after a change, once the lease is held. */
  void changed() {
    if (!lease.isHeld() && !PlantedBug.LEASE_UNCHECKED) {
      awaitAfterChange();
    }
  }

  private void awaitAfterChange() {
    try {
      lease.await();
    } catch (PandoException e) {
      throw new UnknownOutcomeException(
          "a change may be lost, as the lease was not held: " + e.getMessage());
    }
  }
}
