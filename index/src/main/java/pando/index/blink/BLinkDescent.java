package pando.index.blink;

import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.index.host.DescentCounters;
import pando.index.lock.SessionLocks;
import pando.index.pool.Catalogue;

/**
 * The way from the root to a node, by cached copies as far as they reach (Sherman section 4.2.3): a
 * copy of level 1 leads to the leaf at once; else copies of the root and of the level below it lead
 * as far as they know, and what lies between is READ. A system says how a node is read, and what a
 * pointer to it tells.
 *
 * <p>What a descent finds may be old. A caller that is led astray says so by {@link #astray}, and
 * asks again.
 */
public abstract class BLinkDescent {
  /** Restarts before it counts as a stall; each waits a little longer. */
  public static final int RESTARTS_MAX = 2_000;

  /** Siblings in a row before the way counts as wrong. */
  public static final int HOPS_MAX = 10_000;

  /** Where the root or a sibling led there, and no pointer. */
  protected static final long NONE = 0;

  /** How the descents of the worker have gone. */
  public final DescentCounters counters = new DescentCounters();

  /** Address of the node that was found. */
  public long node;

  /** The pointer that led to the node, or {@link #NONE}. */
  protected long pointer;

  protected int level;

  /** The least key that the node is known to cover; of an inner sibling nothing is known. */
  protected long low;

  /** The greatest key that it is known to cover. */
  protected long high;

  /** Children of the node that was read last, or of its part. */
  protected final Children children;

  /** Where nodes on the way start in local memory. */
  protected final long buffer;

  private final BLinkServer server;
  private final BLinkNodes nodes;
  private final SessionLocks locks;
  private final Catalogue catalogue;
  private final Worker worker;
  private final Backoff backoff;
  private final boolean caching;
  private final IndexCache.Hit hit = new IndexCache.Hit();
  private int rootLevel;

  /** The cache whose copy led here last, if one did. */
  private @Nullable IndexCache guide;

  /**
   * Creates the way down for one worker.
   *
   * @param childrenMax that an inner node has
   * @param caching whether copies are used and made
   */
  protected BLinkDescent(BLinkContext context, int childrenMax, boolean caching) {
    this.server = context.tree();
    this.nodes = context.nodes();
    this.locks = context.locks();
    this.catalogue = context.catalogue;
    this.worker = context.worker;
    this.backoff = worker.backoff();
    this.buffer = context.inner;
    this.children = new Children(childrenMax);
    this.caching = caching;
  }

  /** Returns the address of the node that a pointer leads to. */
  protected abstract long addressOf(long to);

  /**
   * Reads the node to the buffer.
   *
   * @return {@link BLinkNodes#COVERS}, {@code RIGHT}, {@code STALE} or, where the node was not read
   *     and the descent is to end at it, another number
   */
  protected abstract int read(long key);

  /** Copies the children of the node that was read to {@link #children}. */
  protected abstract void copyChildren();

  /** Locks the node that was found, and reads it; it is locked whatever is returned. */
  protected abstract int lockAndRead(int wanted, long key, long target);

  /** Locks the node that was found, unless another session has its lock. */
  protected abstract boolean tryLock();

  /** Finds the leaf of a key. */
  public final void findLeaf(long key) {
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
  public final boolean find(long key, int wanted) {
    for (int attempt = 0; attempt < RESTARTS_MAX; attempt++) {
      start(key, wanted);
      if (level < wanted) {
        return false;
      }
      if (descend(key, wanted) != BLinkNodes.STALE) {
        return true;
      }
      astray(attempt);
    }
    throw stalled("no way from the root to a key", key);
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
    }
  }

  private void follow(IndexCache cache, int toLevel) {
    guide = cache;
    level = toLevel;
    goTo(hit.child, hit.low, hit.high);
  }

  private void goTo(long to, long toLow, long toHigh) {
    pointer = to;
    node = addressOf(to);
    low = toLow;
    high = toHigh;
  }

  /** Goes to a node to which no pointer leads. */
  private void goTo(long address) {
    pointer = NONE;
    node = address;
    low = Long.MIN_VALUE;
    high = Long.MAX_VALUE;
  }

  /** Reads its way down, until it goes astray or has to end. */
  private int descend(long key, int wanted) {
    while (level > wanted) {
      int outcome = readChildren(key);
      if (outcome != BLinkNodes.COVERS) {
        return outcome;
      }
      if (caching) {
        admit();
      }
      guide = null;
      level--;
      int child = children.childOf(key);
      goTo(children.pointers[child], children.keys[child], children.highOf(child));
    }
    return BLinkNodes.COVERS;
  }

  /** Reads the children of the node, or of the sibling that covers the key by now. */
  protected int readChildren(long key) {
    for (int hops = 0; hops < HOPS_MAX; hops++) {
      counters.innerReads++;
      int outcome = read(key);
      if (outcome == BLinkNodes.COVERS) {
        copyChildren();
      }
      if (outcome != BLinkNodes.RIGHT) {
        return outcome;
      }
      right(nodes.sibling(buffer));
    }
    return BLinkNodes.STALE;
  }

  /** Tells whether a copy led to the node. */
  protected final boolean isGuided() {
    return guide != null;
  }

  /**
   * Locks and reads the node that was found, or the sibling that covers the key by now.
   *
   * @param target where the node is to start in local memory
   * @return whether its lock is held; else the way was wrong, and nothing is held
   */
  public final boolean lockCovering(int wanted, long key, long target, int attempt) {
    for (int hops = 0; hops < HOPS_MAX; hops++) {
      int outcome = lockAndRead(wanted, key, target);
      if (outcome == BLinkNodes.COVERS) {
        return true;
      }
      locks.unlock(node);
      if (outcome == BLinkNodes.STALE) {
        break;
      }
      right(nodes.sibling(target));
    }
    astray(attempt);
    return false;
  }

  /** Goes on to a node's sibling: the node was split since what led here was copied. */
  public final void right(long sibling) {
    forgetGuide();
    if (level == rootLevel) {
      server.setRoot(0, backoff);
    }
    if (level == 0) {
      // The fences of the node before stay: leaves never lie in two partitions.
      pointer = NONE;
      node = sibling;
    } else {
      goTo(sibling);
    }
  }

  private void admit() {
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
  public final void astray(int attempt) {
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

  /** Returns the failure where what was found never was the leaf of a key. */
  public final StalledException noLeaf(long key) {
    return stalled("no leaf that stays", key);
  }

  private StalledException stalled(String what, long key) {
    return new StalledException(
        what
            + ": key="
            + key
            + ", level="
            + level
            + ", last="
            + GlobalAddress.toString(node)
            + ", restarts="
            + RESTARTS_MAX);
  }
}
