package pando.index.dex;

import java.lang.foreign.MemorySegment;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.dex.node.NodeLayout;
import pando.index.pool.PoolChange;
import pando.index.session.Retry;

/**
 * Ends what a compute server that is lost was doing to shared nodes: completes its splits, and
 * unlocks what it had locked. The lost one is fenced. Can be done again where it fails.
 */
final class Burial {
  /*
   * A compute server locks nodes that reach beyond its range. So a node that it has locked is on
   * the path to the least or to the greatest key of the range. Or it is one half of a split whose
   * other half is on that path; then the parent of both is locked, too, and leads to both. The
   * parent is unlocked behind them, so that a burial that ends in between can be repeated.
   */

  private final PoolChange change;
  private final Topology topology;
  private final NodeLayout layout;
  private final Worker worker;
  private final MemorySegment memory;
  private final int lost;

  Burial(PoolChange change, Topology topology, NodeLayout layout, int lost) {
    this.change = change;
    this.topology = topology;
    this.layout = layout;
    this.worker = change.worker();
    this.memory = worker.memory();
    this.lost = lost;
  }

  /** Unlocks what the lost one had locked while it had this range, of the first words of keys. */
  void unlock(long low, long high) {
    unlockPath(topology.least(low));
    unlockPath(topology.greatest(high));
  }

  private void unlockPath(long key) {
    topology.descend(key, (address, level, low, high) -> unlock(key, address, level, low, high));
  }

  private void unlock(long key, long address, int level, long low, long high) {
    long lock = lockWord(address);
    if (SharedNodes.holder(lock) != lost) {
      return;
    }
    long node = topology.read(address, level, low, high);
    int index = layout.floor(memory, node, key);
    for (int i = Math.max(index - 1, 0); i <= index && level > 1; i++) {
      long highOfChild = topology.highOfChild(node, level, i);
      unlock(
          key, layout.slot(memory, node, i), level - 1, layout.key(memory, node, i), highOfChild);
    }
    // The image is as narrow as the parent says: that completes the split.
    Retry.untilDone(worker, () -> layout.writeImage(worker, node));
    Retry.untilDone(worker, () -> worker.cas(address + NodeLayout.LOCK, lock, 0));
  }

  private long lockWord(long address) {
    worker.read(address + NodeLayout.LOCK, change.message(), Long.BYTES);
    return Words.get(memory, change.message());
  }
}
