package pando.baselines.smart;

import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.host.LocalMemory;
import pando.index.host.WorkerContext;

/** What the parts of one worker share: verbs, counters, and places in local memory. */
final class SmartContext extends WorkerContext {
  final SmartServer server;

  /** What this worker writes into a leaf that it locks. */
  final int owner;

  /** Where the leaf is that was READ last. */
  final long leaf;

  /** Where a leaf is made. */
  final long newLeaf;

  /** Where an inner node is made. */
  final long newNode;

  /** Where single words are made. */
  final long words;

  /** Where the results of the atomics of a list go, {@link #RESULTS} words. */
  final long results;

  /** Number of words at {@link #results}: one for each slot of a node, its header, and two more. */
  static final int RESULTS = 260;

  /** The parts of a worker that READ. */
  final Leaves leaves;

  final LeafLocks locks;

  /** What is locked locally, in partitions. */
  final HeldPlaces held;

  /** The cache. */
  final OwnCopies copies;

  final Replacing replacing;
  final Descent descent;
  final LeafCollector collector;

  /** Whether this completes what a lost compute server has left, in any range. */
  final boolean buries;

  private final long images;

  /** Where the new content of a slot is made. */
  private final long slotWord;

  private final VerbList nothing = new VerbList();

  /** Whether a leaf may have become live since this was last set to {@code false}. */
  boolean linked;

  SmartContext(SmartServer server, Fabric fabric, int session) {
    this(server, fabric, session, false);
  }

  /** Opens a context for a burial. */
  static SmartContext ofBurial(SmartServer server, Fabric fabric) {
    return new SmartContext(server, fabric, 0, true);
  }

  private SmartContext(SmartServer server, Fabric fabric, int session, boolean buries) {
    LocalMemory local = new LocalMemory();
    this.images = local.region((long) Descent.LEVELS_MAX * Reserve.LARGE_BYTES);
    this.leaf = local.region(LeafLayout.BYTES);
    this.newLeaf = local.region(LeafLayout.BYTES);
    this.newNode = local.region(Reserve.LARGE_BYTES);
    this.words = local.region(8 * Long.BYTES);
    this.results = local.region(RESULTS * Long.BYTES);
    this.slotWord = local.region(Long.BYTES);
    long collected = LeafCollector.region(local);
    super(fabric, local);
    this.server = server;
    this.buries = buries;
    this.owner = LeafLayout.owner(server.number, session);
    this.leaves = new Leaves(this);
    this.held = new HeldPlaces(server.placeLocks, worker, words + 7 * Long.BYTES);
    this.copies = new OwnCopies(this);
    this.locks = new LeafLocks(this);
    this.replacing = new Replacing(this);
    this.descent = new Descent(this);
    this.collector = new LeafCollector(this, collected);
  }

  /** Returns where the node of a level of the descent is in local memory. */
  long image(int level) {
    return images + (long) level * Reserve.LARGE_BYTES;
  }

  /** Returns whether an address is of the one memory server to which all verbs of a list go. */
  private boolean areTogether(VerbList verbs, long address) {
    boolean together = true;
    for (int i = 0; i < verbs.size(); i++) {
      together &= areTogether(verbs.remote(i), address);
    }
    return together;
  }

  /** Returns whether two addresses are of one memory server, so that one list reaches both. */
  boolean areTogether(long one, long other) {
    return GlobalAddress.server(one) == GlobalAddress.server(other);
  }

  /**
   * Posts WRITEs, if there are any, and then changes a slot of a node of the last descent: in one
   * list if all of that is at one memory server.
   *
   * <p>The slot is changed by a CAS, or, if this compute server alone changes the node, by a WRITE
   * under its local lock, which stays {@link #held}. The WRITEs take place in any case.
   *
   * @param level of the node
   * @param then verbs that are posted after the slot has changed, to one memory server
   * @return whether the slot was as expected, and is the new one now
   */
  boolean postAndSwap(
      VerbList writes, int level, long slot, long expected, long desired, VerbList then) {
    boolean owned = descent.isOwned(level);
    boolean swaps = !owned || held.tryLock(descent.address(level), descent.number(level));
    if (writes.size() > 0 && !(swaps && areTogether(writes, slot))) {
      worker.scatter(writes);
      writes.clear();
    }
    if (!swaps) {
      return false;
    }
    if (!owned) {
      worker.post(writes.cas(slot, expected, desired, results));
      return Words.get(memory, results) == expected && post(then);
    }
    long node = descent.address(level);
    copies.drop(image(level));
    Words.set(memory, slotWord, desired);
    writes.write(slot, slotWord, Long.BYTES);
    if (then.size() > 0 && areTogether(then, slot)) {
      post(writes.addAll(then));
    } else {
      worker.post(writes);
      post(then);
    }
    Words.set(memory, image(level) + slot - node, desired);
    copies.admitHeld(image(level), node);
    return true;
  }

  /** Posts what makes a leaf live, if there is any; returns {@code true}. */
  private boolean post(VerbList then) {
    if (then.size() > 0) {
      linked = true;
      worker.post(then);
    }
    return true;
  }

  /**
   * As {@link #postAndSwap(VerbList, int, long, long, long, VerbList)}, with no verbs afterwards.
   */
  boolean postAndSwap(VerbList writes, int level, long slot, long expected, long desired) {
    return postAndSwap(writes, level, slot, expected, desired, nothing);
  }

  /**
   * Checks that a place lies in the pool.
   *
   * @throws CorruptNodeException if it does not
   */
  void checkPlace(long address, int bytes) {
    if (!server.places.fits(address, bytes)) {
      throw new CorruptNodeException(address, "a pointer out of the pool: bytes=" + bytes);
    }
  }

  @Override
  public void abandon(Throwable failure) {
    locks.abandon(failure);
    held.abandon(failure);
  }
}
