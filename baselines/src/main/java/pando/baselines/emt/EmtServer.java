package pando.baselines.emt;

import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.Worker;
import pando.fabric.pool.Losses;
import pando.fabric.pool.NodeAllocator;
import pando.index.CacheCounters;
import pando.index.PoolPart;
import pando.index.host.HostedServer;
import pando.index.pool.Catalogue;
import pando.index.pool.KeptNodes;
import pando.index.pool.NodePlaces;

/** What the sessions of one compute server share: which tree has which keys, and free nodes. */
final class EmtServer extends HostedServer {
  /** In place of a session's number: that of loads and of changes of the index as a whole. */
  static final int NO_SESSION = EmtOptions.SESSIONS_MAX;

  final EmtOptions options;
  final NodePlaces places;
  final NodeAllocator allocator;
  final int memoryServers;

  /** Name of this process at the memory servers. */
  final long process;

  private volatile long root;
  private volatile @Nullable Ranges ranges;

  EmtServer(int number, Fabric fabric, EmtOptions options) {
    super(number, EmtIndex.number(), EmtOptions.SESSIONS_MAX);
    this.options = options;
    this.places = new NodePlaces(fabric, options.nodeBytes());
    this.memoryServers = fabric.memoryServers();
    this.allocator = new NodeAllocator(memoryServers, options.nodeBytes());
    this.process = fabric.process();
  }

  @Override
  protected void open(Catalogue catalogue, long newRoot) {
    ranges = null;
    root = newRoot;
  }

  /**
   * Returns which tree has which keys. The first time after the index was made, joined or loaded,
   * READs the headers of the trees.
   *
   * @param local local offset of {@link EmtHeader#BYTES}
   */
  Ranges ranges(Worker worker, long local) {
    Ranges known = ranges;
    if (known == null) {
      known = Ranges.read(Catalogue.rootAddress(root), places, memoryServers, worker, local);
      ranges = known;
    }
    return known;
  }

  @Override
  protected long cachedBytes() {
    return 0;
  }

  @Override
  protected void forget(Backoff backoff) {
    ranges = null;
  }

  @Override
  protected long poolBytes() {
    return allocator.nodesInUse() * options.nodeBytes();
  }

  @Override
  protected List<PoolPart> kept() {
    return KeptNodes.of(allocator);
  }

  /** Takes the free nodes of the trees, too, as far as this compute server knows the trees. */
  @Override
  protected void trim(Worker worker, long message) {
    Losses losses = new Losses();
    Ranges known = ranges;
    if (known != null) {
      TreeNodes nodes = new TreeNodes(this, new TreeCalls(this, worker, message, NO_SESSION));
      for (int i = 0; i < known.count(); i++) {
        long tree = known.tree(i);
        losses.defer(() -> nodes.takeAll(tree));
      }
    }
    losses.defer(() -> allocator.trim(worker, message));
    losses.rethrow();
  }

  @Override
  protected CacheCounters events() {
    return CacheCounters.NONE;
  }

  @Override
  public void close() {}
}
