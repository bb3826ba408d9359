package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.index.cache.Children;
import pando.index.cache.IndexCache;
import pando.index.host.DescentCounters;
import pando.index.lock.NodeLocks;
import pando.index.pool.Catalogue;

/**
 * Finds the way from the root to a node, by cached copies as far as they reach (Sherman section
 * 4.2.3): a copy of a node of level 1 leads to the leaf at once; else the root and the level below
 * it are known, and what lies between is READ.
 *
 * <p>What it finds may be old. Whoever is led astray says so by {@link #astray}, and asks again.
 */
final class Descent {
  /** Restarts before it counts as a stall; each waits a little longer. */
  static final int RESTARTS_MAX = 2_000;

  private static final int HOPS_MAX = 10_000;

  private final ShermanServer server;
  private final Nodes nodes;
  private final NodeLocks locks;
  private final Catalogue catalogue;
  private final Worker worker;
  private final MemorySegment memory;
  private final Backoff backoff;
  private final long buffer;
  private final IndexCache.Hit hit = new IndexCache.Hit();
  private final Children children;

  /** Whether to wait for the lock of a node that changes all the time. */
  private boolean mayWait = true;

  /** The cache whose copy led here last, if one did. */
  private @Nullable IndexCache guide;

  /** The node that {@link #find} found. */
  long node;

  /** Whether no other compute server writes it. */
  boolean owned;

  private int level;
  private int rootLevel;
  private long low;
  private long high;

  final DescentCounters counters = new DescentCounters();

  Descent(ShermanContext context) {
    this.server = context.server;
    this.nodes = context.nodes;
    this.locks = context.locks;
    this.catalogue = context.catalogue;
    this.worker = context.worker;
    this.memory = context.memory;
    this.backoff = worker.backoff();
    this.buffer = context.inner;
    this.children = new Children(context.layout.capacity());
  }

  /** Finds the leaf of a key. */
  void findLeaf(long key) {
    if (server.lower.find(key, hit, backoff)) {
      counters.leafHits++;
      follow(server.lower, 0);
      return;
    }
    counters.leafMisses++;
    find(key, 0);
  }

  /**
   * Finds the leaf of a key without waiting for a lock: for a session that holds others.
   *
   * @return {@code false} where another node is in the way, whose lock somebody has
   */
  boolean findLeafAtOnce(long key) {
    mayWait = false;
    try {
      findLeaf(key);
    } finally {
      mayWait = true;
    }
    return level == 0;
  }

  /**
   * Finds the node of a level that covers a key.
   *
   * @return whether the tree is so high
   */
  boolean find(long key, int wanted) {
    for (int attempt = 0; attempt < RESTARTS_MAX; attempt++) {
      start(key, wanted);
      if (level < wanted) {
        return false;
      }
      int outcome = descend(key, wanted);
      if (outcome != Nodes.STALE) {
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
    if (wanted <= rootLevel - 2 && server.upper.find(key, hit, backoff)) {
      follow(server.upper, rootLevel - 2);
    } else if (wanted <= rootLevel - 1 && server.top.find(key, hit, backoff)) {
      follow(server.top, rootLevel - 1);
    } else {
      guide = null;
      step(Catalogue.rootAddress(root), rootLevel, Long.MIN_VALUE, Long.MAX_VALUE);
    }
  }

  private void follow(IndexCache cache, int level) {
    guide = cache;
    step(hit.child, level, hit.low, hit.high);
  }

  private void step(long to, int toLevel, long toLow, long toHigh) {
    node = to;
    level = toLevel;
    low = toLow;
    high = toHigh;
    owned = server.owns(low, high);
  }

  /** Reads its way down, until it goes astray or may not wait. */
  private int descend(long key, int wanted) {
    while (level > wanted) {
      int outcome = readRight(key);
      if (outcome != Nodes.COVERS) {
        return outcome;
      }
      admit();
      guide = null;
      int index = server.layout.childOf(memory, buffer, key);
      step(
          BLinkLayout.slot(memory, buffer, index),
          level - 1,
          BLinkLayout.key(memory, buffer, index),
          BLinkLayout.highOfChild(memory, buffer, index));
    }
    return Nodes.COVERS;
  }

  /** Reads the node, or the sibling that covers the key by now. */
  private int readRight(long key) {
    for (int hops = 0; hops < HOPS_MAX; hops++) {
      counters.innerReads++;
      int outcome = nodes.read(locks, mayWait, node, level, key, owned, buffer);
      if (outcome != Nodes.RIGHT) {
        return outcome;
      }
      right(buffer);
    }
    return Nodes.STALE;
  }

  /**
   * Locks and reads the node that was found, or the sibling that covers the key by now.
   *
   * @param target where the node is to start in local memory
   * @return whether its lock is held; else the way was wrong, and nothing is held
   */
  boolean lockCovering(int wanted, long key, long target, int attempt) {
    for (int hops = 0; hops < HOPS_MAX; hops++) {
      int outcome = nodes.lockAndRead(locks, node, wanted, key, owned, target);
      if (outcome == Nodes.COVERS) {
        return true;
      }
      locks.unlock(node);
      if (outcome == Nodes.STALE) {
        break;
      }
      right(target);
    }
    astray(attempt);
    return false;
  }

  /**
   * Reads the leaf that was found, or the sibling that covers the key by now.
   *
   * @param target where the leaf is to start in local memory
   * @return whether it was found; else the way was wrong
   */
  boolean readCovering(long key, long target, int attempt) {
    for (int hops = 0; hops < HOPS_MAX; hops++) {
      int outcome = nodes.read(locks, mayWait, node, 0, key, owned, target);
      if (outcome == Nodes.COVERS) {
        return true;
      }
      if (outcome == Nodes.STALE) {
        break;
      }
      right(target);
    }
    astray(attempt);
    return false;
  }

  /** Goes on to a node's sibling: the node was split since whoever led here was copied. */
  void right(long from) {
    forgetGuide();
    if (level == rootLevel) {
      server.setRoot(0, backoff);
    }
    node = BLinkLayout.sibling(memory, from);
    // Leaves never lie in two partitions; of an inner node only its parent or itself could tell.
    owned = level == 0 && owned;
  }

  private void admit() {
    server.layout.copyChildren(memory, buffer, children);
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
