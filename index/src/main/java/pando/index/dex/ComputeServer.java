package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.pool.NodeAllocator;
import pando.index.Partitioning;
import pando.index.cache.CacheContext;
import pando.index.cache.NodeCache;
import pando.index.node.NodeLayout;
import pando.index.pool.Catalogue;
import pando.index.session.Gate;

/**
 * One compute server: the range of keys it owns, its cache, and its share of the pool's free nodes.
 *
 * <p>The range changes only while the gate is shut and the cache is empty.
 */
final class ComputeServer {
  final int number;
  final DexOptions options;
  final NodeLayout layout;
  final NodeGuard guard;
  final NodeCache cache;
  final NodeAllocator allocator;
  final Gate gate = new Gate();

  /** Bounds of the range, both inclusive; {@code low > high} owns nothing. */
  private long low = Long.MAX_VALUE;

  private long high = Long.MIN_VALUE;

  private volatile boolean retired;

  /** The context with which the server looks after itself. */
  final CacheContext house;

  private final AtomicInteger offloadingHolds = new AtomicInteger();

  ComputeServer(int number, Fabric fabric, DexOptions options, NodeLayout layout) {
    this.number = number;
    this.options = options;
    this.layout = layout;
    this.allocator = new NodeAllocator(fabric.memoryServers(), layout.nodeBytes());
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
  }

  /**
   * Allocates a node, on the memory server of a neighbour if it has room, that no old copy of a
   * freed node is cached for.
   */
  long allocate(CacheContext context, long neighbour) {
    long address =
        allocator.allocate(context.worker(), context.message(), GlobalAddress.server(neighbour));
    if (cache.oldCopies().forget(context, address)) {
      return address;
    }
    try {
      return allocate(context, neighbour);
    } finally {
      free(context, address);
    }
  }

  /** Gives a node back. */
  void free(CacheContext context, long address) {
    allocator.free(context.worker(), context.message(), address);
  }

  boolean owns(long key) {
    return low <= key && key <= high;
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
   * Writes back what is dirty. The gate is shut.
   *
   * @throws pando.fabric.PandoException if something could not be, after all else was
   */
  void flush() {
    cache.flush(house);
  }

  /** Empties the cache, of which nothing is dirty. The gate is shut. */
  void clear() {
    cache.clear();
    offloadingHolds.set(0);
  }

  /** Sets the root that descents start from, in an empty cache. The gate is shut, or unused yet. */
  void setRoot(long root) {
    cache.setRoot(Catalogue.rootAddress(root), Catalogue.rootLevel(root));
  }

  /**
   * Lets operations in, on the range that partitions give the server, if any, until it is closed.
   */
  void resume(Partitioning partitioning) {
    boolean has = partitioning.hasServer(number);
    low = has ? partitioning.lowOfServer(number) : Long.MAX_VALUE;
    high = has ? partitioning.highOfServer(number) : Long.MIN_VALUE;
    if (!gate.isClosed()) {
      gate.open();
    }
  }

  /** Returns whether partitions give the server the range that it has. */
  boolean hasRange(Partitioning partitioning) {
    return partitioning.hasServer(number)
        ? low == partitioning.lowOfServer(number) && high == partitioning.highOfServer(number)
        : low > high;
  }

  /** Gives back the nodes that are held ready. */
  void trim() {
    allocator.trim(house.worker(), house.message());
  }

  /** Takes the server out of the index; those who have a worker of it look for another. */
  void retire() {
    retired = true;
  }

  /** Turns everybody away and frees the local memory. The gate is shut, or nobody has a worker. */
  void close() {
    gate.close();
    cache.close();
  }

  /** Keeps every worker from offloading until {@link #resumeOffloading}. */
  void holdOffloading() {
    offloadingHolds.incrementAndGet();
  }

  /**
   * Undoes one {@link #holdOffloading}. Not called after a failure: offloading then waits until the
   * cache is empty.
   */
  void resumeOffloading() {
    offloadingHolds.decrementAndGet();
  }

  boolean mayOffload() {
    return offloadingHolds.get() == 0;
  }

  /**
   * Tells whether other compute servers may see or change a node with these fences: where they
   * reach beyond this server's range, and for the root, whose pointer is everybody's. A leaf is
   * always private.
   */
  boolean isShared(int level, long nodeLow, long nodeHigh) {
    boolean everything = nodeLow == Long.MIN_VALUE && nodeHigh == Long.MAX_VALUE;
    return level > 0 && (nodeLow < low || nodeHigh > high || everything);
  }

  /** Returns whether other compute servers may see or change a cached node. */
  boolean isShared(long node) {
    MemorySegment memory = cache.memory();
    return isShared(
        NodeLayout.level(memory, node),
        NodeLayout.low(memory, node),
        NodeLayout.high(memory, node));
  }
}
