package pando.index.dex;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.index.dex.cache.CacheContext;
import pando.index.dex.cache.Frames;
import pando.index.dex.cache.NodeCache;
import pando.index.dex.cache.Swizzles;
import pando.index.dex.node.NodeLayout;

/**
 * Merges a node into its neighbours if they have become empty enough, and frees it.
 *
 * <p>Belongs to one worker.
 */
final class DexMerges {
  /*
   * When a removal leaves a node below the merge share, its neighbours below the same parent are
   * checked: two nodes become one, or three become two, if each is then filled to at most the
   * merged share. So a shrinking tree keeps about its fill. Two-way merges alone would leave
   * half-empty nodes between full ones.
   *
   * Only private nodes are merged. Inner nodes at or below level M must be on one memory server, or
   * a subtree would be spread over two; only a last child may move, as empty subtrees would
   * otherwise never be freed. What does not fit is left to a later removal: no merge is obligatory.
   * The parent may be shared; then its remote lock is taken and its copy is compared with the
   * pool's, as for a split.
   */

  /**
   * Number of fill levels, evenly spaced over a node's capacity, at which a shrinking leaf checks
   * its neighbours.
   */
  private static final int CHECKS_PER_NODE = 16;

  private static final int ATTEMPTS_MAX = 4;
  private static final int ANYWHERE = -1;

  /** Number of a scratch node that {@link SharedNodes} does not use. */
  private static final int LEFT = 1;

  private static final int MIDDLE = 2;
  private static final int RIGHT = 3;

  private final DexServer server;
  private final NodeCache cache;
  private final Swizzles swizzles;
  private final CacheContext context;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final DexDescent descent;
  private final SharedNodes sharedNodes;
  private final SharedSplits sharedSplits;
  private final int sparse;
  private final int mergedMax;
  private final int checkEvery;

  private long parent;
  private long parentVersion;
  private int index;
  private long left;
  private long middle;
  private long right;
  private boolean merged;

  DexMerges(
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
    this.sparse = (int) (layout.capacity() * server.options.mergeShare());
    this.mergedMax = (int) (layout.capacity() * server.options.mergedShare());
    this.checkEvery = Math.max(1, layout.capacity() / CHECKS_PER_NODE);
  }

  /** Returns whether a merge should be tried for a leaf with so many entries left. */
  boolean isDue(int entries) {
    return entries < sparse && entries % checkEvery == 0;
  }

  /**
   * Merges the key's leaf if possible, and then its ancestors, up to the first that cannot be
   * merged.
   */
  void merge(long key) {
    int level = 0;
    while (mergeLevel(key, level)) {
      level++;
    }
    if (level > 0) {
      shrink(key);
    }
  }

  /** Merges the key's node at a level; returns {@code true} if its parent may be merged in turn. */
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

  /**
   * Fetches the key's node and its neighbours into the cache; returns {@code false} if no neighbour
   * is suitable.
   */
  private boolean findNeighbours(long key, int level) {
    descent.find(key, level, true, 0);
    middle = descent.node;
    long low = layout.low(memory, middle);
    long high = layout.high(memory, middle);
    long address = NodeLayout.address(memory, middle);
    int count = NodeLayout.count(memory, descent.parent);
    int at = descent.index;
    long below = layout.before(memory, low, context.key(KeyPlaces.BELOW));
    long above = layout.after(memory, high, context.key(KeyPlaces.ABOVE));
    boolean shared = server.isShared(level, low, high);
    boolean candidate =
        NodeLayout.level(memory, middle) == level
            && descent.parent != cache.anchor()
            && Frames.isCurrent(memory, middle, descent.version)
            && Frames.isCurrent(memory, descent.parent, descent.parentVersion)
            && !shared;
    if (!candidate) {
      return false;
    }
    boolean anywhere =
        level == 0
            || level > server.options.subtreeLevel()
            || NodeLayout.count(memory, middle) == 1;
    int home = anywhere ? ANYWHERE : GlobalAddress.server(address);
    left = at > 0 ? neighbour(below, level, home) : Frames.NONE;
    right = at + 1 < count ? neighbour(above, level, home) : Frames.NONE;
    descent.find(key, level, true, 0);
    middle = descent.node;
    parent = descent.parent;
    parentVersion = descent.parentVersion;
    index = descent.index;
    return left != Frames.NONE || right != Frames.NONE;
  }

  private long neighbour(long key, int level, int home) {
    if (!server.owns(layout.first(memory, key))) {
      return Frames.NONE;
    }
    descent.find(key, level, true, 0);
    long node = descent.node;
    boolean near =
        home == ANYWHERE || home == GlobalAddress.server(NodeLayout.address(memory, node));
    return near && !server.isShared(node) ? node : Frames.NONE;
  }

  /**
   * Locks parent, neighbours and node; returns {@code false} if one of them has changed since it
   * was found.
   */
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

  private boolean pointsTo(int at, long node) {
    return node != Frames.NONE
        && at >= 0
        && at < NodeLayout.count(memory, parent)
        && layout.slot(memory, parent, at) == GlobalAddress.swizzled(node);
  }

  /**
   * Merges the locked nodes if their entries fit, and unlocks them; returns {@code true} if the
   * parent may be merged in turn.
   */
  private boolean mergeLocked(long key) {
    boolean fits = false;
    boolean ascends = false;
    merged = false;
    long freed = NodeLayout.address(memory, middle);
    try {
      int toLeft = chooseNeighbours();
      boolean shared = server.isShared(parent);
      fits = toLeft >= 0 && Frames.pins(memory, middle) == 0;
      if (fits && (!shared || sharedNodes.lockCurrent(parent))) {
        writeNeighbours(toLeft);
        unlink(toLeft);
        setClean(left);
        setClean(right);
        sharedNodes.publish(parent, shared);
        ascends = !shared && NodeLayout.count(memory, parent) < sparse;
      }
    } catch (Throwable e) {
      sharedNodes.abandon(e);
      throw e;
    } finally {
      unlock();
    }
    if (merged) {
      server.free(context, freed);
    } else if (fits) {
      descent.refresh(key);
    }
    return ascends;
  }

  /**
   * Chooses the neighbours that take the node's entries, and unlocks the other.
   *
   * @return number of entries that go to the left neighbour, -1 if the entries do not fit
   */
  private int chooseNeighbours() {
    int entries = NodeLayout.count(memory, middle);
    int max = entries == 0 ? layout.capacity() : mergedMax;
    boolean fitsLeft = left != Frames.NONE && NodeLayout.count(memory, left) + entries <= max;
    boolean fitsRight = right != Frames.NONE && NodeLayout.count(memory, right) + entries <= max;
    if (fitsLeft) {
      right = letGo(right);
      return entries;
    }
    if (fitsRight) {
      left = letGo(left);
      return 0;
    }
    if (left == Frames.NONE || right == Frames.NONE) {
      return -1;
    }
    int lefts = NodeLayout.count(memory, left);
    int total = lefts + entries + NodeLayout.count(memory, right);
    return total <= 2 * mergedMax ? Math.clamp(total / 2 - lefts, 0, entries) : -1;
  }

  private long letGo(long node) {
    if (node != Frames.NONE) {
      Frames.unlockUnchanged(memory, node);
    }
    return Frames.NONE;
  }

  /**
   * Writes the merged images of the neighbours to the pool, before the parent loses its pointer to
   * the node.
   */
  private void writeNeighbours(int toLeft) {
    // Until then, the cached neighbours must be written back as they are now.
    markDirty(left);
    markDirty(right);
    long newLeft = copy(left, LEFT);
    long newMiddle = copy(middle, MIDDLE);
    long newRight = copy(right, RIGHT);
    move(newLeft, newMiddle, newRight, toLeft);
    write(newLeft);
    write(newRight);
  }

  private long copy(long node, int scratch) {
    if (node == Frames.NONE) {
      return Frames.NONE;
    }
    long copy = context.scratchNode(scratch);
    swizzles.copyUnswizzled(node, copy);
    return copy;
  }

  private void write(long copy) {
    if (copy != Frames.NONE) {
      layout.seal(memory, copy);
      layout.writeImage(context.worker(), copy);
    }
  }

  /** Removes the node from the cached tree. */
  private void unlink(int toLeft) {
    merged = true;
    long boundary = move(left, middle, right, toLeft);
    layout.delete(memory, parent, index);
    if (right != Frames.NONE) {
      layout.setKey(memory, parent, index, boundary);
    }
    cache.drop(context, middle);
  }

  private void markDirty(long node) {
    if (node != Frames.NONE) {
      cache.dirty().add(node);
    }
  }

  private void setClean(long node) {
    if (node != Frames.NONE) {
      Frames.setClean(memory, node);
    }
  }

  /**
   * Divides the middle node's entries among its neighbours.
   *
   * @return the new low fence of the right one
   */
  private long move(long lower, long emptied, long upper, int toLeft) {
    int toRight = NodeLayout.count(memory, emptied) - toLeft;
    long boundary = boundary(emptied, upper, toLeft, toRight);
    if (lower != Frames.NONE) {
      int lefts = NodeLayout.count(memory, lower);
      layout.copyEntries(memory, emptied, 0, lower, lefts, toLeft);
      NodeLayout.setCount(memory, lower, lefts + toLeft);
      layout.setHighBefore(memory, lower, boundary);
      swizzles.reparent(lower, lefts, toLeft);
    }
    if (upper != Frames.NONE) {
      int rights = NodeLayout.count(memory, upper);
      layout.copyEntries(memory, upper, 0, upper, toRight, rights);
      layout.copyEntries(memory, emptied, toLeft, upper, 0, toRight);
      NodeLayout.setCount(memory, upper, rights + toRight);
      layout.setLow(memory, upper, boundary);
      swizzles.reparent(upper, 0, toRight);
    }
    return boundary;
  }

  private long boundary(long emptied, long upper, int toLeft, int toRight) {
    long place = context.key(KeyPlaces.BOUNDARY);
    if (upper == Frames.NONE || (toRight == 0 && toLeft > 0)) {
      return layout.after(memory, layout.high(memory, emptied), place);
    }
    return toLeft == 0
        ? layout.low(memory, emptied)
        : layout.separator(memory, emptied, toLeft, place);
  }

  private void unlock() {
    unlock(left);
    unlock(right);
    if (!merged) {
      Frames.unlockUnchanged(memory, middle);
    }
    unlock(parent);
  }

  private void unlock(long node) {
    if (node == Frames.NONE) {
      return;
    }
    if (merged) {
      Frames.unlock(memory, node);
    } else {
      Frames.unlockUnchanged(memory, node);
    }
  }

  /** Removes the root if it has only one child left. */
  private void shrink(long key) {
    descent.find(key, NodeLayout.LEVELS_MAX, true, 0);
    if (NodeLayout.count(memory, descent.node) == 1 && NodeLayout.level(memory, descent.node) > 1) {
      sharedSplits.collapseRoot();
      descent.refresh(key);
    }
  }
}
