package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.index.lock.NodeLocks;
import pando.index.pool.Catalogue;

/** Merges nodes that deletes have left nearly empty, and gives their memory back. */
final class Merges {
  /*
   * Two neighbours become the left one, under the locks of both and of the node above that knows
   * both. They are taken without waiting, as whoever holds one lock may be waiting for another; where
   * one is taken, the merge is left to a later delete.
   *
   * The left node is written first, then the node above without the right one, then the right one
   * with its freed bit, and only then is any lock let go. Until the bit is there, a reader who comes
   * to the right node by an old pointer finds in it what is in the left one, too. Afterwards he finds
   * that he went astray; and so he does when the place holds another node, by its level and fences.
   *
   * A node whose sibling is not yet known above is no neighbour of the next one that is: fences that
   * do not meet tell.
   */

  /** One in so many deletes below the threshold tries, so that none tries in vain each time. */
  private static final int STEP = 4;

  private static final int WRITES_MAX = 100;

  private final ShermanServer server;
  private final BLinkLayout layout;
  private final Nodes nodes;
  private final NodeLocks locks;
  private final Descent descent;
  private final Catalogue catalogue;
  private final Worker worker;
  private final MemorySegment memory;
  private final long left;
  private final long right;
  private final long parent;
  private final long message;
  private final int mergeBelow;
  private final int mergedMax;
  private final long[] keys;
  private final long[] slots;

  Merges(ShermanContext context, Descent descent) {
    this.server = context.server;
    this.layout = context.layout;
    this.nodes = context.nodes;
    this.locks = context.locks;
    this.descent = descent;
    this.catalogue = context.catalogue;
    this.worker = context.worker;
    this.memory = context.memory;
    this.left = context.leaf;
    this.right = context.sibling;
    this.parent = context.parent;
    this.message = context.message;
    this.mergeBelow = (int) Math.ceil(layout.capacity() * server.options.mergeShare());
    this.mergedMax = (int) (layout.capacity() * server.options.mergedShare());
    this.keys = new long[layout.capacity()];
    this.slots = new long[layout.capacity()];
  }

  /** Tells whether a leaf with so few entries should look for a neighbour. */
  boolean isDue(int entries) {
    return entries < mergeBelow && entries % STEP == 0;
  }

  /** Merges the node of a level that covers a key with a neighbour, if that can be done now. */
  void merge(long key, int level) {
    if (!descent.find(key, level + 1) || !locks.tryLock(descent.node, descent.owned)) {
      return;
    }
    long above = descent.node;
    if (nodes.readHeld(above, level + 1, key, parent) != Nodes.COVERS) {
      locks.unlock(above);
      return;
    }
    int index = layout.childOf(memory, parent, key);
    boolean merged = mergeWithNext(index, level) || mergeWithNext(index - 1, level);
    int children = BLinkLayout.count(memory, parent);
    if (merged && children == 1 && lowerRoot(above, level + 1)) {
      return;
    }
    locks.unlock(above);
    if (merged && (children == 1 || children < mergeBelow)) {
      merge(key, level + 1);
    }
  }

  /** Merges a child of the node above, whose lock is held, with the one after it. */
  private boolean mergeWithNext(int index, int level) {
    if (index < 0 || index + 1 >= BLinkLayout.count(memory, parent)) {
      return false;
    }
    long low = BLinkLayout.key(memory, parent, index);
    long high = BLinkLayout.highOfChild(memory, parent, index + 1);
    boolean owned = server.owns(low, high);
    if (server.partitioned && !owned) {
      return false;
    }
    long leftAddress = BLinkLayout.slot(memory, parent, index);
    long rightAddress = BLinkLayout.slot(memory, parent, index + 1);
    if (!locks.tryLock(leftAddress, owned)) {
      return false;
    }
    if (!locks.tryLock(rightAddress, owned)) {
      locks.unlock(leftAddress);
      return false;
    }
    long middle = BLinkLayout.key(memory, parent, index + 1);
    boolean fits =
        nodes.readHeld(leftAddress, level, low, left) == Nodes.COVERS
            && nodes.readHeld(rightAddress, level, middle, right) == Nodes.COVERS
            && BLinkLayout.sibling(memory, left) == rightAddress
            && size(left, level) + size(right, level) <= mergedMax;
    if (!fits) {
      locks.unlock(rightAddress);
      locks.unlock(leftAddress);
      return false;
    }
    join(level);
    BLinkLayout.delete(memory, parent, index + 1);
    BLinkLayout.free(memory, right);
    writeSurely(left);
    writeSurely(parent);
    writeSurely(right);
    locks.unlock(rightAddress);
    locks.unlock(leftAddress);
    server.allocator.free(worker, message, rightAddress);
    return true;
  }

  /**
   * Writes a node, again and again where that fails. A merge that stops half-way would leave two
   * nodes with the same keys; where it has to, the locks stay held, so that nobody uses them.
   */
  private void writeSurely(long node) {
    PandoException failure = null;
    for (int attempt = 0; attempt < WRITES_MAX; attempt++) {
      try {
        nodes.write(node);
        return;
      } catch (PandoException e) {
        failure = e;
        worker.backoff().pauseBriefly(attempt);
      }
    }
    throw stoppedHalfWay(node, failure);
  }

  private StalledException stoppedHalfWay(long node, @Nullable PandoException failure) {
    locks.keep();
    return new StalledException(
        "a merge stopped half-way, and keeps its nodes locked: node="
            + GlobalAddress.toString(BLinkLayout.address(memory, node))
            + ", because="
            + failure);
  }

  /** Replaces the root, again and again where that fails: nobody may use what is no longer one. */
  private boolean replaceRootSurely(long root, long child, int level) {
    PandoException failure = null;
    for (int attempt = 0; attempt < WRITES_MAX; attempt++) {
      try {
        // Nobody else replaces a root that is locked and has no sibling: then it was us.
        return catalogue.replaceRoot(root, child, level) || attempt > 0;
      } catch (PandoException e) {
        failure = e;
        worker.backoff().pauseBriefly(attempt);
      }
    }
    throw stoppedHalfWay(parent, failure);
  }

  private int size(long node, int level) {
    return level == 0 ? layout.entries(memory, node) : BLinkLayout.count(memory, node);
  }

  /** Moves everything from the right node into the left one. */
  private void join(int level) {
    if (level == 0) {
      int count = layout.copySorted(memory, right, Long.MIN_VALUE, Long.MAX_VALUE, keys, slots);
      for (int i = 0; i < count; i++) {
        BLinkLayout.put(memory, left, layout.findFree(memory, left), keys[i], slots[i]);
      }
    } else {
      for (int i = 0; i < BLinkLayout.count(memory, right); i++) {
        BLinkLayout.append(
            memory, left, BLinkLayout.key(memory, right, i), BLinkLayout.slot(memory, right, i));
      }
    }
    BLinkLayout.setHigh(memory, left, BLinkLayout.high(memory, right));
    BLinkLayout.setSibling(memory, left, BLinkLayout.sibling(memory, right));
  }

  /** Makes the only child of a locked node the root, if the node is the root; frees the node. */
  private boolean lowerRoot(long node, int level) {
    // Whoever has split it may be about to make its sibling known above.
    if (level < 2 || BLinkLayout.sibling(memory, parent) != GlobalAddress.NULL) {
      return false;
    }
    long root = catalogue.root();
    long child = BLinkLayout.slot(memory, parent, 0);
    if (Catalogue.rootAddress(root) != node || !replaceRootSurely(root, child, level - 1)) {
      return false;
    }
    BLinkLayout.free(memory, parent);
    writeSurely(parent);
    locks.unlock(node);
    server.setRoot(0, worker.backoff());
    server.allocator.free(worker, message, node);
    return true;
  }
}
