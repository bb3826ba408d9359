package pando.index.dex;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.index.bugs.PlantedBug;
import pando.index.dex.cache.CacheContext;
import pando.index.dex.cache.Frames;
import pando.index.dex.cache.NodeCache;
import pando.index.dex.cache.Swizzles;
import pando.index.dex.node.NodeLayout;

/**
 * Splits full private nodes of a compute server, from the top down (eager splits, DEX section 7).
 *
 * <p>Belongs to one worker.
 */
final class DexSplits {
  /*
   * A leaf without room starts a descent that splits every full private node on its way, so that a
   * parent always has room for the child's sibling.
   *
   * The pool may outlive this compute server, which may end at any verb. So the sibling is written
   * first, then the parent, and only then the node, which is wider until then than its parent says:
   * readers leave out what belongs to the sibling (see NodeGuard). A leaf is dirty until
   * it cools. An inner node is written at once, as its children go on to be split. In the paper
   * all three are written when they cool, in any order.
   *
   * If the parent is shared, its remote lock is taken first and its cached copy is compared with
   * the pool's. An old copy is refreshed, a full parent is split in the pool (see SharedSplits), and
   * the descent restarts.
   */

  /** Number of a scratch node that {@link SharedNodes} does not use. */
  private static final int LOWER = 1;

  private static final int UPPER = 2;

  private final DexServer server;
  private final NodeCache cache;
  private final Swizzles swizzles;
  private final CacheContext context;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final DexDescent descent;
  private final SharedNodes sharedNodes;
  private final SharedSplits sharedSplits;

  /** Whether the sibling is part of the tree, so that its frame and address must not be freed. */
  private boolean linked;

  DexSplits(
      DexServer server,
      CacheContext context,
      DexDescent descent,
      SharedNodes sharedNodes,
      SharedSplits sharedSplits) {
    this.server = server;
    this.cache = server.cache;
    this.swizzles = cache.swizzles();
    this.context = context;
    this.layout = server.layout;
    this.memory = cache.memory();
    this.descent = descent;
    this.sharedNodes = sharedNodes;
    this.sharedSplits = sharedSplits;
  }

  /** Splits nodes until the leaf of a key has room for one more entry. */
  void makeRoom(long key) {
    int attempt = 0;
    while (true) {
      int level = fullLevel(key, attempt);
      if (level < 0) {
        return;
      }
      if (!split(key, level, attempt)) {
        descent.awaitNode(key, attempt++);
      }
    }
  }

  /** Returns the highest level at which the key's node is private and full, -1 if there is none. */
  private int fullLevel(long key, int attempt) {
    int level = rootLevel(key, attempt);
    for (; level >= 0; level--) {
      descent.find(key, level, true, attempt);
      boolean full = NodeLayout.count(memory, descent.node) >= layout.capacity();
      if (full && !server.isShared(descent.node)) {
        return level;
      }
    }
    return -1;
  }

  private int rootLevel(long key, int attempt) {
    descent.find(key, NodeLayout.LEVELS_MAX, true, attempt);
    return NodeLayout.level(memory, descent.node);
  }

  /** Splits the key's node at a level; returns {@code false} after a conflict. */
  private boolean split(long key, int level, int attempt) {
    descent.find(key, level, true, attempt);
    long node = descent.node;
    long nodeVersion = descent.version;
    long parent = descent.parent;
    long parentVersion = descent.parentVersion;
    long frame = cache.takeFrame(context);
    long address = GlobalAddress.NULL;
    linked = false;
    try {
      address = server.allocate(context, NodeLayout.address(memory, node));
      if (!upgrade(parent, parentVersion)) {
        return false;
      }
      if (!upgrade(node, nodeVersion)) {
        Frames.unlockUnchanged(memory, parent);
        return false;
      }
      splitLocked(key, level, parent, node, frame, address);
      return linked;
    } finally {
      if (!linked) {
        cache.giveFrame(context, frame);
        if (address != GlobalAddress.NULL) {
          server.free(context, address);
        }
      }
    }
  }

  private boolean upgrade(long node, long version) {
    return PlantedBug.MISSING_VALIDATION
        ? Frames.tryLock(memory, node)
        : Frames.upgrade(memory, node, version);
  }

  private void splitLocked(
      long key, int level, long parent, long node, long sibling, long address) {
    boolean splits =
        NodeLayout.level(memory, node) == level
            && NodeLayout.count(memory, node) == layout.capacity()
            && Frames.pins(memory, node) == 0;
    boolean shared = server.isShared(parent);
    boolean full = NodeLayout.count(memory, parent) == layout.capacity();
    try {
      if (splits && !full && (!shared || sharedNodes.lockCurrent(parent))) {
        if (!PlantedBug.SIBLING_LAST) {
          writeSibling(node, address);
        }
        link(parent, node, sibling, address);
        if (PlantedBug.NODE_FIRST) {
          sharedNodes.publish(node, false);
        }
        cache.dirty().add(node);
        sharedNodes.publish(parent, shared);
        if (PlantedBug.SIBLING_LAST) {
          sharedNodes.publish(sibling, false);
        }
        if (level > 0) {
          sharedNodes.publish(node, false);
        }
      }
    } catch (Throwable e) {
      sharedNodes.abandon(e);
      throw e;
    } finally {
      unlock(parent, node, sibling);
    }
    if (linked || !splits || !shared) {
      return;
    }
    if (full) {
      sharedSplits.splitFull(key);
    }
    descent.refresh(key);
  }

  private void unlock(long parent, long node, long sibling) {
    if (linked) {
      Frames.unlock(memory, sibling);
      Frames.unlock(memory, node);
      Frames.unlock(memory, parent);
    } else {
      Frames.unlockUnchanged(memory, node);
      Frames.unlockUnchanged(memory, parent);
    }
  }

  /** Writes the upper half of a node to the pool, as its sibling. */
  private void writeSibling(long node, long address) {
    long lower = context.scratchNode(LOWER);
    long upper = context.scratchNode(UPPER);
    swizzles.copyUnswizzled(node, lower);
    layout.split(memory, lower, upper, address);
    layout.seal(memory, upper);
    layout.writeImage(context.worker(), upper);
  }

  /** Moves the upper half of a locked node to its sibling, in the cache. */
  private void link(long parent, long node, long sibling, long address) {
    linked = true;
    layout.split(memory, node, sibling, address);
    swizzles.reparent(sibling, 0, NodeLayout.count(memory, sibling));
    long low = layout.low(memory, sibling);
    int index = layout.floor(memory, parent, low);
    layout.insert(memory, parent, index + 1, low, GlobalAddress.swizzled(sibling));
    cache.adopt(context, parent, sibling);
  }
}
