package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.host.DescentCounters;
import pando.index.host.HostedWorker;
import pando.index.lock.NodeLocks;
import pando.index.session.Operation;

/** One session's operations through one compute server. */
final class ShermanWorker implements HostedWorker {
  private final ShermanContext context;
  private final BLinkLayout layout;
  private final MemorySegment memory;
  private final NodeLocks locks;
  private final Nodes nodes;
  private final Descent descent;
  private final Leaves leaves;
  private final Splits splits;
  private final Merges merges;
  private final Neighbours neighbours;
  private final Scans scans;
  private final VerbList list = new VerbList();
  private final long leaf;

  private long value;

  /** The leaf of which an entry may have been written, {@code NULL} where none was. */
  private long writing;

  ShermanWorker(ShermanServer server, Fabric fabric) {
    this.context = ShermanContext.open(server, fabric);
    this.layout = context.layout;
    this.memory = context.memory;
    this.locks = context.locks;
    this.nodes = context.nodes;
    this.leaf = context.leaf;
    this.descent = new Descent(context);
    this.leaves = new Leaves(context, descent);
    this.splits = new Splits(context, descent);
    this.merges = new Merges(context, descent);
    this.neighbours = new Neighbours(context, descent, leaves);
    this.scans = new Scans(context, descent, leaves);
  }

  Worker worker() {
    return context.worker;
  }

  @Override
  public VerbCounters verbs() {
    return context.worker.counters();
  }

  @Override
  public DescentCounters descents() {
    return descent.counters;
  }

  /** Returns what looks for the entry next to a key. */
  Neighbours neighbours() {
    return neighbours;
  }

  /** Returns what visits entries in order. */
  Scans scans() {
    return scans;
  }

  /** Returns the value that the last operation on a key found. */
  long value() {
    return value;
  }

  boolean get(long wanted) {
    int index;
    try {
      index = leaves.read(wanted);
    } catch (RuntimeException e) {
      locks.abandon(e);
      throw e;
    }
    value = index < 0 ? 0 : BLinkLayout.slot(memory, leaf, index);
    return index >= 0;
  }

  /**
   * Changes, adds or removes an entry.
   *
   * @return whether the key was there before
   */
  boolean write(Operation operation, long wanted, long stored) {
    writing = GlobalAddress.NULL;
    splits.reset();
    nodes.reset();
    try {
      return writeLocked(operation, wanted, stored);
    } catch (RuntimeException e) {
      boolean mayHaveWritten = writing != GlobalAddress.NULL || splits.hasBegun();
      mend(e);
      locks.abandon(e);
      throw mayHaveWritten
          ? new UnknownOutcomeException("the entry may have been changed: key=" + wanted, e)
          : e;
    }
  }

  private boolean writeLocked(Operation operation, long wanted, long stored) {
    long node = leaves.lock(wanted);
    int index = layout.find(memory, leaf, wanted);
    boolean found = index >= 0;
    value = found ? BLinkLayout.slot(memory, leaf, index) : 0;
    if (found && operation == Operation.REMOVE) {
      remove(node, wanted, index);
    } else if (operation.stores(found)) {
      store(node, found ? index : layout.findFree(memory, leaf), wanted, stored);
    } else {
      locks.unlock(node);
    }
    return found;
  }

  private void store(long node, int index, long wanted, long stored) {
    if (index < 0) {
      splits.splitLeaf(leaf, wanted, stored);
      splits.announce(0);
      return;
    }
    long sumBefore = layout.entrySum(memory, leaf, index);
    BLinkLayout.put(memory, leaf, index, wanted, stored);
    writeEntry(node, index, sumBefore);
  }

  private void remove(long node, long wanted, int index) {
    long sumBefore = layout.entrySum(memory, leaf, index);
    BLinkLayout.clear(memory, leaf, index);
    int left = layout.entries(memory, leaf);
    writeEntry(node, index, sumBefore);
    if (merges.isDue(left)) {
      merges.merge(wanted, 0);
    }
  }

  private void writeEntry(long node, int index, long sumBefore) {
    nodes.addEntry(list.clear(), leaf, index, sumBefore);
    writing = node;
    locks.writeAndUnlock(node, list);
  }

  /** Completes, after a failure, what was written, while its leaf is still locked. */
  private void mend(RuntimeException failure) {
    try {
      nodes.repairChecksum(locks);
      splits.complete();
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  @Override
  public void close() {
    context.close();
  }
}
