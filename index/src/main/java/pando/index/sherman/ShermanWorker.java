package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.EntryVisitor;
import pando.index.pool.Catalogue;

/** One session's operations through one compute server. */
final class ShermanWorker implements AutoCloseable {
  /** What a search for a neighbour of a key comes to. */
  static final int FOUND = 0;

  /** Nothing in this leaf: the answer lies further on. */
  static final int FURTHER = 1;

  /** There is none. */
  static final int NONE = 2;

  /** Somebody is in the way: start anew. */
  static final int BUSY = 3;

  /** Leaves READ together in a scan. */
  private static final int PARALLEL = 16;

  private static final int BUFFERS = 5;

  /** Share of a leaf that is expected to be filled. */
  private static final double FILL = 0.7;

  private final ShermanServer server;
  private final BLinkLayout layout;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final MemorySegment memory;
  private final int session;
  private final NodeLocks locks;
  private final Nodes nodes;
  private final Descent descent;
  private final Splits splits;
  private final Merges merges;
  private final VerbList list = new VerbList();
  private final long leaf;
  private final long scanned;
  private final long scannedWords;

  private final long[] addresses = new long[PARALLEL];
  private final long[] keys;
  private final long[] values;
  private long[] chain = new long[8];
  private int chained;

  private long key;
  private long value;
  private long bound;

  /** The node whose lock was not to be had. */
  private long busy;

  private boolean busyOwned;

  private boolean ended;

  /** The leaf of which an entry may have been written, {@code NULL} where none was. */
  private long writing;

  ShermanWorker(ShermanServer server, Fabric fabric, Validation validation) {
    this.server = server;
    this.layout = server.layout;
    this.session = server.openSession();
    long words = layout.offset(BUFFERS + PARALLEL);
    long scratch = words + 2L * PARALLEL * Long.BYTES;
    long message = scratch + NodeLocks.SCRATCH_BYTES + Nodes.SCRATCH_BYTES;
    this.registered = fabric.register(message + Worker.CALL_BYTES_MAX);
    this.worker = fabric.worker(registered);
    this.memory = worker.memory();
    this.leaf = layout.offset(0);
    this.scanned = layout.offset(BUFFERS);
    this.scannedWords = words;
    this.locks = new NodeLocks(server, validation, session, worker, scratch);
    this.nodes = new Nodes(server, validation, locks, worker, scratch + NodeLocks.SCRATCH_BYTES);
    Catalogue catalogue = new Catalogue(worker, message, server.places, server.system);
    long sibling = layout.offset(1);
    long inner = layout.offset(2);
    long parent = layout.offset(3);
    this.descent = new Descent(server, nodes, locks, catalogue, worker, inner);
    this.splits =
        new Splits(
            server,
            nodes,
            locks,
            descent,
            catalogue,
            worker,
            validation == Validation.VERSIONS,
            sibling,
            parent,
            message);
    this.merges =
        new Merges(
            server, nodes, locks, descent, catalogue, worker, leaf, sibling, parent, message);
    this.keys = new long[layout.capacity()];
    this.values = new long[layout.capacity()];
  }

  Worker worker() {
    return worker;
  }

  Descent descent() {
    return descent;
  }

  /** Returns the key that a search for a neighbour found. */
  long key() {
    return key;
  }

  /** Returns the value that the last operation found. */
  long value() {
    return value;
  }

  /** Returns the fence at which a search for a neighbour goes on. */
  long bound() {
    return bound;
  }

  boolean get(long wanted) {
    int index;
    try {
      index = readLeaf(wanted);
    } catch (RuntimeException e) {
      locks.abandon(e);
      throw e;
    }
    value = index < 0 ? 0 : BLinkLayout.slot(memory, leaf, index);
    return index >= 0;
  }

  /** Reads the leaf of a key; returns the index of its entry, -1 where there is none. */
  private int readLeaf(long wanted) {
    for (int attempt = 0; attempt < Descent.RESTARTS_MAX; attempt++) {
      descent.findLeaf(wanted);
      if (descent.readCovering(wanted, leaf, attempt)) {
        int index = layout.find(memory, leaf, wanted);
        if (index < 0 || nodes.isEntryWhole(leaf, index)) {
          return index;
        }
      }
    }
    throw stalled(wanted);
  }

  private StalledException stalled(long wanted) {
    return new StalledException(
        "no leaf that stays: key="
            + wanted
            + ", last="
            + GlobalAddress.toString(descent.node)
            + ", restarts="
            + Descent.RESTARTS_MAX);
  }

  /**
   * Changes, adds or removes an entry.
   *
   * @return whether the key was there before
   */
  boolean write(Operation operation, long wanted, long stored) {
    writing = GlobalAddress.NULL;
    splits.reset();
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
    lockLeaf(wanted);
    long node = descent.node;
    int index = layout.find(memory, leaf, wanted);
    boolean found = index >= 0;
    value = found ? BLinkLayout.slot(memory, leaf, index) : 0;
    list.clear();
    if (found && operation == Operation.REMOVE) {
      remove(node, wanted, index);
    } else if (found ? operation.changes : operation.adds) {
      int place = found ? index : layout.findFree(memory, leaf);
      if (place < 0) {
        splits.splitLeaf(leaf, wanted, stored);
        splits.announce(0);
      } else {
        long sumBefore = layout.entrySum(memory, leaf, place);
        BLinkLayout.put(memory, leaf, place, wanted, stored);
        nodes.addEntry(list, leaf, place, sumBefore);
        writing = node;
        locks.writeAndUnlock(node, list);
      }
    } else {
      locks.unlock(node);
    }
    return found;
  }

  /** Completes, after a failure, what was written, while its leaf is still locked. */
  private void mend(RuntimeException failure) {
    try {
      if (writing != GlobalAddress.NULL && locks.isStillOurs(writing)) {
        nodes.mendChecksum(writing, leaf);
      }
      splits.complete();
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  private void lockLeaf(long wanted) {
    for (int attempt = 0; attempt < Descent.RESTARTS_MAX; attempt++) {
      descent.findLeaf(wanted);
      if (descent.lockCovering(0, wanted, leaf, attempt)) {
        return;
      }
    }
    throw stalled(wanted);
  }

  private void remove(long node, long wanted, int index) {
    long sumBefore = layout.entrySum(memory, leaf, index);
    BLinkLayout.clear(memory, leaf, index);
    nodes.addEntry(list, leaf, index, sumBefore);
    int left = layout.entries(memory, leaf);
    writing = node;
    locks.writeAndUnlock(node, list);
    if (merges.isDue(left)) {
      merges.merge(wanted, 0);
    }
  }

  /**
   * Looks in one leaf for the entry next to a key, downwards or upwards. Goes further at once where
   * a leaf cannot be read as it is at one moment.
   */
  int neighbour(long wanted, boolean down) {
    if (!nodes.readsSnapshots()) {
      return FURTHER;
    }
    try {
      readLeaf(wanted);
      return neighbourInLeaf(wanted, down);
    } catch (RuntimeException e) {
      locks.abandon(e);
      throw e;
    }
  }

  private int neighbourInLeaf(long wanted, boolean down) {
    int index =
        down
            ? layout.floorOfLeaf(memory, leaf, wanted)
            : layout.ceilingOfLeaf(memory, leaf, wanted);
    if (index >= 0) {
      key = BLinkLayout.key(memory, leaf, index);
      value = BLinkLayout.slot(memory, leaf, index);
      return FOUND;
    }
    long fence = down ? BLinkLayout.low(memory, leaf) : BLinkLayout.high(memory, leaf);
    if (fence == (down ? Long.MIN_VALUE : Long.MAX_VALUE)) {
      return NONE;
    }
    bound = down ? fence - 1 : fence + 1;
    return FURTHER;
  }

  /**
   * As {@link #neighbour}, and keeps the leaf locked, so that several leaves are as they are found
   * at one moment. Does not wait for a lock, as it may hold others.
   */
  int lockNeighbour(long wanted, boolean down) {
    busy = GlobalAddress.NULL;
    try {
      descent.findLeaf(wanted);
      while (true) {
        long node = descent.node;
        if (!locks.tryLock(node, descent.owned)) {
          busy = node;
          busyOwned = descent.owned;
          return BUSY;
        }
        chain(node);
        int outcome = nodes.readHeld(node, 0, wanted, leaf);
        if (outcome == Nodes.COVERS) {
          return neighbourInLeaf(wanted, down);
        }
        if (outcome == Nodes.STALE) {
          descent.astray(0);
          return BUSY;
        }
        descent.right(leaf);
      }
    } catch (RuntimeException e) {
      locks.abandon(e);
      chained = 0;
      throw e;
    }
  }

  /**
   * Waits for the lock that {@link #lockNeighbour} could not have, if there was one, while nothing
   * is held, and keeps it for the next attempt.
   */
  void lockBusy() {
    if (busy == GlobalAddress.NULL) {
      return;
    }
    long node = busy;
    busy = GlobalAddress.NULL;
    try {
      locks.lock(node, busyOwned);
      chain(node);
    } catch (RuntimeException e) {
      locks.abandon(e);
      chained = 0;
      throw e;
    }
  }

  private void chain(long node) {
    if (chained == chain.length) {
      chain = Arrays.copyOf(chain, 2 * chained);
    }
    chain[chained++] = node;
  }

  /** Lets go of the leaves that {@link #lockNeighbour} has locked. */
  void unlockNeighbours() {
    try {
      while (chained > 0) {
        locks.unlock(chain[--chained]);
      }
    } catch (RuntimeException e) {
      locks.abandon(e);
      chained = 0;
      throw e;
    }
  }

  /** Tells whether the visitor ended the last scan. */
  boolean scanWasEnded() {
    return ended;
  }

  /** Visits entries in order; returns their number. */
  long scan(long from, long to, long limit, EntryVisitor visitor) {
    ended = false;
    long visited = 0;
    long next = from;
    while (visited < limit) {
      int leaves = readLeaves(next, to, limit - visited);
      for (int i = 0; i < leaves && visited < limit; i++) {
        long buffer = scanned + layout.offset(i);
        int count = layout.copySorted(memory, buffer, next, to, keys, values);
        long high = BLinkLayout.high(memory, buffer);
        int wanted = (int) Math.min(count, limit - visited);
        for (int j = 0; j < wanted; j++) {
          visited++;
          if (!visitor.visit(keys[j], values[j])) {
            ended = true;
            return visited;
          }
        }
        if (high >= to) {
          return visited;
        }
        next = high + 1;
      }
    }
    return visited;
  }

  /**
   * Reads leaves side by side, the first of which covers a key; returns how many of them are what
   * they were taken for, at least 1.
   */
  private int readLeaves(long from, long to, long limit) {
    try {
      descent.findLeaf(from);
      int leaves = plan(from, to, limit);
      int whole = leaves > 1 ? fetch(leaves, from) : 0;
      if (whole > 0) {
        return whole;
      }
      readLeaf(from);
      MemorySegment.copy(memory, leaf, memory, scanned, layout.nodeBytes());
      return 1;
    } catch (RuntimeException e) {
      locks.abandon(e);
      throw e;
    }
  }

  /** Collects the leaves that the limit will take, as far as a cached node tells. */
  private int plan(long from, long to, long limit) {
    addresses[0] = descent.node;
    long expected = (long) (limit / (layout.capacity() * FILL)) + 1;
    if (expected == 1 || !nodes.canReadTogether()) {
      return 1;
    }
    int more = server.lower.childrenAfter(from, to, addresses, worker.backoff());
    return (int) Math.min(Math.min(more + 1L, expected), PARALLEL);
  }

  private int fetch(int leaves, long from) {
    list.clear();
    for (int i = 0; i < leaves; i++) {
      long words = scannedWords + 2L * i * Long.BYTES;
      nodes.addRead(list, addresses[i], scanned + layout.offset(i), words, words + Long.BYTES);
    }
    worker.scatter(list);
    long next = from;
    for (int i = 0; i < leaves; i++) {
      long buffer = scanned + layout.offset(i);
      long words = scannedWords + 2L * i * Long.BYTES;
      if (!nodes.isWhole(buffer, words, words + Long.BYTES)
          || nodes.check(addresses[i], 0, next, buffer) != Nodes.COVERS) {
        return i;
      }
      next = BLinkLayout.high(memory, buffer) + 1;
    }
    return leaves;
  }

  @Override
  public void close() {
    server.closeSession(session);
    worker.close();
    registered.close();
  }
}
