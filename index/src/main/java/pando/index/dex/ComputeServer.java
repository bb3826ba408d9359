package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.pool.NodeAllocator;
import pando.index.cache.CacheContext;
import pando.index.cache.NodeCache;
import pando.index.node.NodeCheck;
import pando.index.node.NodeLayout;

/**
 * One compute server: the range of keys it owns, its cache, and its share of the pool's free nodes.
 *
 * <p>The range changes only while the gate is shut and the cache is empty.
 */
final class ComputeServer {
  final int number;
  final Fabric fabric;
  final DexOptions options;
  final NodeLayout layout;
  final NodeCache cache;
  final NodeAllocator allocator;
  final Gate gate = new Gate();

  /** Bounds of the range, both inclusive; {@code low > high} owns nothing. */
  private long low = Long.MAX_VALUE;

  private long high = Long.MIN_VALUE;

  private final long[] dramBytes;
  private volatile boolean retired;
  final VerbCounters retiredVerbs = new VerbCounters();
  long retiredWriteBacks;
  private final AtomicInteger offloadingHolds = new AtomicInteger();

  ComputeServer(int number, Fabric fabric, DexOptions options, NodeLayout layout) {
    this.number = number;
    this.fabric = fabric;
    this.options = options;
    this.layout = layout;
    this.allocator = new NodeAllocator(fabric.memoryServers(), layout.nodeBytes());
    this.dramBytes = new long[fabric.memoryServers()];
    Arrays.setAll(dramBytes, fabric::dramBytes);
    long frames = options.cacheBytes() / layout.nodeBytes();
    int capacity = (int) Math.min(frames, Integer.MAX_VALUE / 2);
    this.cache =
        new NodeCache(
            fabric,
            layout,
            capacity,
            (int) (capacity * options.coolingShare()),
            options.samples(),
            options.sessionsMax() + 1);
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

  /** Tells whether the server has been taken out of the index. */
  boolean isRetired() {
    return retired;
  }

  /** Keeps operations out, writes back what is dirty and empties the cache. */
  void quiesce(Backoff backoff) {
    gate.shut(backoff);
    CacheContext context = cache.open();
    try {
      cache.flush(context);
      cache.clear();
    } catch (RuntimeException e) {
      gate.open();
      throw e;
    } finally {
      retiredVerbs.add(context.worker().counters());
      retiredWriteBacks += context.writeBacks;
      cache.close(context);
    }
  }

  /** Lets operations in again, on a range and a root. The server must be quiesced. */
  void resume(long low, long high, long root) {
    this.low = low;
    this.high = high;
    cache.setRoot(Catalogue.rootAddress(root), Catalogue.rootLevel(root));
    gate.open();
  }

  /** Lets operations in again, on the range that partitions give the server, if any. */
  void resume(Partitioning partitioning, long root) {
    if (partitioning.has(number)) {
      resume(partitioning.low(number), partitioning.high(number), root);
    } else {
      resume(Long.MAX_VALUE, Long.MIN_VALUE, root);
    }
  }

  /** Tells whether partitions give the server the range that it has. */
  boolean hasRange(Partitioning partitioning) {
    return partitioning.has(number)
        ? low == partitioning.low(number) && high == partitioning.high(number)
        : low > high;
  }

  /** Lets operations in again, on the range as it was. */
  void resume(long root) {
    resume(low, high, root);
  }

  /**
   * Turns operations away for good, and gives back the nodes held ready. The server must be
   * quiesced.
   */
  void retire(Worker worker, long message) {
    retired = true;
    this.low = Long.MAX_VALUE;
    this.high = Long.MIN_VALUE;
    allocator.trim(worker, message);
  }

  /** Frees the local memory. Nobody may use the server any more. */
  void close() {
    gate.close();
    cache.close();
  }

  /** Keeps every worker from offloading until {@link #resumeOffloading}. */
  void holdOffloading() {
    offloadingHolds.incrementAndGet();
  }

  /** Undoes one {@link #holdOffloading}. Not called after a failure: what was held stays held. */
  void resumeOffloading() {
    offloadingHolds.decrementAndGet();
  }

  boolean mayOffload() {
    return offloadingHolds.get() == 0;
  }

  /**
   * Checks a node that came from the pool before anything in it is followed.
   *
   * @return {@code null} where all is well, else what is wrong
   */
  @Nullable String check(MemorySegment memory, long node, long address, int level) {
    String problem = NodeCheck.image(layout, memory, node, address, level);
    if (problem != null || level == 0) {
      return problem;
    }
    int count = NodeLayout.count(memory, node);
    for (int i = 0; i < count; i++) {
      long pointer = layout.slot(memory, node, i);
      if (!isNodeAddress(pointer)) {
        return "points outside the pool: slot=" + i + ", pointer=0x" + Long.toHexString(pointer);
      }
    }
    return null;
  }

  private boolean isNodeAddress(long pointer) {
    int memoryServer = GlobalAddress.server(pointer);
    long offset = GlobalAddress.offset(pointer);
    return !GlobalAddress.isSwizzled(pointer)
        && !GlobalAddress.isOnChip(pointer)
        && memoryServer < dramBytes.length
        && offset >= Fabric.CATALOGUE_BYTES
        && offset % Long.BYTES == 0
        && offset <= dramBytes[memoryServer] - layout.nodeBytes();
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

  /** Tells whether other compute servers may see or change a cached node. */
  boolean isShared(long node) {
    MemorySegment memory = cache.memory();
    return isShared(
        NodeLayout.level(memory, node),
        NodeLayout.low(memory, node),
        NodeLayout.high(memory, node));
  }
}
