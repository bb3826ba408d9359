package pando.baselines.sherman;

import java.lang.foreign.MemorySegment;
import pando.baselines.blink.BLinkSize;
import pando.baselines.lock.NodeLocks;
import pando.fabric.VerbList;
import pando.index.host.HostedWorker;
import pando.index.session.NeighbourSearch;
import pando.index.session.Request;

/** One session's operations at one compute server of Sherman. */
final class ShermanWorker extends HostedWorker {
  private final BLinkLayout layout;
  private final MemorySegment memory;
  private final NodeLocks locks;
  private final ShermanNodes nodes;
  private final ShermanLeaves leaves;
  private final ShermanSplits splits;
  private final ShermanMerges merges;
  private final BLinkSize size;
  private final VerbList list = new VerbList();
  private final long leaf;

  /** Whether the operation may have written an entry. */
  private boolean written;

  ShermanWorker(ShermanServer server, ShermanContext context, int session) {
    ShermanDescent descent = new ShermanDescent(context);
    ShermanLeaves found = new ShermanLeaves(context, descent);
    NeighbourSearch neighbours = new ShermanNeighbours(context, descent, found);
    super(server, session, context, neighbours, new ShermanScans(context, descent, found));
    this.layout = context.layout;
    this.memory = context.memory;
    this.locks = context.locks;
    this.nodes = context.nodes;
    this.leaf = context.leaf;
    this.leaves = found;
    this.splits = new ShermanSplits(context, descent);
    this.merges = new ShermanMerges(context, descent);
    this.size = new BLinkSize(context, descent);
  }

  @Override
  protected double estimateSize(long low, long high) {
    return size.of(low, high);
  }

  @Override
  protected boolean get(long wanted) {
    int index = leaves.read(wanted);
    value = index < 0 ? 0 : BLinkLayout.slot(memory, leaf, index);
    return index >= 0;
  }

  @Override
  protected boolean write(Request wanted) {
    written = false;
    splits.reset();
    nodes.reset();
    return writeLocked(wanted);
  }

  @Override
  protected boolean mayHaveWritten() {
    return written || splits.hasBegun();
  }

  @Override
  protected void complete() {
    nodes.mendChecksum(locks);
    splits.complete();
  }

  private boolean writeLocked(Request wanted) {
    long key = wanted.key();
    long node = leaves.lock(key);
    int index = layout.find(memory, leaf, key);
    boolean found = index >= 0;
    value = found ? BLinkLayout.slot(memory, leaf, index) : 0;
    if (wanted.removes(found, value)) {
      remove(node, key, index);
    } else if (wanted.stores(found, value)) {
      store(node, found ? index : layout.findFree(memory, leaf), key, wanted.stored());
    } else {
      locks.unlock(node);
    }
    return found;
  }

  private void store(long node, int index, long wanted, long stored) {
    if (index < 0) {
      splits.splitLeaf(leaf, wanted, stored);
      return;
    }
    long sumBefore = BLinkLayout.entrySum(memory, leaf, index);
    BLinkLayout.put(memory, leaf, index, wanted, stored);
    writeEntry(node, index, sumBefore);
  }

  private void remove(long node, long wanted, int index) {
    long sumBefore = BLinkLayout.entrySum(memory, leaf, index);
    BLinkLayout.clear(memory, leaf, index);
    int left = layout.entries(memory, leaf);
    writeEntry(node, index, sumBefore);
    if (merges.isDue(left)) {
      merges.merge(wanted, 0);
    }
  }

  private void writeEntry(long node, int index, long sumBefore) {
    nodes.addEntry(list.clear(), leaf, index, sumBefore);
    written = true;
    locks.writeAndUnlock(node, list);
  }
}
