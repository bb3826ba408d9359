package pando.index.lock;

/**
 * How nodes are locked.
 *
 * @param onChip whether the global locks are in the memory servers' on-chip regions, else in the
 *     nodes
 * @param local whether a compute server's threads queue locally for a lock; for on-chip locks alone
 * @param versions whether a lock's word counts the changes of the nodes that it protects
 * @param combine whether changes and the unlock behind them are posted in one list
 * @param handovers how often in a row a lock is handed over locally
 * @param waitNanos how long to wait for a lock that another session holds
 * @param wordOffset where the lock's word is in a node, a multiple of 8; for locks in nodes alone
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
   * Returns locks in the memory servers' on-chip regions with local queues in front, and changes
   * posted with the unlock: the hierarchical on-chip lock.
   */
  public static LockOptions hierarchical(int handovers, long waitNanos) {
    return new LockOptions(true, true, false, true, handovers, waitNanos, 0);
  }
}
