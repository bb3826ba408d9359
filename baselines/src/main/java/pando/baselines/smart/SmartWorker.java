package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.baselines.smart.Descent.End;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.index.bugs.PlantedBug;
import pando.index.host.HostedWorker;
import pando.index.session.KeyTurns;
import pando.index.session.Operation;
import pando.index.session.Request;
import pando.index.session.Seat;

/** One session's operations at one compute server of SMART. */
final class SmartWorker extends HostedWorker {
  /** Attempts after which the time limit counts, as clocks may jump. */
  private static final int EAGER = 64;

  /** Longest wait of an operation for places that rest, in nanoseconds. */
  private static final long REST_NANOS_MAX = 200_000_000;

  /** The descent begins by copies. */
  private static final int BY_COPIES = 0;

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

  /** {@link Descent#findNow}, or {@link #BY_COPIES}: where the next descent begins. */
  private int below;

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
    this.reads = server.reads.open();
    this.writes = (server.options.combining() ? server.writes : new KeyTurns()).open();
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
      if (mayHaveWritten() || !awaitPlaces(e)) {
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
   * Waits until places that rest are free; returns whether the operation can begin again, alone.
   *
   * <p>Waits outside the gate, as places rest until each operation has ended. Ends the turn before:
   * its other sessions are inside, and wait for this one. Meanwhile the server's range may become
   * another one, and the caller relies on the one that it has seen.
   */
  private boolean awaitPlaces(PoolFullException full) {
    long resting = server.space.resting();
    if (resting == 0) {
      return false;
    }
    writes.fail(false);
    context.abandon(full);
    long low = server.low();
    long high = server.high();
    pass().exit();
    try {
      awaitFewer(resting);
    } finally {
      pass().enter();
    }
    return server.low() == low && server.high() == high;
  }

  /** Waits until fewer places rest, or for some time. */
  private void awaitFewer(long resting) {
    long start = worker.nanoTime();
    for (int attempt = 0; server.space.resting() >= resting; attempt++) {
      if (worker.nanoTime() - start > REST_NANOS_MAX) {
        return;
      }
      worker.backoff().pause(attempt);
    }
  }

  private void execute(Request wanted) {
    below =
        wanted.operation().isRemoval() || PlantedBug.SMART_ABSENT_FROM_COPY
            ? KeyPath.BYTES
            : BY_COPIES;
    long start = 0;
    for (int attempt = 0; !attempt(wanted.key()); attempt++) {
      start = await(attempt, start, wanted.key());
    }
  }

  /** Tries to execute the operation, and those of the turn; returns whether that is done. */
  private boolean attempt(long key) {
    long path = KeyPath.of(key);
    End end = below == BY_COPIES ? descent.find(path) : descent.findNow(path, below);
    int life = end == End.LEAF ? LeafLayout.life(LeafLayout.state(memory, context.leaf)) : -1;
    boolean live = life == LeafLayout.LIVE;
    long there = live ? LeafLayout.value(memory, context.leaf) : 0;
    writes.apply(live, there);
    if (writes.isPresent() ? live && writes.last() == there : !live) {
      return true;
    }
    boolean done =
        live
            ? tryChange(key, path)
            : life != LeafLayout.UNBORN && inserts.tryInsert(end, key, writes.last());
    if (!done && !(live && writes.isPresent())) {
      lookAbove();
    }
    return done;
  }

  /** Has the next descent also READ the node above what was in the way. */
  private void lookAbove() {
    below = descent.levels() == 0 ? KeyPath.BYTES : Math.max(1, descent.depth(0));
  }

  /** Changes the leaf that was found; returns {@code false} if it is locked, or no longer live. */
  private boolean tryChange(long key, long path) {
    long seen = LeafLayout.state(memory, context.leaf);
    long address = descent.leafAddress();
    if (!knowsEnough() || LeafLayout.owner(seen) != 0 || !locks.tryLock(address)) {
      return false;
    }
    if (LeafLayout.counter(locks.found()) != LeafLayout.counter(seen)) {
      leaves.readLinked(address);
      writes.apply(true, LeafLayout.value(memory, context.leaf));
    }
    if (writes.isPresent()) {
      return store(address, key);
    }
    if (!knowsEnough()) {
      locks.unlock();
      return false;
    }
    written = true;
    removals.remove(path);
    return true;
  }

  /** Returns whether it knows the node above the leaf, if that is needed: for a removal. */
  private boolean knowsEnough() {
    return writes.isPresent() || descent.levels() > 0;
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
    // LeafLocks.abandon ends what is half done, or the next session that meets it.
  }

  @Override
  protected void release() {
    Closing.all(reads::close, writes::close, super::release);
  }
}
