package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.session.NeighbourSearch;

/** Searches the entry next to a key, leaf by leaf. */
final class DeftNeighbours extends NeighbourSearch {
  private static final int SNAPSHOTS_MAX = 8;

  private final DeftLeafLayout layout;
  private final MemorySegment memory;
  private final Worker worker;
  private final DeftNodeLocks locks;
  private final DeftNodes nodes;
  private final DeftDescent descent;
  private final long leaf;
  private final VerbList nothing = new VerbList();

  DeftNeighbours(DeftContext context, DeftDescent descent) {
    this.layout = context.server.leaves;
    this.memory = context.memory;
    this.worker = context.worker;
    this.locks = context.locks;
    this.nodes = context.nodes;
    this.leaf = context.leaf;
    this.descent = descent;
  }

  /** {@inheritDoc} If no READ of some finds the leaf unchanged, returns {@link Outcome#FURTHER}. */
  @Override
  public Outcome look(long wanted, boolean down) {
    for (int attempt = 0; nodes.readsSnapshots() && attempt < SNAPSHOTS_MAX; attempt++) {
      descent.findLeaf(wanted);
      long node = descent.node;
      if (nodes.readSnapshot(node, leaf)) {
        if (nodes.check(node, 0, wanted, leaf) == DeftNodes.COVERS) {
          return lookInLeaf(wanted, down);
        }
        descent.astray(attempt);
      } else {
        worker.backoff().pause(attempt);
      }
    }
    return Outcome.FURTHER;
  }

  private Outcome lookInLeaf(long wanted, boolean down) {
    int index = layout.nearest(memory, leaf, wanted, down);
    return index >= 0
        ? found(DeftLeafLayout.key(memory, leaf, index), DeftLeafLayout.value(memory, leaf, index))
        : beyond(down ? NodeHeader.low(memory, leaf) : NodeHeader.high(memory, leaf), down);
  }

  @Override
  protected Outcome lookUnderLock(long wanted, boolean down) {
    descent.findLeaf(wanted);
    while (locks.tryExclusive(descent.node)) {
      hold(descent.node);
      int outcome = nodes.readHeld(descent.node, 0, wanted, leaf);
      if (outcome == DeftNodes.COVERS) {
        return lookInLeaf(wanted, down);
      }
      if (outcome == DeftNodes.STALE) {
        descent.astray(0);
        return Outcome.BUSY;
      }
      descent.right(NodeHeader.sibling(memory, leaf));
    }
    return busy(descent.node);
  }

  @Override
  protected boolean lock(long node) {
    locks.lockExclusive(node, nothing);
    return true;
  }

  @Override
  protected void unlock(long node) {
    locks.unlock(node);
  }
}
