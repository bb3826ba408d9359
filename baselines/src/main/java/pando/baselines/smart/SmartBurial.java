package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.Worker;
import pando.index.session.Gate;

/**
 * Ends what a compute server that is lost was doing to the tree. The lost one is fenced; others go
 * on. Can be done again where it fails.
 *
 * <p>Inner nodes know no owner: the next session that comes to one completes what is half done with
 * it, and so does the walk through all leaves here. A leaf that the lost one has locked names it:
 *
 * <pre>
 *   what it had done last              what is there                 what is done
 *   insert: the leaf, not linked       nothing leads to it           nothing; the place is lost
 *   insert: linked, not live           an unborn leaf                it becomes dead
 *   update: some words                 a leaf that is not whole      its check and counter are made to fit
 *   removal: locked                    a live leaf                   it is unlocked
 *   removal: dead, slot not emptied    a dead leaf, not locked       nothing: others empty the slot
 * </pre>
 *
 * <p>In partitions, the lost one locked its leaves by itself alone: all leaves of its range that
 * are not whole were its. Those of other ranges are left alone.
 */
final class SmartBurial implements LeafCollector.Observer {
  /** Entries that are looked at together. */
  private static final int TOGETHER = 256;

  private final SmartServer server;
  private final SmartContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final int lost;
  private final long low;
  private final long high;

  private SmartBurial(SmartServer server, SmartContext context, int lost, long low, long high) {
    this.server = server;
    this.context = context;
    this.worker = context.worker;
    this.memory = context.memory;
    this.lost = lost;
    this.low = low;
    this.high = high;
  }

  /**
   * Buries a compute server that is lost.
   *
   * @param server one of this process
   * @param low first key of the lost one's range; without partitions, of all keys
   * @param high last key of that range
   */
  static void bury(SmartServer server, Fabric fabric, int lost, long low, long high) {
    try (SmartContext context = SmartContext.ofBurial(server, fabric)) {
      Gate.Pass pass = server.passOf(context.worker);
      try {
        new SmartBurial(server, context, lost, low, high).bury(pass);
      } catch (RuntimeException | Error e) {
        context.abandon(e);
        throw e;
      } finally {
        server.end(pass);
      }
    }
  }

  private void bury(Gate.Pass pass) {
    LeafCollector collector = context.collector;
    long last = KeyPath.of(high);
    long next = KeyPath.of(low);
    int below = KeyPath.BYTES;
    while (true) {
      pass.enter();
      try {
        collector.collect(next, last, false, TOGETHER, below, this);
      } finally {
        pass.exit();
      }
      if (Long.compareUnsigned(collector.end(), last) >= 0) {
        return;
      }
      next = collector.end() + 1;
      below = collector.nextBelow();
    }
  }

  @Override
  public void node(long address, long image) {
    // Only leaves name their owners.
  }

  /** {@inheritDoc} The entry is of no use, and others may not be whole as they are changed. */
  @Override
  public boolean leaf(long address, long image) {
    int owner = LeafLayout.owner(LeafLayout.state(memory, image));
    long key = LeafLayout.key(memory, image);
    // Leaves beyond the range, which are READ together with others, are changed by those who live.
    boolean was = server.partitioned && key >= low && key <= high;
    boolean torn = was && owner == 0 && !LeafLayout.isWhole(memory, image);
    if (torn || (owner != 0 && LeafLayout.serverOf(owner) == lost)) {
      LeafLocks.release(worker, memory, context.newLeaf, address, owner);
    }
    return false;
  }
}
