package pando.baselines.lock;

/**
 * How nodes are locked.
 *
 * @param onChip whether the global locks are in the memory servers' on-chip regions; else in the
 *     nodes
 * @param local whether a compute server's threads queue locally for a lock; only with on-chip locks
 * @param versions whether a lock's word counts the changes of the nodes that it protects
 * @param combine whether changes and the unlock after them are posted in one doorbell list
 * @param handovers maximum number of local hand-overs in a row
 * @param waitNanos longest wait for a lock that another session holds, in nanoseconds
 * @param wordOffset offset of the lock word in a node, in bytes, a multiple of 8; only for locks in
 *     nodes
 */
public record LockOptions(
    boolean onChip,
    boolean local,
    boolean versions,
    boolean combine,
    int handovers,
    long waitNanos,
    int wordOffset) {
  /**
   * Returns the options of the hierarchical on-chip lock: locks in the memory servers' on-chip
   * regions, local queues in front of them, and changes posted with the unlock.
   */
  public static LockOptions hierarchical(int handovers, long waitNanos) {
    return new LockOptions(true, true, false, true, handovers, waitNanos, 0);
  }
}
