package pando.index.blink;

import pando.fabric.Worker;
import pando.index.lock.Retry;
import pando.index.lock.SessionLocks;
import pando.index.pool.Catalogue;

/**
 * Changes which node is the root, where a verb fails again and again: without its root a tree is
 * lost.
 */
final class Roots {
  private final Catalogue catalogue;
  private final Worker worker;
  private final SessionLocks locks;

  /** Whether an attempt that failed may have replaced the root. */
  private boolean asked;

  private boolean replaced;

  Roots(BLinkContext context) {
    this.catalogue = context.catalogue;
    this.worker = context.worker;
    this.locks = context.locks();
  }

  /**
   * Makes a hidden node the root, and shows it. While it is hidden, no other session can replace
   * it.
   *
   * @param show writes what shows the node
   * @return whether it is the root; else there is another one already
   */
  boolean raise(long before, long address, int level, Runnable show) {
    asked = false;
    Retry.underLocks(
        worker,
        locks,
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
   * Makes the child of a root the root. No other session replaces a root that is locked and has no
   * sibling: where an attempt before was not answered, it was this one.
   *
   * @return whether the root was replaced; else it was not the root any more
   */
  boolean lower(long before, long child, int level) {
    asked = false;
    Retry.underLocks(
        worker,
        locks,
        "a merge",
        Catalogue.rootAddress(before),
        () -> {
          boolean askedBefore = asked;
          replaced = replace(before, child, level) || askedBefore;
        });
    return replaced;
  }

  private boolean replace(long before, long address, int level) {
    asked = true;
    return catalogue.replaceRoot(before, address, level);
  }
}
