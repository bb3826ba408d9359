package pando.baselines.blink;

import java.lang.foreign.MemorySegment;
import pando.baselines.lock.SessionLocks;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.index.pool.Catalogue;

/**
 * Merges nodes that removals have left nearly empty, and frees their memory. A system implements
 * how two nodes become one.
 */
public abstract class BLinkMerges {
  /*
   * Two neighbours become the left one, under the locks of both and of the parent of both. No
   * hold-and-wait: if one of the locks is taken, the merge is left to a later removal.
   *
   * The right node is hidden first, then the left node is written, then the parent without the
   * right node. A reader that comes to the hidden node starts anew, until the parent leads past it;
   * if the place holds another node by then, the reader detects that by level and fences. The
   * hidden node keeps its entries. So wherever the process dies, a burial finds what is left from
   * the parent: a hidden child whose left neighbour does not cover its keys is shown again, and one
   * whose neighbour does is taken out. Were the right node hidden last, nothing in the pool would
   * lead to it after the parent is written, and sessions with an old pointer would go on to use it.
   * For the same reason it is unlocked before the parent is written: its lock may be in the node.
   *
   * Likewise a root with one child is hidden, and unlocked, before the child becomes the root.
   *
   * A merge that stops half-way would leave keys that nobody can reach; if it must stop, the locks
   * stay held. If a new sibling between two children is not yet in the parent, the children are not
   * merged: the left one's sibling is not the right one.
   */

  /**
   * A removal that leaves a multiple of this many entries, below the threshold, tries to merge; not
   * every removal does, as a merge may be impossible for long.
   */
  private static final int STEP = 4;

  private final BLinkServer server;
  private final BLinkNodes nodes;
  private final SessionLocks locks;
  private final BLinkDescent descent;
  private final Catalogue catalogue;
  private final Worker worker;
  private final BLinkRoots roots;

  /** Number of entries below which a leaf is merged. */
  protected final double mergeBelow;

  protected final MemorySegment memory;

  /** Local offset of the buffer for the left node. */
  protected final long left;

  /** Local offset of the buffer for the right node. */
  protected final long right;

  /** Local offset of the buffer for the parent. */
  protected final long parent;

  /** The children of the parent. */
  protected final Children children;

  private final long message;
  private final Runnable writing = this::writeUnfinished;
  private long unfinished;

  /**
   * Creates the merges of one worker.
   *
   * @param mergeBelow number of entries below which a leaf is merged
   * @param childrenMax maximum number of children of an inner node
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
    this.roots = new BLinkRoots(context);
  }

  /** Returns whether an inner node with {@code count} children should be merged. */
  protected abstract boolean isSparse(int count);

  /** Returns whether two nodes that together cover these keys may be merged. */
  protected boolean mayMerge(long low, long high) {
    return true;
  }

  /** Locks a node that covers keys of this range, if its lock is free; returns whether it did. */
  protected abstract boolean tryLock(long node, long low, long high);

  /** Copies the children of the parent to {@link #children}. */
  protected abstract void copyChildren();

  /**
   * Copies everything from the right node into the left one, and hides the right one, in local
   * memory. The right one keeps its entries.
   *
   * @param index index of the left node among the {@link #children}
   * @return {@code false} if it does not fit; then nothing must be written
   */
  protected abstract boolean join(int level, int index);

  /** Removes a child from the parent's buffer, after it was removed from {@link #children}. */
  protected abstract void removeFromParent(int index);

  /** Hides the parent, which is no longer part of the tree, in local memory. */
  protected abstract void hideParent();

  /**
   * Called after the parent, which has lost a child, was unlocked, so that a system can update the
   * pointer to it. Default: does nothing.
   */
  protected void parentChanged(int level, long low, long address) {}

  /**
   * Returns whether a removal that leaves a leaf with {@code entries} entries should try to merge
   * it.
   */
  public final boolean isDue(int entries) {
    return entries < mergeBelow && entries % STEP == 0;
  }

  /**
   * Merges the node of {@code level} that covers a key with a neighbour, if that is possible now.
   */
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

  /** Merges a child of the locked parent with the next child; returns whether it did. */
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
      writeSurely(right);
      writeSurely(left);
    }
    try {
      locks.unlock(rightAddress);
    } finally {
      if (fits) {
        writeSurely(parent);
      }
    }
    locks.unlock(leftAddress);
    if (fits) {
      server.allocator.free(worker, message, rightAddress);
    }
    return fits;
  }

  /** Writes a node; repeats the WRITE if it fails. */
  private void writeSurely(long node) {
    unfinished = node;
    locks.untilDone(worker, "a merge", nodes.address(node), writing);
  }

  private void writeUnfinished() {
    nodes.write(unfinished);
  }

  /**
   * If a locked node with one child is the root, makes the child the root and frees the node.
   * Returns whether it did.
   */
  private boolean lowerRoot(long node, int level) {
    // With a sibling, the session that split the node may be about to put a new root above it.
    if (level < 2 || nodes.sibling(parent) != GlobalAddress.NULL) {
      return false;
    }
    long root = catalogue.root();
    long child = descent.addressOf(children.pointers[0]);
    if (Catalogue.rootAddress(root) != node) {
      return false;
    }
    hideParent();
    writeSurely(parent);
    try {
      locks.unlock(node);
    } finally {
      roots.lower(root, child, level - 1);
    }
    server.setRoot(0, worker.backoff());
    server.allocator.free(worker, message, node);
    return true;
  }
}
