package pando.baselines.smart;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.Worker;
import pando.index.CacheCounters;
import pando.index.Partitioning;
import pando.index.PoolPart;
import pando.index.host.Epochs;
import pando.index.host.HostedServer;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;
import pando.index.pool.PoolChange;
import pando.index.session.Gate;
import pando.index.session.KeyTurns;

/** What the sessions of one compute server of SMART share: its cache, and free places. */
final class SmartServer extends HostedServer {
  private static final int SYSTEM = 0x53A7_0000;

  private static final int INCARNATION_SHIFT = 36;
  private static final int INCARNATION_BITS = 20;
  private static final int SERVER_SHIFT = INCARNATION_SHIFT + INCARNATION_BITS;

  final SmartOptions options;
  final boolean partitioned;
  final Reserve reserve;

  /** How an operation finds out whether an old copy is still right. */
  final CopyCheck copyCheck;

  /** Bytes of a leaf that are READ and WRITTEN. */
  final int leafBytes;

  /** Whether a READ or WRITE of an aligned line of 64 bytes is atomic; if not, of a word alone. */
  final boolean landsByLine;

  /** Whether places can be those of leaves and small nodes. */
  final NodePlaces places;

  /** For what this compute server alone changes, in partitions. */
  final PlaceLocks placeLocks;

  final PathCache cache;
  final SmartSpace space;

  /** Who wants the same key at the same time: its readers share a READ, its writers a WRITE. */
  final KeyTurns reads = new KeyTurns();

  final KeyTurns writes = new KeyTurns();

  private final Epochs epochs;

  /** Address of the root, which is there as long as the index. */
  private volatile long root;

  private final AtomicLong ids;

  SmartServer(int number, Fabric fabric, SmartOptions options, RandomGenerator random) {
    super(number, system(options), SmartOptions.SESSIONS_MAX);
    this.options = options;
    this.partitioned = options.isPartitioned();
    this.reserve = options.reserve();
    this.copyCheck = options.copyCheck().on(fabric);
    this.leafBytes = copyCheck == CopyCheck.REVERSE ? LeafLayout.REVERSED_BYTES : LeafLayout.BYTES;
    this.landsByLine = fabric.capabilities().atomicityBytes() >= LeafLayout.PLACE_BYTES;
    this.places = new NodePlaces(fabric, LeafLayout.PLACE_BYTES);
    this.placeLocks = new PlaceLocks(partitioned);
    long incarnation = random.nextInt(1 << INCARNATION_BITS);
    this.ids = new AtomicLong(((number + 1L) << SERVER_SHIFT) | (incarnation << INCARNATION_SHIFT));
    this.cache = new PathCache(options.cacheBytes(), options.fifoParts(), options.pinnedDepth());
    this.epochs = new Epochs(this, fabric);
    this.space = new SmartSpace(fabric, reserve, number, epochs);
  }

  /**
   * Returns the number of the system with these options. Compute servers can use one tree together
   * only if it is the same for all.
   */
  static int system(SmartOptions options) {
    return SYSTEM
        | (options.copyCheck() == CopyCheck.REVERSE ? 4 : 0)
        | (options.isPartitioned() ? 2 : 0)
        | (options.reserve() == Reserve.WHOLE ? 1 : 0);
  }

  /** Makes a pass for what reads places and is no session. */
  Gate.Pass passOf(Worker worker) {
    return pass(worker);
  }

  /** Ends such a pass. */
  void end(Gate.Pass pass) {
    forget(pass);
  }

  /**
   * Returns whether this compute server alone changes the node with a path: all its keys are in the
   * server's range. That does not change during an operation.
   */
  boolean owns(long prefix, int depth) {
    return partitioned
        && KeyPath.key(prefix) >= low()
        && KeyPath.key(KeyPath.greatest(prefix, depth)) <= high();
  }

  /** Returns whether this compute server has keys below the node with a path. */
  boolean hasKeysBelow(long prefix, int depth) {
    return !partitioned
        || (KeyPath.key(prefix) <= high() && KeyPath.key(KeyPath.greatest(prefix, depth)) >= low());
  }

  /** Returns an id that no node has had before. */
  long nextId() {
    return ids.incrementAndGet();
  }

  /** Returns the address of the root. */
  long root() {
    return root;
  }

  @Override
  protected void open(Catalogue catalogue, long rootPointer) {
    root = Catalogue.rootAddress(rootPointer);
    epochs.join();
  }

  /** {@inheritDoc} Drops all copies: they were not kept current while others had the keys. */
  @Override
  protected void takeOn(PoolChange change, Partitioning table) {
    setRange(table);
    forget(change.worker().backoff());
  }

  @Override
  protected void forget(Backoff backoff) {
    cache.clear(backoff);
  }

  @Override
  protected long poolBytes() {
    return space.bytesInUse();
  }

  @Override
  protected List<PoolPart> kept() {
    return space.kept();
  }

  @Override
  protected long cachedBytes() {
    return cache.bytes();
  }

  @Override
  protected void trim(Worker worker, long message) {
    space.trim(worker, message);
  }

  @Override
  protected CacheCounters events() {
    return CacheCounters.ofNodes(0, 0);
  }

  @Override
  public void close() {
    cache.close();
  }
}
