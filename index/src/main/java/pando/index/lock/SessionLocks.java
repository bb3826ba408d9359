package pando.index.lock;

import pando.fabric.VerbList;

/** The locks that one session holds on nodes. Not thread-safe. */
public interface SessionLocks {
  /** Unlocks a node. */
  void unlock(long node);

  /**
   * Posts changes of a node and unlocks it behind them. All go to the node's memory server.
   *
   * @param changes what to write, or nothing; is used up
   */
  void writeAndUnlock(long node, VerbList changes);

  /** Unlocks everything after a failure; further failures join the first. */
  void abandon(Throwable failure);

  /** Forgets what is held and leaves it locked, as no session may use it any more. */
  void keep();
}
