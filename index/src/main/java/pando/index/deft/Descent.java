package pando.index.deft;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.cache.Children;
import pando.index.cache.IndexCache;
import pando.index.host.DescentCounters;
import pando.index.pool.Catalogue;

/**
 * Finds the way from the root to a node. Copies of segments of level 1 lead to the leaf at once;
 * else copies of the root and of the level below it lead as far as they know, and of each node on
 * the rest of the way the one part is READ that knows the key. The root's shape and version stand
 * in no pointer: it is READ as a whole.
 *
 * <p>What it finds may be old. Whoever is led astray says so by {@link #astray}, and asks again.
 */
final class Descent {
  /** Restarts before it counts as a stall; each waits a little longer. */
  static final int RESTARTS_MAX = 2_000;

  private static final int HOPS_MAX = 10_000;

  private final DeftServer server;
  private final Nodes nodes;
  private final NodeLocks locks;
  private final Catalogue catalogue;
  private final Worker worker;
  private final MemorySegment memory;
  private final Backoff backoff;
  private final long buffer;
  private final boolean caching;
  private final IndexCache.Hit hit = new IndexCache.Hit();
  private final Children children;
  private final VerbList reads = new VerbList();

  /** The cache whose copy led here last, if one did. */
  private @Nullable IndexCache guide;

  /** The node that {@link #find} found. */
  long node;

  /** The pointer to it; {@link ChildPointer#NONE} where the root or a sibling led there. */
  private long pointer;

  private int level;
  private int rootLevel;
  private long low;
  private long high;

  final DescentCounters counters = new DescentCounters();

  Descent(DeftContext context) {
    this.server = context.server;
    this.nodes = context.nodes;
    this.locks = context.locks;
    this.catalogue = context.catalogue;
    this.worker = context.worker;
    this.memory = context.memory;
    this.backoff = worker.backoff();
    this.buffer = context.inner;
    this.caching = server.options.caching();
    this.children = new Children(server.inners.capacity());
  }

  /** Finds the leaf of a key. */
  void findLeaf(long key) {
    if (caching && server.lower.find(key, hit, backoff)) {
      counters.leafHits++;
      follow(server.lower, 0);
      return;
    }
    counters.leafMisses++;
    find(key, 0);
  }

  /**
   * Finds the node of a level that covers a key.
   *
   * @return whether the tree has that level
   */
  boolean find(long key, int wanted) {
    for (int attempt = 0; attempt < RESTARTS_MAX; attempt++) {
      start(key, wanted);
      if (level < wanted) {
        return false;
      }
      if (descend(key, wanted)) {
        return true;
      }
      astray(attempt);
    }
    throw new StalledException(
        "no way from the root to a key: key="
            + key
            + ", level="
            + wanted
            + ", last="
            + GlobalAddress.toString(node)
            + ", restarts="
            + RESTARTS_MAX);
  }

  /** Begins at the root, or below it where copies tell the way. */
  private void start(long key, int wanted) {
    long root = server.root();
    if (root == 0) {
      root = catalogue.root();
      server.setRoot(root, backoff);
    }
    rootLevel = Catalogue.rootLevel(root);
    if (caching && wanted <= rootLevel - 2 && server.upper.find(key, hit, backoff)) {
      follow(server.upper, rootLevel - 2);
    } else if (caching && wanted <= rootLevel - 1 && server.top.find(key, hit, backoff)) {
      follow(server.top, rootLevel - 1);
    } else {
      guide = null;
      level = rootLevel;
      goTo(Catalogue.rootAddress(root));
      low = Long.MIN_VALUE;
      high = Long.MAX_VALUE;
    }
  }

  private void follow(IndexCache cache, int toLevel) {
    guide = cache;
    level = toLevel;
    pointer = hit.child;
    node = ChildPointer.address(pointer);
    low = hit.low;
    high = hit.high;
  }

  /** Goes to a node of the same level whose shape and version are not known. */
  private void goTo(long address) {
    node = address;
    pointer = ChildPointer.NONE;
  }

  /** Reads its way down; {@code false} where it went astray. */
  private boolean descend(long key, int wanted) {
    while (level > wanted) {
      if (!readChildren(key)) {
        return false;
      }
      admit();
      guide = null;
      int child = children.childOf(key);
      pointer = children.pointers[child];
      node = ChildPointer.address(pointer);
      low = children.keys[child];
      high = child + 1 < children.count ? children.keys[child + 1] - 1 : children.high;
      level--;
    }
    return true;
  }

  /** Reads the part of the node that knows a key, or the whole of it or of a sibling. */
  private boolean readChildren(long key) {
    if (pointer != ChildPointer.NONE) {
      int shape = ChildPointer.shape(pointer);
      int part = Shape.partOf(shape, low, key);
      counters.innerReads++;
      if (nodes.readPart(pointer, part, buffer)) {
        server.inners.copyChildren(memory, buffer, shape, part, low, high, children);
        return areSound(key);
      }
      if (guide != null) {
        return false;
      }
    }
    int outcome = Nodes.RIGHT;
    for (int hops = 0; outcome == Nodes.RIGHT && hops < HOPS_MAX; hops++) {
      counters.innerReads++;
      outcome = nodes.readInner(node, level, key, buffer);
      if (outcome == Nodes.TORN) {
        // Whoever holds a lock must not wait for another, but may come again.
        outcome = locks.areHeld() ? readUnlessLocked(key) : readLocked(key);
      }
      if (outcome == Nodes.RIGHT) {
        right(NodeHeader.sibling(memory, buffer));
      }
    }
    if (outcome != Nodes.COVERS) {
      return false;
    }
    low = NodeHeader.low(memory, buffer);
    high = NodeHeader.high(memory, buffer);
    server.inners.copyChildren(memory, buffer, Shape.WHOLE, 0, low, high, children);
    return true;
  }

  /** Tells whether the children of a part can be followed; the whole node would tell more. */
  private boolean areSound(long key) {
    if (children.count == 0 || children.keys[0] > key) {
      return false;
    }
    for (int i = 0; i < children.count; i++) {
      if (!nodes.isChild(children.pointers[i])) {
        return false;
      }
    }
    return true;
  }

  /** Reads a node under its lock, which may be held already for another node, without waiting. */
  private int readUnlessLocked(long key) {
    if (!locks.tryExclusive(node)) {
      return Nodes.STALE;
    }
    int outcome = nodes.readHeld(node, level, key, buffer);
    locks.unlock(node);
    return outcome;
  }

  private int readLocked(long key) {
    reads.clear().read(node, buffer, server.inners.nodeBytes());
    if (!locks.lockExclusive(node, reads)) {
      worker.post(reads);
    }
    int outcome = nodes.checkHeld(node, level, key, buffer);
    locks.unlock(node);
    return outcome;
  }

  /**
   * Locks and reads the inner node that was found, or the sibling that covers the key by now.
   *
   * @param target where the node is to start in local memory
   * @return whether its lock is held; else the way was wrong, and nothing is held
   */
  boolean lockCovering(int wanted, long key, long target, int attempt) {
    for (int hops = 0; hops < HOPS_MAX; hops++) {
      reads.clear().read(node, target, server.inners.nodeBytes());
      if (!locks.lockExclusive(node, reads)) {
        worker.post(reads);
      }
      int outcome = nodes.checkHeld(node, wanted, key, target);
      if (outcome == Nodes.COVERS) {
        return true;
      }
      locks.unlock(node);
      if (outcome == Nodes.STALE) {
        break;
      }
      right(NodeHeader.sibling(memory, target));
    }
    astray(attempt);
    return false;
  }

  /** Goes on to a node's sibling: the node was split since whoever led here was copied. */
  void right(long sibling) {
    forgetGuide();
    if (level == rootLevel) {
      server.setRoot(0, backoff);
    }
    goTo(sibling);
  }

  private void admit() {
    if (!caching) {
      return;
    }
    if (level == 1) {
      server.lower.admit(children, worker.random(), backoff);
    }
    if (level == rootLevel - 1) {
      server.upper.admit(children, worker.random(), backoff);
    } else if (level == rootLevel) {
      server.top.admit(children, worker.random(), backoff);
    }
  }

  /** Takes note that what was found is not what was looked for, and waits a little. */
  void astray(int attempt) {
    counters.restarts++;
    if (guide != server.lower) {
      server.setRoot(0, backoff);
    }
    forgetGuide();
    if (attempt > 0) {
      backoff.pauseBriefly(attempt);
    }
  }

  private void forgetGuide() {
    IndexCache cache = guide;
    if (cache != null) {
      cache.drop(hit, backoff);
      guide = null;
    }
  }
}
