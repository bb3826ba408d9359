package pando.index.dex.cache;

import java.lang.foreign.MemorySegment;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.WaitLimit;
import pando.index.bugs.PlantedBug;
import pando.index.dex.node.NodeLayout;

/**
 * Frees frames: cools nodes sampled at random, from the leaves upwards, and evicts those that have
 * cooled longest (DEX sections 5.2 and 5.3). {@link NodeCache} describes the life of a frame.
 *
 * <p>Thread-safe; each thread passes its own {@link CacheContext}.
 */
final class Cooler {
  private static final int WAITS_MAX = 20_000;
  private static final int DRAWS_MAX = 32;
  private static final int POPS_MAX = 8;

  private final MemorySegment memory;
  private final NodeLayout layout;
  private final MappingTable mapping;
  private final FreeFrames free;
  private final Swizzles swizzles;
  private final int capacity;
  private final int samples;
  private final CoolingMap cooling;

  /**
   * Creates the cooler of a cache.
   *
   * @param capacity number of frames, which are numbered from 1
   * @param coolingCapacity number of candidates for eviction to keep, among those
   * @param samples nodes to cool at a time
   */
  Cooler(
      MemorySegment memory,
      NodeLayout layout,
      MappingTable mapping,
      FreeFrames free,
      Swizzles swizzles,
      int capacity,
      int coolingCapacity,
      int samples) {
    this.memory = memory;
    this.layout = layout;
    this.mapping = mapping;
    this.free = free;
    this.swizzles = swizzles;
    this.capacity = capacity;
    this.samples = samples;
    this.cooling = new CoolingMap(coolingCapacity);
  }

  /**
   * Returns a free frame, locked and owned by the caller; evicts a node first if no frame is free.
   */
  long takeFrame(CacheContext context) {
    context.lost = null;
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      int frame = free.take(context);
      if (frame != FreeFrames.NONE) {
        return layout.offset(frame);
      }
      makeRoom(context);
      if (!context.keepsAny()) {
        start = awaitFrame(context, attempt, start);
      }
    }
  }

  private long awaitFrame(CacheContext context, int attempt, long start) {
    try {
      String what = "no frame could be freed, every node is in use: frames";
      return WaitLimit.SHORT.pause(context.backoff, attempt, start, what, capacity);
    } catch (StalledException e) {
      throw context.lost == null ? e : context.lost;
    }
  }

  private void makeRoom(CacheContext context) {
    context.needsFrame = true;
    try {
      for (int i = 0; i < samples; i++) {
        coolOne(context);
      }
      for (int i = 0; i < POPS_MAX && !context.keepsAny(); i++) {
        int frame = cooling.pop(context.backoff, context.random.nextInt(cooling.buckets()));
        if (frame != CoolingMap.NONE) {
          evict(context, frame);
        }
      }
    } finally {
      context.needsFrame = false;
    }
  }

  private void coolOne(CacheContext context) {
    for (int draw = 0; draw < DRAWS_MAX; draw++) {
      long node = layout.offset(1 + context.random.nextInt(capacity));
      if (Frames.state(memory, node) == Frames.HOT && cool(context, delegate(context, node))) {
        return;
      }
    }
  }

  /** Passes the command to cool down from a node to one that has no swizzled child. */
  private long delegate(CacheContext context, long node) {
    long chosen = node;
    for (int depth = 0; depth < NodeLayout.LEVELS_MAX; depth++) {
      long version = Frames.version(memory, chosen);
      long child = swizzles.child(context.random, chosen);
      if (child == Frames.NONE
          || Frames.isLocked(version)
          || !Frames.isCurrent(memory, chosen, version)) {
        return chosen;
      }
      chosen = child;
    }
    return chosen;
  }

  private boolean cool(CacheContext context, long node) {
    if (!Frames.tryLock(memory, node)) {
      return false;
    }
    boolean detached = false;
    try {
      detached = detachForCooling(context, node);
    } finally {
      if (!detached) {
        Frames.unlockUnchanged(memory, node);
      }
    }
    if (!detached) {
      return false;
    }
    int oldest;
    try {
      Frames.setParent(memory, node, Frames.NONE);
      Frames.setState(memory, node, Frames.COOLING);
      long address = NodeLayout.address(memory, node);
      oldest = cooling.push(context.backoff, address, layout.number(node));
    } finally {
      Frames.unlock(memory, node);
    }
    context.coolings++;
    context.backoff.transition();
    if (oldest != CoolingMap.NONE) {
      evict(context, oldest);
    }
    return true;
  }

  /**
   * Writes a locked node back if it is dirty, and unswizzles its parent's pointer to it. Returns
   * {@code false} if the node is pinned, not HOT, has a cached child, or could not be written back,
   * or if the parent is locked, or dirty: it is written first.
   */
  private boolean detachForCooling(CacheContext context, long node) {
    long parent = Frames.parent(memory, node);
    if (Frames.state(memory, node) != Frames.HOT
        || Frames.pins(memory, node) != 0
        || swizzles.child(context.random, node) != Frames.NONE
        || (parent != Frames.NONE && Frames.isDirty(memory, parent))
        || !writeBack(context, node)) {
      return false;
    }
    return parent == Frames.NONE || swizzles.unswizzle(parent, node);
  }

  /**
   * Writes a node without swizzled children back if it is dirty. The caller holds its lock.
   *
   * @return whether the node is clean; a node stays dirty and keeps its frame if its memory server
   *     is lost or did not answer, as its image may not be in the pool
   */
  private boolean writeBack(CacheContext context, long node) {
    if (!Frames.isDirty(memory, node) || PlantedBug.LOST_WRITE_BACK) {
      return true;
    }
    layout.seal(memory, node);
    try {
      layout.writeImage(context.worker, node);
    } catch (MemoryServerLostException e) {
      context.lost = e;
      return false;
    } catch (UnknownOutcomeException _) {
      return false;
    }
    Frames.setClean(memory, node);
    context.writeBacks++;
    return true;
  }

  /** Drops a frame that left the cooling map, unless it got a second chance meanwhile. */
  private void evict(CacheContext context, int frame) {
    long node = layout.offset(frame);
    for (int attempt = 0; !Frames.tryLock(memory, node); attempt++) {
      if (Frames.state(memory, node) != Frames.COOLING) {
        return;
      }
      if (attempt == WAITS_MAX) {
        // The node stays in the mapping table; the next descent that needs it finds it there.
        return;
      }
      context.backoff.pause(attempt);
    }
    if (Frames.state(memory, node) != Frames.COOLING) {
      Frames.unlockUnchanged(memory, node);
      return;
    }
    drop(context, node);
    context.evictions++;
    context.backoff.transition();
  }

  /** Drops a locked node from its frame, which becomes free. */
  void drop(CacheContext context, long node) {
    mapping.remove(context.backoff, NodeLayout.address(memory, node), layout.number(node));
    Frames.setState(memory, node, Frames.FREE);
    free.give(context, layout.number(node));
  }

  /** Removes a locked COOLING node from the candidates for eviction. */
  void forget(CacheContext context, long node) {
    cooling.remove(context.backoff, NodeLayout.address(memory, node), layout.number(node));
  }

  /** Forgets every candidate. No other thread may use the cache meanwhile. */
  void clear() {
    cooling.clear();
  }
}
