package pando.baselines.smart;

import pando.fabric.Fabric;
import pando.index.CorruptNodeException;
import pando.index.host.LocalMemory;
import pando.index.host.WorkerContext;

/** What the parts of one worker share: verbs, counters, and places in local memory. */
final class SmartContext extends WorkerContext {
  final SmartServer server;

  /** What this worker writes into a leaf that it locks. */
  final int owner;

  /** Local offset of the leaf that was READ last. */
  final long leaf;

  /** Local offset where a leaf is made. */
  final long newLeaf;

  /** Local offset where an inner node is made. */
  final long newNode;

  /** Local offset where single words are made. */
  final long words;

  /** Local offset of the results of the atomics of a list, {@link #RESULTS} words. */
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

  final ReversePointers reverse;
  final Replacing replacing;
  final Descent descent;
  final SlotChanges slotChanges;
  final LeafCollector collector;

  /** Whether this completes what a lost compute server has left, in any range. */
  final boolean buries;

  private final long images;

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
    this.leaf = local.region(LeafLayout.REVERSED_BYTES);
    this.newLeaf = local.region(LeafLayout.REVERSED_BYTES);
    this.newNode = local.region(Reserve.LARGE_BYTES);
    this.words = local.region(8 * Long.BYTES);
    this.results = local.region(RESULTS * Long.BYTES);
    long slotWord = local.region(Long.BYTES);
    long reverseWords = local.region(NodeLayout.BYTES_MAX);
    long collected = LeafCollector.region(local);
    super(fabric, local);
    this.server = server;
    this.buries = buries;
    this.owner = LeafLayout.owner(server.number, session);
    this.leaves = new Leaves(this);
    this.held = new HeldPlaces(server.placeLocks, worker, words + 7 * Long.BYTES);
    this.copies = new OwnCopies(this);
    this.locks = new LeafLocks(this);
    this.reverse = new ReversePointers(this, reverseWords);
    this.replacing = new Replacing(this);
    this.descent = new Descent(this);
    this.slotChanges = new SlotChanges(this, slotWord);
    this.collector = new LeafCollector(this, collected);
  }

  /** Returns the local offset of the node of a level of the descent. */
  long image(int level) {
    return images + (long) level * Reserve.LARGE_BYTES;
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

  /**
   * READs the rest of a node.
   *
   * @param bytes that were READ: all, unless the node has grown since its slot was changed
   * @throws CorruptNodeException if the node does not lie in the pool
   */
  void readRest(long address, long image, int bytes) {
    checkPlace(address, nodeBytes(image));
    readRestInPool(address, image, bytes);
  }

  /** READs the rest of what may be a node, as {@link #readRest}, if that lies in the pool. */
  void readRestInPool(long address, long image, int bytes) {
    int all = nodeBytes(image);
    if (all > bytes && server.places.fits(address, all)) {
      counters.innerReads++;
      worker.read(address + bytes, image + bytes, all - bytes);
    }
  }

  private int nodeBytes(long image) {
    return NodeLayout.bytes(NodeLayout.type(NodeLayout.header(memory, image)));
  }

  @Override
  public void abandon(Throwable failure) {
    locks.abandon(failure);
    held.abandon(failure);
  }
}
