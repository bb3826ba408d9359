package pando.baselines.lock;

import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.session.Retry;

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

  /**
   * Repeats a step as {@link Retry#untilDone} does, while these locks are held on nodes that are
   * damaged until the step is done. If it fails, all locks stay held, so that no session changes
   * the nodes.
   *
   * @param change name of the change that the step belongs to, for the message
   * @param node address of the node, for the message
   * @throws StalledException if the step is not done in the end
   * @throws IllegalStateException if the fabric is closed
   * @throws pando.fabric.FencedException if the compute server is fenced, or {@link
   *     pando.fabric.UnknownOutcomeException}
   */
  default void untilDone(Worker worker, String change, long node, Runnable step) {
    try {
      Retry.untilDone(worker, step);
    } catch (IllegalStateException e) {
      // The fabric is closed: nobody can use the nodes any more.
      keep();
      throw e;
    } catch (RuntimeException | Error e) {
      if (Retry.isFenced(e)) {
        // This compute server can use the nodes no more; their locks in the pool stay.
        throw e;
      }
      keep();
      throw new StalledException(
          "%s stopped half-way, and keeps its nodes locked: node=%s, because=%s"
              .formatted(change, GlobalAddress.toString(node), e));
    }
  }
}
