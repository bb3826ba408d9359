package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import pando.fabric.BackgroundTask;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.fabric.pool.NodeAllocator;
import pando.index.CacheCounters;
import pando.index.Partitioning;
import pando.index.Unwritten;
import pando.index.cache.CacheContext;
import pando.index.cache.NodeCache;
import pando.index.cache.NodeSweep;
import pando.index.node.NodeLayout;
import pando.index.pool.Catalogue;
import pando.index.session.Failures;
import pando.index.session.Gate;
import pando.index.session.WriteBack;

/**
 * One compute server: the range of keys that it owns, its cache, and its node allocator.
 *
 * <p>The range changes only while the gate is shut and the cache is empty.
 */
final class DexServer {
  final int number;
  final DexOptions options;
  final NodeLayout layout;
  final NodeGuard guard;
  final NodeCache cache;
  final NodeAllocator allocator;

  /** Name of this process at the memory servers. */
  final long process;

  final Gate gate = new Gate();

  /**
   * Bounds of the first words of the range's keys, both inclusive; with {@code low > high} the
   * server owns no key.
   */
  private long low = Long.MAX_VALUE;

  private long high = Long.MIN_VALUE;

  private volatile boolean retired;

  /** The cache context for the server's own work: write-back and returning free nodes. */
  final CacheContext house;

  private final WriteBack writeBack;
  private final BackgroundTask sweeper;

  private final AtomicInteger offloadingHolds = new AtomicInteger();

  DexServer(int number, Fabric fabric, DexOptions options, NodeLayout layout) {
    this.number = number;
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
            options.writeBackNanos(),
            sweeper::wake,
            sweeper::wakeAfter,
            () -> newSweep(gate.pass(house.worker())));
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
    } catch (PandoException | VirtualMachineError e) {
      // Sessions meet the cause, too; what is left is swept again.
      return false;
    }
  }

  private NodeSweep newSweep(Gate.Pass pass) {
    return new NodeSweep(cache, writeBack, house, pass);
  }

  /** Ends the writing of changes by their age. */
  void stopSweeping() {
    sweeper.close();
  }

  /**
   * Writes what was changed before the call, while operations go on. Where entries have moved from
   * node to node meanwhile, operations are kept out for the rest.
   */
  void writeBack() {
    Failures failures = new Failures();
    long moves = cache.dirty().moves();
    failures.collect(this::sweepAll);
    if (cache.dirty().moves() != moves) {
      failures.collect(this::flushAlone);
    }
    failures.rethrow();
  }

  private void sweepAll() {
    Gate.Pass pass = gate.pass(house.worker());
    try {
      newSweep(pass).writeAll();
    } finally {
      gate.forget(pass);
    }
  }

  private void flushAlone() {
    if (gate.shut(house.worker())) {
      try {
        flush();
      } finally {
        gate.open();
      }
    }
  }

  /** Returns what is in the cache alone: whole nodes. */
  Unwritten unwritten() {
    long bytes = cache.dirty().count() * layout.nodeBytes();
    return bytes == 0 ? Unwritten.NONE : new Unwritten(bytes, writeBack.ageNanosMax());
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

  /** Returns the verbs that were issued without a session's worker. */
  VerbCounters verbs() {
    return house.worker().counters();
  }

  /** Returns the events of its cache that no session's worker has caused. */
  CacheCounters events() {
    return new CacheCounters(0, 0, 0, 0, 0, 0, 0, house.writeBacks, 0, 0, 0);
  }

  /** Returns whether the server owns the keys with a first word. */
  boolean owns(long first) {
    return low <= first && first <= high;
  }

  long low() {
    return low;
  }

  long high() {
    return high;
  }

  /** Returns whether the server has been taken out of the index. */
  boolean isRetired() {
    return retired;
  }

  /**
   * Writes back all dirty nodes. The gate must be shut.
   *
   * @throws pando.fabric.PandoException if a node could not be written; all others were
   */
  void flush() {
    cache.flush(house);
  }

  /** Empties the cache. No node may be dirty, and the gate must be shut. */
  void clear() {
    cache.clear();
    offloadingHolds.set(0);
  }

  /**
   * Sets the root that descents start from. The cache must be empty, and the gate shut or not yet
   * used.
   */
  void setRoot(long root) {
    cache.setRoot(Catalogue.rootAddress(root), Catalogue.rootLevel(root));
  }

  /**
   * Sets the range that {@code partitioning} gives the server, if any, and opens the gate unless it
   * was closed for good.
   */
  void resume(Partitioning partitioning) {
    boolean has = partitioning.hasServer(number);
    low = has ? partitioning.lowOfServer(number) : Long.MAX_VALUE;
    high = has ? partitioning.highOfServer(number) : Long.MIN_VALUE;
    gate.open();
  }

  /** Returns whether {@code partitioning} gives the server the range that it has now. */
  boolean hasRange(Partitioning partitioning) {
    return partitioning.hasServer(number)
        ? low == partitioning.lowOfServer(number) && high == partitioning.highOfServer(number)
        : low > high;
  }

  /** Returns unused nodes to the memory servers. */
  void trim() {
    allocator.trim(house.worker(), house.message());
  }

  /**
   * Marks the server as removed from the index; sessions with a worker of it then look for the new
   * owner of a key.
   */
  void retire() {
    retired = true;
  }

  /**
   * Closes the gate for good and frees the local memory. The gate must be shut, or no session has a
   * worker.
   */
  void close() {
    gate.close();
    Closing.all(sweeper::close, cache::close);
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
    return layout.first(memory, nodeLow) < low
        || layout.first(memory, nodeHigh) > high
        || layout.isEverything(memory, nodeLow, nodeHigh);
  }

  /** Returns whether other compute servers may see or change a cached node. */
  boolean isShared(long node) {
    MemorySegment memory = cache.memory();
    return isShared(
        NodeLayout.level(memory, node), layout.low(memory, node), layout.high(memory, node));
  }
}
