package pando.index.lock;

import pando.fabric.VerbList;

/** The locks that one session holds on nodes. Not thread-safe. */
public interface SessionLocks {
  /** Unlocks a node. */
  void unlock(long node);

  /**
   * Posts the changes of a node and then unlocks it. All changes are of the node's memory server.
   *
   * @param changes WRITEs, possibly none; cleared by this method
   */
  void writeAndUnlock(long node, VerbList changes);

  /**
   * Unlocks everything after a failure. Further failures are added to the given one as suppressed.
   */
  void abandon(Throwable failure);

  /** Forgets all held locks and leaves them locked, so that no session changes their nodes. */
  void keep();
}
