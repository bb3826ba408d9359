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
  private static final int NODE_BYTES = Reserve.sizes()[2];

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
  final Replacing replacing;
  final Descent descent;
  final LeafCollector collector;

  private final long images;

  SmartContext(SmartServer server, Fabric fabric, int session) {
    LocalMemory local = new LocalMemory();
    this.images = local.region((long) Descent.LEVELS_MAX * NODE_BYTES);
    this.leaf = local.region(LeafLayout.BYTES);
    this.newLeaf = local.region(LeafLayout.BYTES);
    this.newNode = local.region(NODE_BYTES);
    this.words = local.region(8 * Long.BYTES);
    this.results = local.region(RESULTS * Long.BYTES);
    long collected = LeafCollector.region(local);
    super(fabric, local);
    this.server = server;
    this.owner = LeafLayout.owner(server.number, session);
    this.leaves = new Leaves(this);
    this.locks = new LeafLocks(this);
    this.replacing = new Replacing(this);
    this.descent = new Descent(this);
    this.collector = new LeafCollector(this, collected);
  }

  /** Returns where the node of a level of the descent is in local memory. */
  long image(int level) {
    return images + (long) level * NODE_BYTES;
  }

  /** Returns whether two addresses are of one memory server, so that one list reaches both. */
  boolean areTogether(long one, long other) {
    return GlobalAddress.server(one) == GlobalAddress.server(other);
  }

  /**
   * Posts WRITEs to one memory server and then a CAS of a slot: in one list if that is there, too.
   *
   * @return whether the slot was as expected, and is the new one now
   */
  boolean postAndCas(VerbList writes, long slot, long expected, long desired) {
    if (areTogether(writes.remote(0), slot)) {
      worker.post(writes.cas(slot, expected, desired, results));
      return Words.get(memory, results) == expected;
    }
    worker.post(writes);
    return worker.cas(slot, expected, desired) == expected;
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
  }
}
