package pando.index.dex;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.index.cache.CacheContext;
import pando.index.cache.Frames;
import pando.index.cache.NodeCache;
import pando.index.node.NodeLayout;

/**
 * Makes one node fewer where neighbours have become empty enough, and gives its place back to the
 * pool.
 *
 * <p>Belongs to one worker.
 */
final class Merges {
  /*
   * A node that a removal leaves below the merge share looks at its neighbours below the same parent:
   * two become one, or three become two, where those then are filled to the merged share at most. So
   * a tree that shrinks keeps about the fill it had, which two-way merges alone would not do: they
   * leave half-empty nodes between full ones.
   *
   * Only nodes of the compute server's own are merged, and only below level M or on one memory
   * server. What does not fit is left for a later removal: a merge is never owed. The parent may be
   * shared; then its remote lock is taken and its copy compared, as for a split.
   */

  /** A full check of the neighbours is due once per this share of a node's capacity. */
  private static final int CHECKS_PER_NODE = 16;

  private static final int ATTEMPTS_MAX = 4;

  private final ComputeServer server;
  private final NodeCache cache;
  private final CacheContext context;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final Descent descent;
  private final SharedPath sharedPath;
  private final int sparse;
  private final int mergedMax;
  private final int checkEvery;

  private long parent;
  private long parentVersion;
  private int index;
  private long left;
  private long middle;
  private long right;

  Merges(ComputeServer server, CacheContext context, Descent descent, SharedPath sharedPath) {
    this.server = server;
    this.cache = server.cache;
    this.context = context;
    this.layout = server.layout;
    this.memory = cache.memory();
    this.descent = descent;
    this.sharedPath = sharedPath;
    this.sparse = (int) (layout.capacity() * server.options.mergeShare());
    this.mergedMax = (int) (layout.capacity() * server.options.mergedShare());
    this.checkEvery = Math.max(1, layout.capacity() / CHECKS_PER_NODE);
  }

  /** Tells whether a leaf with so many entries left should look for a neighbour. */
  boolean isDue(int entries) {
    return entries < sparse && entries % checkEvery == 0;
  }

  /** Merges the key's leaf if it can be, and then its ancestors as far as they can be. */
  void merge(long key) {
    int level = 0;
    while (mergeLevel(key, level)) {
      level++;
    }
    if (level > 0) {
      shrink(key);
    }
  }

  /** Merges the key's node at a level; {@code true} where its parent may be merged in turn. */
  private boolean mergeLevel(long key, int level) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      if (!findNeighbours(key, level)) {
        return false;
      }
      if (lockAll()) {
        return mergeLocked(key);
      }
      context.worker().backoff().pause(attempt);
    }
    return false;
  }

  /** Brings the key's node and its neighbours into the cache; {@code false} where none will do. */
  private boolean findNeighbours(long key, int level) {
    descent.find(key, level, true, 0);
    middle = descent.leaf;
    long low = NodeLayout.low(memory, middle);
    long high = NodeLayout.high(memory, middle);
    long address = NodeLayout.address(memory, middle);
    int count = NodeLayout.count(memory, descent.parent);
    int slot = descent.index;
    boolean candidate =
        NodeLayout.level(memory, middle) == level
            && descent.parent != cache.anchor()
            && Frames.isCurrent(memory, middle, descent.version)
            && Frames.isCurrent(memory, descent.parent, descent.parentVersion)
            && !server.isShared(level, low, high);
    if (!candidate) {
      return false;
    }
    left = slot > 0 ? neighbour(low - 1, level, address) : Frames.NONE;
    right = slot + 1 < count ? neighbour(high + 1, level, address) : Frames.NONE;
    descent.find(key, level, true, 0);
    middle = descent.leaf;
    parent = descent.parent;
    parentVersion = descent.parentVersion;
    index = descent.index;
    return left != Frames.NONE || right != Frames.NONE;
  }

  private long neighbour(long key, int level, long address) {
    if (!server.owns(key)) {
      return Frames.NONE;
    }
    descent.find(key, level, true, 0);
    long node = descent.leaf;
    boolean together =
        level > server.options.subtreeLevel()
            || GlobalAddress.server(NodeLayout.address(memory, node))
                == GlobalAddress.server(address);
    return together && !server.isShared(node) ? node : Frames.NONE;
  }

  /** Locks parent, neighbours and node, if all are still where they were. */
  private boolean lockAll() {
    if (!Frames.upgrade(memory, parent, parentVersion)) {
      return false;
    }
    left = pointsTo(index - 1, left) ? left : Frames.NONE;
    right = pointsTo(index + 1, right) ? right : Frames.NONE;
    if (!pointsTo(index, middle) || !Frames.tryLock(memory, middle)) {
      Frames.unlockUnchanged(memory, parent);
      return false;
    }
    if (left != Frames.NONE && !Frames.tryLock(memory, left)) {
      left = Frames.NONE;
    }
    if (right != Frames.NONE && !Frames.tryLock(memory, right)) {
      right = Frames.NONE;
    }
    return true;
  }

  private boolean pointsTo(int slot, long node) {
    return node != Frames.NONE
        && slot >= 0
        && slot < NodeLayout.count(memory, parent)
        && layout.slot(memory, parent, slot) == (node | GlobalAddress.SWIZZLED);
  }

  private boolean mergeLocked(long key) {
    int toLeft = entriesToLeft();
    boolean shared = server.isShared(parent);
    boolean fits = toLeft >= 0 && Frames.pins(memory, middle) == 0;
    boolean current = false;
    try {
      current = fits && (!shared || sharedPath.lockCurrent(parent));
    } finally {
      if (!current) {
        unlockUnchanged();
      }
    }
    if (!current) {
      if (fits && shared) {
        descent.refresh(key);
      }
      return false;
    }
    long freed = NodeLayout.address(memory, middle);
    move(toLeft);
    boolean ascends;
    try {
      if (shared) {
        publish();
      }
    } finally {
      ascends = !shared && NodeLayout.count(memory, parent) < sparse;
      cache.drop(context, middle);
      unlock();
    }
    server.allocator.free(context.worker(), context.message(), freed);
    return ascends;
  }

  /** Returns how many of the node's entries go to its left neighbour, -1 where they fit nowhere. */
  private int entriesToLeft() {
    int entries = NodeLayout.count(memory, middle);
    int lefts = left == Frames.NONE ? mergedMax : NodeLayout.count(memory, left);
    int rights = right == Frames.NONE ? mergedMax : NodeLayout.count(memory, right);
    if (lefts + entries <= mergedMax && left != Frames.NONE) {
      return entries;
    }
    if (entries + rights <= mergedMax && right != Frames.NONE) {
      return 0;
    }
    int total = lefts + entries + rights;
    if (left == Frames.NONE || right == Frames.NONE || total > 2 * mergedMax) {
      return -1;
    }
    return Math.clamp(total / 2 - lefts, 0, entries);
  }

  /** Moves the node's entries to its neighbours and takes it out of the parent. */
  private void move(int toLeft) {
    int entries = NodeLayout.count(memory, middle);
    int toRight = entries - toLeft;
    long boundary =
        toLeft == 0
            ? NodeLayout.low(memory, middle)
            : toRight == 0
                ? NodeLayout.high(memory, middle) + 1
                : NodeLayout.key(memory, middle, toLeft);
    layout.delete(memory, parent, index);
    if (left != Frames.NONE) {
      int lefts = NodeLayout.count(memory, left);
      layout.copyEntries(memory, middle, 0, left, lefts, toLeft);
      NodeLayout.setCount(memory, left, lefts + toLeft);
      NodeLayout.setHigh(
          memory, left, toRight == 0 ? NodeLayout.high(memory, middle) : boundary - 1);
      reparent(left, lefts, toLeft);
      Frames.setDirty(memory, left, true);
    }
    if (right != Frames.NONE && (toRight > 0 || left == Frames.NONE)) {
      int rights = NodeLayout.count(memory, right);
      layout.copyEntries(memory, right, 0, right, toRight, rights);
      layout.copyEntries(memory, middle, toLeft, right, 0, toRight);
      NodeLayout.setCount(memory, right, rights + toRight);
      NodeLayout.setLow(memory, right, boundary);
      NodeLayout.setKey(memory, parent, index, boundary);
      reparent(right, 0, toRight);
      Frames.setDirty(memory, right, true);
    }
    Frames.setDirty(memory, parent, !server.isShared(parent));
  }

  private void reparent(long node, int from, int entries) {
    if (NodeLayout.level(memory, node) == 0) {
      return;
    }
    for (int i = from; i < from + entries; i++) {
      long pointer = layout.slot(memory, node, i);
      if (GlobalAddress.isSwizzled(pointer)) {
        Frames.setParent(memory, pointer & ~GlobalAddress.SWIZZLED, node);
      }
    }
  }

  private void publish() {
    if (left != Frames.NONE) {
      sharedPath.writeThrough(left);
    }
    if (right != Frames.NONE) {
      sharedPath.writeThrough(right);
    }
    sharedPath.publish(parent);
  }

  private void unlock() {
    if (left != Frames.NONE) {
      Frames.unlock(memory, left);
    }
    if (right != Frames.NONE) {
      Frames.unlock(memory, right);
    }
    Frames.unlock(memory, parent);
  }

  private void unlockUnchanged() {
    if (left != Frames.NONE) {
      Frames.unlockUnchanged(memory, left);
    }
    if (right != Frames.NONE) {
      Frames.unlockUnchanged(memory, right);
    }
    Frames.unlockUnchanged(memory, middle);
    Frames.unlockUnchanged(memory, parent);
  }

  /** Takes a level off the tree where the root has only one child left. */
  private void shrink(long key) {
    descent.find(key, NodeLayout.LEVELS_MAX, true, 0);
    if (NodeLayout.count(memory, descent.leaf) == 1 && NodeLayout.level(memory, descent.leaf) > 1) {
      sharedPath.collapseRoot();
      descent.refresh(key);
    }
  }
}
