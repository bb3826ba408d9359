package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import pando.fabric.BackgroundTask;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.pool.NodeAllocator;
import pando.index.CacheCounters;
import pando.index.PoolPart;
import pando.index.Unwritten;
import pando.index.dex.cache.CacheContext;
import pando.index.dex.cache.NodeCache;
import pando.index.dex.cache.NodeSweep;
import pando.index.dex.node.NodeLayout;
import pando.index.host.HostedServer;
import pando.index.pool.Catalogue;
import pando.index.pool.KeptNodes;
import pando.index.session.Gate;
import pando.index.session.WriteBack;

/**
 * One compute server: the range of keys that it owns, its cache, and its node allocator. It has a
 * gate of its own.
 *
 * <p>The range, of the first words of keys, changes only while the gate is shut and the cache is
 * empty. Sessions look at the cache outside the gate, too, so it stays until the last of them has
 * left.
 */
final class DexServer extends HostedServer {
  final DexOptions options;
  final NodeLayout layout;
  final NodeGuard guard;
  final NodeCache cache;
  final NodeAllocator allocator;

  /** Name of this process at the memory servers. */
  final long process;

  /** The cache context for the server's own work: write-back and returning free nodes. */
  final CacheContext house;

  private final WriteBack writeBack;
  private final BackgroundTask sweeper;

  private final AtomicInteger offloadingHolds = new AtomicInteger();
  private int sessions;
  private boolean isLeft;
  private boolean isClosed;

  DexServer(int number, Fabric fabric, DexOptions options, NodeLayout layout) {
    super(number, options.systemNumber(), options.sessionsMax());
    this.options = options;
    this.layout = layout;
    this.process = fabric.process();
    this.allocator = NodeAllocator.lasting(fabric.memoryServers(), layout.nodeBytes());
    this.guard = new NodeGuard(fabric, layout);
    long frames = options.cacheBytes() / layout.nodeBytes();
    int capacity = (int) Math.min(frames, Integer.MAX_VALUE / 2);
    this.cache =
        NodeCache.create(
            fabric,
            layout,
            capacity,
            (int) (capacity * options.coolingShare()),
            options.samples(),
            options.sessionsMax());
    this.house = cache.house();
    String name = "pando-sweeper-" + number;
    this.sweeper = background(fabric, name, this::sweep, cache);
    this.writeBack =
        new WriteBack(
            fabric.capabilities().keepsPool(),
            options.writeBackNanos(),
            sweeper::wake,
            sweeper::wakeAfter,
            () -> newSweep(pass(house.worker())));
    cache.dirty().marks().onSet(writeBack::note);
  }

  private static BackgroundTask background(
      Fabric fabric, String name, BooleanSupplier step, NodeCache cache) {
    try {
      return fabric.background(name, step);
    } catch (Throwable e) {
      Closing.after(e, cache::close);
      throw e;
    }
  }

  private boolean sweep() {
    try {
      return writeBack.step();
    } catch (PandoException | VirtualMachineError _) {
      // Sessions meet the cause, too; what is left is swept again.
      return false;
    }
  }

  private NodeSweep newSweep(Gate.Pass pass) {
    return new NodeSweep(cache, writeBack, house, pass);
  }

  @Override
  protected boolean sharesGate() {
    return false;
  }

  /** {@inheritDoc} Ends the writing of changes by their age. */
  @Override
  public void stop() {
    sweeper.close();
  }

  @Override
  protected void writeBack() {
    Gate.Pass pass = pass(house.worker());
    try {
      newSweep(pass).writeAll();
    } finally {
      forget(pass);
    }
  }

  /** {@inheritDoc} These are whole nodes. */
  @Override
  protected synchronized Unwritten unwritten() {
    long bytes = isClosed ? 0 : cache.dirty().count() * layout.nodeBytes();
    return writeBack.unwritten(bytes);
  }

  /**
   * Allocates a node, on the memory server of {@code neighbour} if that has room. No old copy of a
   * freed node at its address is cached.
   */
  long allocate(CacheContext context, long neighbour) {
    long address =
        allocator.allocate(context.worker(), context.message(), GlobalAddress.server(neighbour));
    boolean usable = false;
    try {
      usable = cache.oldCopies().forget(context, address);
      return usable ? address : allocate(context, neighbour);
    } finally {
      if (!usable) {
        free(context, address);
      }
    }
  }

  /** Frees a node. */
  void free(CacheContext context, long address) {
    allocator.free(context.worker(), context.message(), address);
  }

  @Override
  protected VerbCounters verbs() {
    return house.worker().counters();
  }

  @Override
  protected CacheCounters events() {
    return CacheCounters.ofWriteBacks(house.writeBacks);
  }

  @Override
  protected void settle() {
    cache.flush(house);
  }

  /** Empties the cache, in which no node is dirty. */
  @Override
  protected void clear() {
    cache.clear();
    offloadingHolds.set(0);
  }

  /** {@inheritDoc} It was emptied before. */
  @Override
  protected void forget(Backoff backoff) {}

  /** Sets the root that descents start from. The cache is empty. */
  @Override
  protected void open(Catalogue catalogue, long root) {
    cache.setRoot(Catalogue.rootAddress(root), Catalogue.rootLevel(root));
  }

  @Override
  protected long poolBytes() {
    return allocator.nodesInUse() * layout.nodeBytes();
  }

  @Override
  protected List<PoolPart> kept() {
    return KeptNodes.of(allocator);
  }

  @Override
  protected synchronized long cachedBytes() {
    return isClosed ? 0 : cache.bytes();
  }

  @Override
  protected void trim(Worker worker, long message) {
    allocator.trim(worker, message);
  }

  /** Opens a session's context. */
  synchronized CacheContext enter() {
    CacheContext context = cache.open();
    sessions++;
    return context;
  }

  /** Closes a session's context. */
  synchronized void leave(CacheContext context) {
    try {
      cache.close(context);
    } finally {
      sessions--;
      closeIfLeft();
    }
  }

  /** Frees the local memory: with the last session's context, if some are open. */
  @Override
  public synchronized void close() {
    isLeft = true;
    closeIfLeft();
  }

  private void closeIfLeft() {
    if (isLeft && sessions == 0 && !isClosed) {
      isClosed = true;
      cache.close();
    }
  }

  /** Keeps every worker from offloading until {@link #resumeOffloading}. */
  void holdOffloading() {
    offloadingHolds.incrementAndGet();
  }

  /**
   * Undoes one {@link #holdOffloading}. Not called after a failed refresh: no worker offloads then
   * until the cache was emptied.
   */
  void resumeOffloading() {
    offloadingHolds.decrementAndGet();
  }

  boolean mayOffload() {
    return offloadingHolds.get() == 0;
  }

  /**
   * Returns whether other compute servers may see or change a node with these fences: if the fences
   * reach beyond this server's range, or for the root, whose pointer all compute servers share. A
   * leaf is always private.
   */
  boolean isShared(int level, long nodeLow, long nodeHigh) {
    if (level == 0) {
      return false;
    }
    MemorySegment memory = cache.memory();
    return layout.first(memory, nodeLow) < low()
        || layout.first(memory, nodeHigh) > high()
        || layout.isEverything(memory, nodeLow, nodeHigh);
  }

  /** Returns whether other compute servers may see or change a cached node. */
  boolean isShared(long node) {
    MemorySegment memory = cache.memory();
    return isShared(
        NodeLayout.level(memory, node), layout.low(memory, node), layout.high(memory, node));
  }
}
