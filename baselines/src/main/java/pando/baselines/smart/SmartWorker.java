package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.baselines.smart.Descent.End;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.index.bugs.PlantedBug;
import pando.index.host.HostedWorker;
import pando.index.session.Request;

/** One session's operations at one compute server of SMART. */
final class SmartWorker extends HostedWorker {
  /** Attempts after which the time limit counts, as clocks may jump. */
  private static final int EAGER = 64;

  private final SmartContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final Leaves leaves;
  private final LeafLocks locks;
  private final Descent descent;
  private final Inserts inserts;
  private final Updates updates;
  private final Removals removals;
  private final SmartSize size;
  private final WaitLimit limit;

  /** Whether the operation may have changed an entry. */
  private boolean written;

  SmartWorker(SmartServer server, SmartContext context, int session) {
    super(server, session, context, new Neighbours(context), new Scans(context));
    this.context = context;
    this.worker = context.worker;
    this.memory = context.memory;
    this.leaves = context.leaves;
    this.locks = context.locks;
    this.descent = context.descent;
    this.inserts = new Inserts(context);
    this.updates = new Updates(context);
    this.removals = new Removals(context);
    this.size = new SmartSize(context);
    this.limit = new WaitLimit(server.options.lockWaitNanos());
  }

  @Override
  protected double estimateSize(long low, long high) {
    return size.of(low, high);
  }

  @Override
  protected boolean get(long wanted) {
    boolean found =
        descent.find(KeyPath.of(wanted)) == End.LEAF && LeafLayout.isLive(memory, context.leaf);
    value = found ? LeafLayout.value(memory, context.leaf) : 0;
    return found;
  }

  @Override
  protected boolean write(Request wanted) {
    written = false;
    inserts.reset();
    long path = KeyPath.of(wanted.key());
    boolean now = wanted.operation().isRemoval() || PlantedBug.SMART_ABSENT_FROM_COPY;
    int below = KeyPath.BYTES;
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      End end = now ? descent.findNow(path, below) : descent.find(path);
      int life = end == End.LEAF ? LeafLayout.life(LeafLayout.state(memory, context.leaf)) : -1;
      if (life == LeafLayout.LIVE) {
        value = LeafLayout.value(memory, context.leaf);
        if (!changes(wanted) || tryChange(wanted, path)) {
          return true;
        }
      } else {
        value = 0;
        if (!wanted.stores(false, 0)) {
          return false;
        }
        if (life != LeafLayout.UNBORN && inserts.tryInsert(end, wanted.key(), wanted.stored())) {
          return false;
        }
        // Whatever was in the way, the next descent also READs the node above it.
        now = true;
        below = Math.max(1, descent.depth(0));
      }
      start = await(attempt, start, wanted.key());
    }
  }

  /** Returns whether an operation changes the entry that was found; not if it has the value. */
  private boolean changes(Request wanted) {
    return wanted.removes(true, value)
        || (wanted.stores(true, value) && wanted.stored() != value);
  }

  /** Changes the leaf that was found; returns {@code false} if it is locked, or no longer live. */
  private boolean tryChange(Request wanted, long path) {
    long seen = LeafLayout.state(memory, context.leaf);
    long address = descent.leafAddress();
    if (LeafLayout.owner(seen) != 0 || !locks.tryLock(address)) {
      return false;
    }
    if (LeafLayout.counter(locks.found()) != LeafLayout.counter(seen)) {
      leaves.readLinked(address);
      value = LeafLayout.value(memory, context.leaf);
    }
    if (wanted.removes(true, value)) {
      written = true;
      removals.remove(path);
    } else if (changes(wanted)) {
      written = true;
      updates.store(address, wanted.key(), wanted.stored());
    } else {
      locks.unlock();
    }
    return true;
  }

  /** Waits for the session that has locked the leaf, or has changed the tree. */
  private long await(int attempt, long start, long key) {
    long now = worker.nanoTime();
    if (attempt > EAGER && limit.isOver(now - start)) {
      int owner = LeafLayout.owner(LeafLayout.state(memory, context.leaf));
      throw new StalledException(
          "a leaf stays locked: key=%s, computeServer=%s, session=%s, waitedNanos=%s, attempts=%s"
              .formatted(
                  key,
                  LeafLayout.serverOf(owner),
                  LeafLayout.sessionOf(owner),
                  now - start,
                  attempt));
    }
    worker.backoff().pauseBriefly(attempt);
    return attempt == 0 ? now : start;
  }

  @Override
  protected boolean mayHaveWritten() {
    return written || inserts.hasBegun();
  }

  @Override
  protected void complete() {
    // What is half done is ended by LeafLocks.abandon, or by whoever meets it.
  }
}
