package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.dex.cache.CacheContext;
import pando.index.dex.cache.Frames;
import pando.index.dex.cache.NodeCache;
import pando.index.dex.node.NodeLayout;
import pando.index.pool.Catalogue;

/**
 * Refreshes one compute server's cached copies of shared nodes: a copy is read again when it has
 * led astray (lazy refresh, DEX section 4).
 *
 * <p>Belongs to one worker of one compute server.
 */
final class SharedPath {
  /*
   * When a refresh finds a changed node, it also refreshes every shared child that is cached below
   * it. Otherwise a child's old copy would keep nodes that, by the fresh parent, are below another
   * child, which may be neither shared nor cached; a memory server that finished an operation there
   * would miss the dirty nodes here. So no worker offloads from before a refresh until its orphans
   * are attached again.
   */

  private static final int STRANGE_MAX = 100;

  private final DexServer server;
  private final NodeCache cache;
  private final CacheContext context;
  private final Worker worker;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final Catalogue catalogue;
  private final SharedNodes shared;

  /** The words of the orphans' keys. */
  private long[] orphanLows = {};

  private int[] orphanLevels = {};
  private int orphans;
  private long[] pending = {};
  private int pendingCount;

  /** Address of a node on the path at which the last refresh found another node. */
  private long strange;

  private @Nullable String strangeness;
  private int strangeRefreshes;

  SharedPath(DexServer server, CacheContext context, SharedNodes shared) {
    this.server = server;
    this.cache = server.cache;
    this.context = context;
    this.worker = context.worker();
    this.layout = server.layout;
    this.memory = cache.memory();
    this.catalogue =
        new Catalogue(
            worker, context.message(), server.guard.places(), server.options.systemNumber());
    this.shared = shared;
    reserve();
  }

  /**
   * Refreshes the cached copies of the shared nodes on the path to a key, and of those below a node
   * on it that changed. Children to which a copy no longer points become orphans, which {@link
   * #nextOrphan} returns.
   *
   * @throws StalledException if a copy stays in use; then offloading must stay off
   * @throws CorruptNodeException if a node on the path is damaged; then offloading must stay off
   */
  void refresh(long key) {
    strangeness = null;
    refreshRoot();
    long node = cache.anchor();
    for (int depth = 0; depth < NodeLayout.LEVELS_MAX; depth++) {
      long child = cachedChild(node, key);
      if (child == Frames.NONE || !refreshNode(child)) {
        break;
      }
      node = child;
    }
    countStrange();
    refreshPending();
  }

  /**
   * Counts refreshes that find another node on the path. The parent of a freed node soon loses its
   * pointer to it; a parent that keeps the pointer is damaged.
   */
  private void countStrange() {
    strangeRefreshes = strangeness == null ? 0 : strangeRefreshes + 1;
    if (strangeness != null && strangeRefreshes == STRANGE_MAX) {
      strangeRefreshes = 0;
      throw new CorruptNodeException(strange, strangeness);
    }
  }

  /** Refreshes the copy of a cached node's child on the path to a key. */
  void refreshChild(long node, long key) {
    long child = cachedChild(node, key);
    if (child != Frames.NONE) {
      refreshNode(child);
    }
    refreshPending();
  }

  /**
   * Drops the copy of a freed shared node, unless it is in use. The node that has the address now
   * may be private: another compute server may have made it by splitting a shared node.
   *
   * @param level of the node that has the address now
   * @return {@code false} if the copy is not old: it is private, or has the level of the node that
   *     is there now; then the pointer that led here is wrong
   */
  boolean dropOld(long address, int level) {
    reserve();
    long copy = cache.oldCopies().lockCached(context, address);
    if (copy == Frames.NONE) {
      return true;
    }
    boolean old = server.isShared(copy) && NodeLayout.level(memory, copy) != level;
    if (old && cache.oldCopies().tryDetach(copy)) {
      drop(copy);
      refreshPending();
    } else {
      Frames.unlockUnchanged(memory, copy);
    }
    return old;
  }

  /** Moves to the next orphan of a refresh; returns {@code false} if there is none. */
  boolean nextOrphan() {
    if (orphans == 0) {
      return false;
    }
    orphans--;
    return true;
  }

  /** Returns the least key of the current orphan that this compute server owns. */
  long orphanLow() {
    long place = context.key(KeyPlaces.ORPHAN);
    return layout.ofWords(orphanLows, orphans * layout.keyWords(), memory, place);
  }

  /** Returns the level of the current orphan. */
  int orphanLevel() {
    return orphanLevels[orphans];
  }

  /**
   * Makes room in the arrays for a node's children before the node is locked, so that later steps
   * cannot fail.
   */
  private void reserve() {
    int more = layout.capacity() + 1;
    if (orphans + more > orphanLevels.length) {
      orphanLevels = Arrays.copyOf(orphanLevels, 2 * (orphans + more));
      orphanLows = Arrays.copyOf(orphanLows, orphanLevels.length * layout.keyWords());
    }
    if (pendingCount + 2 * more > pending.length) {
      pending = Arrays.copyOf(pending, 2 * (pendingCount + 2 * more));
    }
  }

  private void orphan(long child) {
    long low = layout.low(memory, child);
    long bound = layout.least(memory, server.low(), context.key(KeyPlaces.RANGE_LOW));
    long key = layout.compare(memory, low, bound) < 0 ? bound : low;
    layout.toWords(memory, key, orphanLows, orphans * layout.keyWords());
    orphanLevels[orphans] = NodeLayout.level(memory, child);
    orphans++;
    Frames.setParent(memory, child, Frames.NONE);
    if (server.isShared(child)) {
      // The part of its range that this server owns may belong to another node by now. Then no
      // descent reaches the copy again, and it would keep children that the node has lost.
      addPending(child);
    }
  }

  private void refreshRoot() {
    reserve();
    long root = catalogue.root();
    long address = Catalogue.rootAddress(root);
    cache.lock(context, cache.anchor());
    try {
      long pointer = layout.slot(memory, cache.anchor(), 0);
      long cached = GlobalAddress.frame(pointer);
      boolean swizzled = GlobalAddress.isSwizzled(pointer);
      if ((swizzled ? NodeLayout.address(memory, cached) : pointer) == address) {
        return;
      }
      if (swizzled) {
        orphan(cached);
      }
      cache.setRoot(address, Catalogue.rootLevel(root));
    } finally {
      Frames.unlock(memory, cache.anchor());
    }
  }

  private long cachedChild(long node, long key) {
    long version = Frames.version(memory, node);
    int index = layout.floor(memory, node, key);
    long pointer = layout.slot(memory, node, Math.max(index, 0));
    boolean usable =
        index >= 0
            && NodeLayout.level(memory, node) > 0
            && GlobalAddress.isSwizzled(pointer)
            && !Frames.isLocked(version)
            && Frames.isCurrent(memory, node, version);
    return usable ? GlobalAddress.frame(pointer) : Frames.NONE;
  }

  /**
   * Refreshes one copy, if it is of a shared node.
   *
   * @return whether the copy is current; {@code false} if its address no longer holds the node, or
   *     the node is a leaf
   */
  private boolean refreshNode(long node) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long version = Frames.version(memory, node);
      long address = NodeLayout.address(memory, node);
      int level = NodeLayout.level(memory, node);
      long copied = NodeLayout.checksum(memory, node);
      boolean isShared = server.isShared(node);
      if (Frames.isLocked(version) && Frames.state(memory, node) == Frames.FREE) {
        // The node was evicted since it was noted; a frame without a node is locked.
        return false;
      }
      if (!Frames.isLocked(version) && Frames.isCurrent(memory, node, version)) {
        if (!isShared) {
          return level > 0;
        }
        long fresh = context.scratchNode(SharedNodes.FRESH);
        String problem = shared.readSettled(address, fresh, level);
        if (problem != null) {
          strange = address;
          strangeness = problem;
          return false;
        }
        if (NodeLayout.checksum(memory, fresh) == copied || replace(node, version, fresh)) {
          return true;
        }
      }
      start =
          WaitLimit.SHORT.pause(
              worker.backoff(),
              attempt,
              start,
              "the copy of a shared node stays in use: node",
              NodeLayout.address(memory, node),
              GlobalAddress::toString);
    }
  }

  /** Replaces a copy by a fresh image, unless the copy is in use. */
  private boolean replace(long node, long version, long fresh) {
    reserve();
    if (!Frames.upgrade(memory, node, version)) {
      return false;
    }
    if (Frames.pins(memory, node) != 0) {
      // Another worker fetches a child by one of the old pointers.
      Frames.unlockUnchanged(memory, node);
      return false;
    }
    replaceImage(node, fresh);
    addPendingChildren(node);
    Frames.unlock(memory, node);
    return true;
  }

  /**
   * Notes all cached children of a changed node: a new child may have got part of a shared child's
   * range.
   */
  private void addPendingChildren(long node) {
    int count = NodeLayout.count(memory, node);
    for (int i = 0; i < count; i++) {
      long pointer = layout.slot(memory, node, i);
      if (GlobalAddress.isSwizzled(pointer)) {
        addPending(GlobalAddress.frame(pointer));
      }
    }
  }

  private void addPending(long node) {
    pending[pendingCount++] = node;
  }

  /**
   * Refreshes the children of all changed copies, and orphans. A child that was evicted meanwhile
   * has no cached children; refreshing the node that is in its frame now does no harm. A damaged
   * child is not on the path to the key, so its damage is not reported here; but its copy stays
   * old, so nothing is offloaded until the cache is emptied.
   */
  private void refreshPending() {
    while (pendingCount > 0) {
      long node = pending[--pendingCount];
      try {
        if (!refreshNode(node)) {
          dropOrphan(node);
        }
      } catch (CorruptNodeException _) {
        server.holdOffloading();
      }
    }
  }

  /** Drops a shared orphan whose node was freed, unless it is in use. */
  private void dropOrphan(long node) {
    reserve();
    if (!Frames.tryLock(memory, node)) {
      return;
    }
    boolean unused =
        Frames.state(memory, node) == Frames.HOT
            && Frames.parent(memory, node) == Frames.NONE
            && Frames.pins(memory, node) == 0
            && server.isShared(node);
    if (unused) {
      drop(node);
    } else {
      Frames.unlockUnchanged(memory, node);
    }
  }

  /** Drops a locked copy and makes its children orphans. */
  private void drop(long copy) {
    int count = NodeLayout.count(memory, copy);
    for (int i = 0; i < count; i++) {
      long pointer = layout.slot(memory, copy, i);
      if (GlobalAddress.isSwizzled(pointer)) {
        orphan(GlobalAddress.frame(pointer));
      }
    }
    cache.drop(context, copy);
  }

  /**
   * Copies a fresh image into a locked frame, and keeps the swizzled pointers to cached children.
   */
  private void replaceImage(long node, long fresh) {
    int count = NodeLayout.count(memory, node);
    for (int i = 0; i < count; i++) {
      long pointer = layout.slot(memory, node, i);
      if (!GlobalAddress.isSwizzled(pointer)) {
        continue;
      }
      long child = GlobalAddress.frame(pointer);
      int index = layout.floor(memory, fresh, layout.low(memory, child));
      if (index >= 0 && layout.slot(memory, fresh, index) == NodeLayout.address(memory, child)) {
        layout.setSlot(memory, fresh, index, pointer);
      } else {
        orphan(child);
      }
    }
    layout.copyImage(memory, fresh, node);
  }
}
