package pando.index.rolex;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.index.host.DescentCounters;
import pando.index.host.HostedWorker;
import pando.index.session.Operation;

/** One session's operations through one compute server. */
final class RolexWorker implements HostedWorker {
  private final RolexContext context;
  private final MemorySegment memory;
  private final Leaves leaves;
  private final Chains chains;
  private final Changes changes;
  private final @Nullable CallWrites calls;
  private final Neighbours neighbours;
  private final Scans scans;

  private long value;

  RolexWorker(RolexServer server, Fabric fabric) {
    this.context = RolexContext.open(server, fabric);
    this.memory = context.memory;
    this.chains = context.chains;
    this.leaves = new Leaves(context);
    this.changes = new Changes(context, leaves);
    this.calls = server.options.writesByCall() ? new CallWrites(context, leaves) : null;
    this.neighbours = new Neighbours(context, leaves);
    this.scans = new Scans(context, leaves);
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
    leaves.counters.innerReads = context.pages.reads;
    return leaves.counters;
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
    try {
      for (int attempt = 0; ; attempt++) {
        if (leaves.read(wanted)) {
          long holder = find(wanted);
          if (chains.isWhole()) {
            if (chains.hops() >= Changes.HOPS_DUE) {
              // What the queue had no room for when it became due.
              context.server.retrain(wanted);
            }
            return take(holder, wanted);
          }
        }
        if (!leaves.astray(wanted, attempt)) {
          return getLocked(wanted);
        }
      }
    } catch (RuntimeException e) {
      context.modelLocks.abandon(e);
      throw e;
    }
  }

  private boolean getLocked(long wanted) {
    leaves.lock(wanted);
    long holder = find(wanted);
    leaves.unlock();
    if (!chains.isWhole()) {
      throw chains.corrupt(wanted);
    }
    return take(holder, wanted);
  }

  /** Looks for a key in the leaf that was read, and behind it; returns who has it, -1 if none. */
  private long find(long wanted) {
    chains.begin(leaves.slot, leaves.leaf, leaves.address, leaves.model.stamp);
    if (LeafLayout.find(memory, leaves.leaf, wanted) >= 0) {
      return leaves.leaf;
    }
    for (chains.start(); chains.hasLeaf(); chains.next()) {
      if (LeafLayout.find(memory, chains.image(), wanted) >= 0) {
        return chains.image();
      }
    }
    return -1;
  }

  private boolean take(long holder, long wanted) {
    boolean found = holder >= 0;
    value = found ? LeafLayout.value(memory, holder, LeafLayout.find(memory, holder, wanted)) : 0;
    return found;
  }

  /**
   * Changes, adds or removes an entry.
   *
   * @return whether the key was there before
   */
  boolean write(Operation operation, long wanted, long stored) {
    return calls == null
        ? writeHere(operation, wanted, stored)
        : writeThere(calls, operation, wanted, stored);
  }

  private boolean writeThere(CallWrites there, Operation operation, long wanted, long stored) {
    boolean found;
    try {
      found = there.write(operation, wanted, stored);
    } catch (RuntimeException e) {
      throw there.isDone() ? uncertain(wanted, e) : e;
    }
    value = there.before();
    return found;
  }

  private boolean writeHere(Operation operation, long wanted, long stored) {
    changes.reset();
    boolean found;
    try {
      leaves.lock(wanted);
      found = changes.write(operation, wanted, stored);
    } catch (RuntimeException e) {
      boolean begun = changes.hasBegun();
      changes.mend(e);
      context.modelLocks.abandon(e);
      throw begun ? uncertain(wanted, e) : e;
    }
    value = changes.before();
    changes.tell(wanted);
    return found;
  }

  private static UnknownOutcomeException uncertain(long wanted, RuntimeException failure) {
    return new UnknownOutcomeException("the entry may have been changed: key=" + wanted, failure);
  }

  @Override
  public void close() {
    context.close();
  }
}
