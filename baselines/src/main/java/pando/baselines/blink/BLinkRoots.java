package pando.baselines.blink;

import pando.baselines.lock.SessionLocks;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.pool.Catalogue;

/** Replaces the root. Repeats the verbs if they fail, as a tree whose root is not known is lost. */
final class BLinkRoots {
  private final Catalogue catalogue;
  private final Worker worker;
  private final SessionLocks locks;

  /** Whether an earlier attempt, which failed, may have replaced the root. */
  private boolean asked;

  private boolean replaced;

  BLinkRoots(BLinkContext context) {
    this.catalogue = context.catalogue;
    this.worker = context.worker;
    this.locks = context.locks();
  }

  /**
   * Makes a hidden node the root, and shows it. While the node is hidden, no other session can
   * replace it as the root.
   *
   * @param show shows the node
   * @return {@code true} if the node is the root, {@code false} if another session has replaced the
   *     root
   */
  boolean raise(long before, long address, int level, Runnable show) {
    asked = false;
    locks.untilDone(
        worker,
        "a new root",
        address,
        () -> {
          replaced =
              (asked && Catalogue.rootAddress(catalogue.root()) == address)
                  || replace(before, address, level);
          if (replaced) {
            show.run();
          }
        });
    return replaced;
  }

  /**
   * Makes the child of a hidden root the root. No other session replaces a root that is hidden. So
   * if the root is not {@code before} any more after an attempt without an answer, that attempt
   * replaced it.
   */
  void lower(long before, long child, int level) {
    asked = false;
    locks.untilDone(
        worker,
        "a merge",
        Catalogue.rootAddress(before),
        () -> {
          boolean askedBefore = asked;
          replaced = replace(before, child, level) || askedBefore;
        });
    if (!replaced) {
      throw new CorruptNodeException(
          Catalogue.rootAddress(before), "is not the root any more, although it was hidden");
    }
  }

  private boolean replace(long before, long address, int level) {
    asked = true;
    return catalogue.replaceRoot(before, address, level);
  }
}
