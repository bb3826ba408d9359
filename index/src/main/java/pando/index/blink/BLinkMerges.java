package pando.index.blink;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.index.lock.Retry;
import pando.index.lock.SessionLocks;
import pando.index.pool.Catalogue;

/**
 * Merges nodes that removals have left nearly empty, and gives their memory back. A system says how
 * two nodes become one.
 */
public abstract class BLinkMerges {
  /*
   * Two neighbours become the left one, under the locks of both and of the node above that knows
   * both. No hold-and-wait: they are taken without waiting, and where one is taken, the merge is left
   * to a later removal.
   *
   * The left node is written first, then the node above without the right one, then the right one,
   * hidden, and only then is any of them unlocked. Until then, a reader that comes to the right node
   * by an old pointer finds in it what is in the left one, too. Afterwards it finds that it went
   * astray; and so it does when the place holds another node, by its level and fences.
   *
   * A merge that stops half-way would leave two nodes with the same keys; where it has to, the locks
   * stay held. A node whose sibling is not yet known above is no neighbour of the next one that is:
   * its sibling tells.
   */

  /** One in so many removals below the threshold tries, so that none tries in vain each time. */
  private static final int STEP = 4;

  private final BLinkServer server;
  private final BLinkNodes nodes;
  private final SessionLocks locks;
  private final BLinkDescent descent;
  private final Catalogue catalogue;
  private final Worker worker;
  private final Roots roots;

  /** Entries of a leaf below which it is merged. */
  protected final double mergeBelow;

  protected final MemorySegment memory;

  /** Where the left node starts in local memory. */
  protected final long left;

  /** Where the right node starts. */
  protected final long right;

  /** Where the node above starts. */
  protected final long parent;

  /** The children of the node above. */
  protected final Children children;

  private final long message;
  private final Runnable writing = this::writeUnfinished;
  private long unfinished;

  /**
   * Creates what merges nodes for one worker.
   *
   * @param mergeBelow entries of a leaf below which it is merged
   * @param childrenMax that an inner node has
   */
  protected BLinkMerges(
      BLinkContext context, BLinkDescent descent, double mergeBelow, int childrenMax) {
    this.server = context.tree();
    this.nodes = context.nodes();
    this.locks = context.locks();
    this.descent = descent;
    this.catalogue = context.catalogue;
    this.worker = context.worker;
    this.memory = context.memory;
    this.mergeBelow = mergeBelow;
    this.left = context.leaf;
    this.right = context.sibling;
    this.parent = context.parent;
    this.message = context.message;
    this.children = new Children(childrenMax);
    this.roots = new Roots(context);
  }

  /** Tells whether an inner node with so few children should be merged. */
  protected abstract boolean isSparse(int count);

  /** Tells whether nodes that cover these keys together may be merged. */
  protected boolean mayMerge(long low, long high) {
    return true;
  }

  /** Locks a node that covers some of these keys, unless another session has its lock. */
  protected abstract boolean tryLock(long node, long low, long high);

  /** Copies the children of the node above to {@link #children}. */
  protected abstract void copyChildren();

  /**
   * Moves everything from the right node into the left one, and hides the right one.
   *
   * @param index of the left node among the {@link #children}
   * @return {@code false} where it is too much, and the nodes are not to be written
   */
  protected abstract boolean join(int level, int index);

  /** Removes a child from the node above, as it was from {@link #children}. */
  protected abstract void removeFromParent(int index);

  /** Hides the node above, as it is no longer part of the tree. */
  protected abstract void hideParent();

  /** Has the node two levels above know what has become of the node above, which is unlocked. */
  protected void parentChanged(int level, long low, long address) {}

  /** Tells whether a leaf with so few entries should look for a neighbour. */
  public final boolean isDue(int entries) {
    return entries < mergeBelow && entries % STEP == 0;
  }

  /** Merges the node of a level that covers a key with a neighbour, if that can be done now. */
  public final void merge(long key, int level) {
    if (!descent.find(key, level + 1) || !descent.tryLock()) {
      return;
    }
    long above = descent.node;
    if (nodes.readHeld(above, level + 1, key, parent) != BLinkNodes.COVERS) {
      locks.unlock(above);
      return;
    }
    copyChildren();
    int index = children.childOf(key);
    boolean merged = mergeWithNext(index, level) || mergeWithNext(index - 1, level);
    if (merged && children.count == 1 && lowerRoot(above, level + 1)) {
      return;
    }
    long low = nodes.low(parent);
    locks.unlock(above);
    if (!merged) {
      return;
    }
    parentChanged(level + 1, low, above);
    if (isSparse(children.count)) {
      merge(key, level + 1);
    }
  }

  /** Merges a child of the node above, which is locked, with the one after it. */
  private boolean mergeWithNext(int index, int level) {
    if (index < 0 || index + 1 >= children.count) {
      return false;
    }
    long low = children.keys[index];
    long high = children.highOf(index + 1);
    long leftAddress = descent.addressOf(children.pointers[index]);
    long rightAddress = descent.addressOf(children.pointers[index + 1]);
    if (!mayMerge(low, high) || !tryLock(leftAddress, low, high)) {
      return false;
    }
    if (!tryLock(rightAddress, low, high)) {
      locks.unlock(leftAddress);
      return false;
    }
    long middle = children.keys[index + 1];
    boolean fits =
        nodes.readHeld(leftAddress, level, low, left) == BLinkNodes.COVERS
            && nodes.readHeld(rightAddress, level, middle, right) == BLinkNodes.COVERS
            && nodes.sibling(left) == rightAddress
            && join(level, index);
    if (fits) {
      children.remove(index + 1);
      removeFromParent(index + 1);
      writeSurely(left);
      writeSurely(parent);
      writeSurely(right);
    }
    locks.unlock(rightAddress);
    locks.unlock(leftAddress);
    if (fits) {
      server.allocator.free(worker, message, rightAddress);
    }
    return fits;
  }

  /** Writes a node, again and again where that fails. */
  private void writeSurely(long node) {
    unfinished = node;
    Retry.underLocks(worker, locks, "a merge", nodes.address(node), writing);
  }

  private void writeUnfinished() {
    nodes.write(unfinished);
  }

  /** Makes the only child of a locked node the root, if the node is the root; frees the node. */
  private boolean lowerRoot(long node, int level) {
    // The session that has split it may be about to make its sibling known above.
    if (level < 2 || nodes.sibling(parent) != GlobalAddress.NULL) {
      return false;
    }
    long root = catalogue.root();
    long child = descent.addressOf(children.pointers[0]);
    if (Catalogue.rootAddress(root) != node || !roots.lower(root, child, level - 1)) {
      return false;
    }
    hideParent();
    writeSurely(parent);
    locks.unlock(node);
    server.setRoot(0, worker.backoff());
    server.allocator.free(worker, message, node);
    return true;
  }
}
