package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.baselines.smart.Descent.End;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.index.bugs.PlantedBug;
import pando.index.host.HostedWorker;
import pando.index.session.Seat;
import pando.index.session.Operation;
import pando.index.session.Request;

/** One session's operations at one compute server of SMART. */
final class SmartWorker extends HostedWorker {
  /** Attempts after which the time limit counts, as clocks may jump. */
  private static final int EAGER = 64;

  /** Longest wait of an operation for places that rest, in nanoseconds. */
  private static final long REST_NANOS_MAX = 200_000_000;

  private final SmartServer server;
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

  /** Turns of reads of a key, and of writes. */
  private final Seat reads;

  private final Seat writes;
  private final boolean delegation;
  private final Request read = new Request();

  /** Whether the operation may have changed an entry. */
  private boolean written;

  SmartWorker(SmartServer server, SmartContext context, int session) {
    super(server, session, context, new Neighbours(context), new Scans(context));
    this.server = server;
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
    this.delegation = server.options.delegation();
    this.reads = context.reads;
    this.writes = context.writes;
  }

  @Override
  protected double estimateSize(long low, long high) {
    return size.of(low, high);
  }

  @Override
  protected boolean get(long wanted) {
    if (!delegation) {
      return look(wanted);
    }
    if (reads.join(read.set(Operation.GET, wanted, 0, 0), worker.backoff())) {
      value = reads.value();
      return reads.found();
    }
    boolean done = false;
    boolean found = false;
    try {
      found = look(wanted);
      done = true;
    } finally {
      if (done) {
        reads.answer(found, value);
      } else {
        reads.fail(false);
      }
    }
    return found;
  }

  private boolean look(long wanted) {
    boolean found =
        descent.find(KeyPath.of(wanted)) == End.LEAF && LeafLayout.isLive(memory, context.leaf);
    value = found ? LeafLayout.value(memory, context.leaf) : 0;
    return found;
  }

  @Override
  protected boolean write(Request wanted) {
    written = false;
    inserts.reset();
    if (!writes.join(wanted, worker.backoff())) {
      executeTurn(wanted);
    }
    value = writes.value();
    return writes.found();
  }

  /** Executes the operation, and those of sessions that wait for it. */
  private void executeTurn(Request wanted) {
    boolean done = false;
    try {
      execute(wanted);
      done = true;
    } catch (PoolFullException e) {
      if (mayHaveWritten() || !awaitPlaces(wanted.key(), e)) {
        throw e;
      }
      execute(wanted);
      done = true;
    } finally {
      if (done) {
        writes.done();
      } else {
        writes.fail(mayHaveWritten());
      }
    }
  }

  /**
   * Waits until places that rest are free, outside the gate, as they rest until each operation has
   * ended; returns whether the operation can begin again.
   */
  private boolean awaitPlaces(long key, PoolFullException full) {
    long resting = server.space.resting();
    if (resting == 0) {
      return false;
    }
    context.abandon(full);
    pass().exit();
    try {
      long start = worker.nanoTime();
      for (int attempt = 0; server.space.resting() >= resting; attempt++) {
        if (worker.nanoTime() - start > REST_NANOS_MAX) {
          break;
        }
        worker.backoff().pause(attempt);
      }
    } finally {
      pass().enter();
    }
    return server.owns(key);
  }

  private void execute(Request wanted) {
    long path = KeyPath.of(wanted.key());
    boolean now = wanted.operation().isRemoval() || PlantedBug.SMART_ABSENT_FROM_COPY;
    int below = KeyPath.BYTES;
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      End end = now ? descent.findNow(path, below) : descent.find(path);
      int life = end == End.LEAF ? LeafLayout.life(LeafLayout.state(memory, context.leaf)) : -1;
      boolean live = life == LeafLayout.LIVE;
      long there = live ? LeafLayout.value(memory, context.leaf) : 0;
      writes.apply(live, there);
      if (writes.isPresent() ? live && writes.last() == there : !live) {
        return;
      }
      boolean gone = live && !writes.isPresent();
      if (!(gone && descent.levels() == 0)) {
        boolean done =
            live
                ? tryChange(wanted.key(), path)
                : life != LeafLayout.UNBORN
                    && inserts.tryInsert(end, wanted.key(), writes.last());
        if (done) {
          return;
        }
        start = await(attempt, start, wanted.key());
      }
      if (gone || !live) {
        // Whatever was in the way, the next descent also READs the node above it.
        now = true;
        below = descent.levels() == 0 ? KeyPath.BYTES : Math.max(1, descent.depth(0));
      }
    }
  }

  /** Changes the leaf that was found; returns {@code false} if it is locked, or no longer live. */
  private boolean tryChange(long key, long path) {
    long seen = LeafLayout.state(memory, context.leaf);
    long address = descent.leafAddress();
    if (LeafLayout.owner(seen) != 0 || !locks.tryLock(address)) {
      return false;
    }
    if (LeafLayout.counter(locks.found()) != LeafLayout.counter(seen)) {
      leaves.readLinked(address);
      writes.apply(true, LeafLayout.value(memory, context.leaf));
    }
    if (writes.isPresent()) {
      return store(address, key);
    }
    if (descent.levels() == 0) {
      locks.unlock();
      return false;
    }
    written = true;
    removals.remove(path);
    return true;
  }

  private boolean store(long address, long key) {
    if (writes.last() == LeafLayout.value(memory, context.leaf)) {
      locks.unlock();
    } else {
      written = true;
      updates.store(address, key, writes.last());
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
