package pando.sim.history;

/**
 * Changes that a compute server had made and not written back, and that were lost with it: at some
 * moment each key of a range gets a value again that it had before, or none if it had none.
 *
 * @param start time before which nothing was lost
 * @param end time by which all was lost that is lost
 * @param least first key of the range
 * @param greatest last key of the range
 * @param since time of which the changes are not lost that had ended before; {@link #EVER} if all
 *     may be, {@link #NOTHING_ACKNOWLEDGED} if none is lost that had ended before the loss
 */
public record Loss(long start, long end, long least, long greatest, long since) {
  /** The time since which changes may be lost, if all may be. */
  public static final long EVER = 0;

  /** In place of a time: nothing is lost that was acknowledged. */
  public static final long NOTHING_ACKNOWLEDGED = Long.MAX_VALUE;

  boolean losesAcknowledged() {
    return since != NOTHING_ACKNOWLEDGED;
  }

  /** Returns the time before which no change may have ended that is lost. */
  long keptBefore() {
    return Math.min(since, end);
  }

  boolean covers(long key) {
    return least <= key && key <= greatest;
  }
}
