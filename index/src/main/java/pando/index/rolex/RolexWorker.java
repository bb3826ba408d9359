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
          LeafCursor holder = chains.find(leaves.leaf, wanted);
          if (chains.isWhole()) {
            return take(holder);
          }
        }
        if (!leaves.astray(wanted, attempt)) {
          return getLocked(wanted);
        }
      }
    } catch (Throwable e) {
      context.modelLocks.abandon(e);
      throw e;
    }
  }

  private boolean getLocked(long wanted) {
    leaves.lock(wanted);
    LeafCursor holder = chains.find(leaves.leaf, wanted);
    leaves.unlock();
    if (!chains.isWhole()) {
      throw chains.corrupt(wanted);
    }
    return take(holder);
  }

  private boolean take(@Nullable LeafCursor holder) {
    value = holder == null ? 0 : LeafLayout.value(memory, holder.image, holder.index);
    return holder != null;
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
      throw undone(e) ? uncertain(wanted, e) : e;
    } catch (Error e) {
      undone(e);
      throw e;
    }
    value = changes.before();
    changes.tell();
    return found;
  }

  /** Ends a change that failed; tells whether some of it may have been written. */
  private boolean undone(Throwable failure) {
    changes.mend(failure);
    context.modelLocks.abandon(failure);
    return changes.hasBegun();
  }

  private static UnknownOutcomeException uncertain(long wanted, RuntimeException failure) {
    return new UnknownOutcomeException("the entry may have been changed: key=" + wanted, failure);
  }

  @Override
  public void close() {
    context.close();
  }
}
