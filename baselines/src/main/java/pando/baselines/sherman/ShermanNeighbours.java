package pando.baselines.sherman;

import java.lang.foreign.MemorySegment;
import pando.baselines.lock.NodeLocks;
import pando.index.session.NeighbourSearch;

/** Searches the entry next to a key, leaf by leaf. */
final class ShermanNeighbours extends NeighbourSearch {
  private final BLinkLayout layout;
  private final MemorySegment memory;
  private final NodeLocks locks;
  private final ShermanNodes nodes;
  private final ShermanDescent descent;
  private final ShermanLeaves leaves;
  private final long leaf;

  /** Whether the node whose lock is taken is a leaf. */
  private boolean busyIsLeaf;

  private boolean busyOwned;

  ShermanNeighbours(ShermanContext context, ShermanDescent descent, ShermanLeaves leaves) {
    this.layout = context.layout;
    this.memory = context.memory;
    this.locks = context.locks;
    this.nodes = context.nodes;
    this.leaf = context.leaf;
    this.descent = descent;
    this.leaves = leaves;
  }

  /**
   * {@inheritDoc} If the validation does not show that a leaf is a snapshot, returns {@link
   * Outcome#FURTHER} at once.
   */
  @Override
  public Outcome look(long wanted, boolean down) {
    if (!nodes.readsSnapshots()) {
      return Outcome.FURTHER;
    }
    leaves.read(wanted);
    return lookInLeaf(wanted, down);
  }

  private Outcome lookInLeaf(long wanted, boolean down) {
    int index = layout.nearest(memory, leaf, wanted, down);
    return index >= 0
        ? found(BLinkLayout.key(memory, leaf, index), BLinkLayout.slot(memory, leaf, index))
        : beyond(down ? BLinkLayout.low(memory, leaf) : BLinkLayout.high(memory, leaf), down);
  }

  @Override
  protected Outcome lookUnderLock(long wanted, boolean down) {
    if (!descent.findLeafAtOnce(wanted)) {
      return busy(false);
    }
    while (locks.tryLock(descent.node, descent.owned())) {
      hold(descent.node);
      int outcome = nodes.readHeld(descent.node, 0, wanted, leaf);
      if (outcome == ShermanNodes.COVERS) {
        return lookInLeaf(wanted, down);
      }
      if (outcome == ShermanNodes.STALE) {
        descent.astray(0);
        return Outcome.BUSY;
      }
      descent.right(nodes.sibling(leaf));
    }
    return busy(true);
  }

  private Outcome busy(boolean isLeaf) {
    busyIsLeaf = isLeaf;
    busyOwned = descent.owned();
    return busy(descent.node);
  }

  /**
   * {@inheritDoc} Keeps the lock of a leaf. Unlocks an inner node, as the session could find that
   * lock taken by itself when it goes on at another compute server.
   */
  @Override
  protected boolean lock(long node) {
    locks.lock(node, busyOwned);
    if (!busyIsLeaf) {
      locks.unlock(node);
    }
    return busyIsLeaf;
  }

  @Override
  protected void unlock(long node) {
    locks.unlock(node);
  }
}
