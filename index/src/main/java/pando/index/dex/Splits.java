package pando.index.dex;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.index.cache.CacheContext;
import pando.index.cache.Frames;
import pando.index.cache.NodeCache;
import pando.index.node.NodeLayout;

/**
 * Splits full nodes of a compute server's own, from the top down (eager splits, DEX section 7).
 *
 * <p>Belongs to one worker.
 */
final class Splits {
  /*
   * A leaf without room starts a descent that splits every full private node on its way, so that a
   * parent always has room for the child's sibling. Nodes of which this compute server is the only
   * owner are split in the cache, without a verb: both halves are dirty and go to the pool when they
   * cool.
   *
   * Where the parent is shared, its remote lock is taken first and its cached copy compared with the
   * pool's; the halves are written before the parent that points to them. An old copy is refreshed, a
   * full parent is split on the shared path, and the descent starts again.
   */

  private final ComputeServer server;
  private final NodeCache cache;
  private final CacheContext context;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final Descent descent;
  private final SharedPath sharedPath;

  Splits(ComputeServer server, CacheContext context, Descent descent, SharedPath sharedPath) {
    this.server = server;
    this.cache = server.cache;
    this.context = context;
    this.layout = server.layout;
    this.memory = cache.memory();
    this.descent = descent;
    this.sharedPath = sharedPath;
  }

  /** Makes room for one more entry in the leaf of a key. */
  void makeRoom(long key) {
    int attempt = 0;
    while (true) {
      int level = fullLevel(key, attempt);
      if (level < 0) {
        return;
      }
      if (!split(key, level, attempt)) {
        descent.awaitConflict(key, attempt++);
      }
    }
  }

  /** Returns the highest level at which the key's node is private and full, -1 where none is. */
  private int fullLevel(long key, int attempt) {
    int level = rootLevel(key, attempt);
    for (; level >= 0; level--) {
      descent.find(key, level, true, attempt);
      boolean full = NodeLayout.count(memory, descent.leaf) >= layout.capacity();
      if (full && !server.isShared(descent.leaf)) {
        return level;
      }
    }
    return -1;
  }

  private int rootLevel(long key, int attempt) {
    descent.find(key, NodeLayout.LEVELS_MAX, true, attempt);
    return NodeLayout.level(memory, descent.leaf);
  }

  /** Splits the key's node at a level; {@code false} after a conflict. */
  private boolean split(long key, int level, int attempt) {
    descent.find(key, level, true, attempt);
    long node = descent.leaf;
    long nodeVersion = descent.version;
    long parent = descent.parent;
    long parentVersion = descent.parentVersion;
    long frame = cache.takeFrame(context);
    long address = GlobalAddress.NULL;
    boolean used = false;
    try {
      address =
          server.allocator.allocate(
              context.worker(),
              context.message(),
              GlobalAddress.server(NodeLayout.address(memory, node)));
      if (!Frames.upgrade(memory, parent, parentVersion)) {
        return false;
      }
      if (!Frames.upgrade(memory, node, nodeVersion)) {
        Frames.unlockUnchanged(memory, parent);
        return false;
      }
      used = splitLocked(key, level, parent, node, frame, address);
      return used;
    } finally {
      if (!used) {
        cache.giveFrame(context, frame);
        if (address != GlobalAddress.NULL) {
          server.allocator.free(context.worker(), context.message(), address);
        }
      }
    }
  }

  private boolean splitLocked(
      long key, int level, long parent, long node, long sibling, long address) {
    boolean splits =
        NodeLayout.level(memory, node) == level
            && NodeLayout.count(memory, node) == layout.capacity()
            && Frames.pins(memory, node) == 0;
    boolean shared = server.isShared(parent);
    boolean full = NodeLayout.count(memory, parent) == layout.capacity();
    boolean current = true;
    if (splits && !full && shared) {
      current = lockCurrent(parent, node);
    }
    if (splits && !full && current) {
      link(parent, node, sibling, address);
      try {
        if (shared) {
          publish(parent, node, sibling);
        }
      } finally {
        Frames.unlock(memory, sibling);
        Frames.unlock(memory, node);
        Frames.unlock(memory, parent);
      }
      return true;
    }
    Frames.unlockUnchanged(memory, node);
    Frames.unlockUnchanged(memory, parent);
    if (splits && shared && full) {
      sharedPath.splitFull(key);
    }
    if (splits && shared) {
      descent.refresh(key);
    }
    return false;
  }

  private boolean lockCurrent(long parent, long node) {
    try {
      return sharedPath.lockCurrent(parent);
    } catch (RuntimeException e) {
      Frames.unlockUnchanged(memory, node);
      Frames.unlockUnchanged(memory, parent);
      throw e;
    }
  }

  /** Moves the upper half of a locked node to its sibling, in the cache. */
  private void link(long parent, long node, long sibling, long address) {
    SharedPath.splitEntries(layout, memory, node, sibling, address);
    if (NodeLayout.level(memory, sibling) > 0) {
      int count = NodeLayout.count(memory, sibling);
      for (int i = 0; i < count; i++) {
        long pointer = layout.slot(memory, sibling, i);
        if (GlobalAddress.isSwizzled(pointer)) {
          Frames.setParent(memory, pointer & ~GlobalAddress.SWIZZLED, sibling);
        }
      }
    }
    long low = NodeLayout.low(memory, sibling);
    int index = layout.floor(memory, parent, NodeLayout.descriptor(memory, parent), low);
    layout.insert(memory, parent, index + 1, low, sibling | GlobalAddress.SWIZZLED);
    cache.adopt(context, parent, sibling, true);
    Frames.setDirty(memory, node, true);
    Frames.setDirty(memory, parent, true);
  }

  private void publish(long parent, long node, long sibling) {
    sharedPath.writeThrough(sibling);
    sharedPath.writeThrough(node);
    sharedPath.publish(parent);
    Frames.setDirty(memory, parent, false);
  }
}
