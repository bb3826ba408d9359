package pando.baselines.blink;

import org.jspecify.annotations.Nullable;
import pando.baselines.lock.SessionLocks;
import pando.fabric.Backoff;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.index.host.DescentCounters;
import pando.index.pool.Catalogue;

/**
 * The descent from the root to a node, by cached copies as far as there are any (Sherman section
 * 4.2.3). A copy of a level-1 node leads to the leaf at once. Else copies of the root and of the
 * level below it shorten the way, and the nodes between are READ. A system implements how a node is
 * read, and what a pointer to it contains.
 *
 * <p>A descent may find a node that is not the right one any more, as copies may be old. A caller
 * that detects this calls {@link #astray} and restarts.
 */
public abstract class BLinkDescent {
  /** Maximum number of restarts; then an operation fails as stalled. Each pauses longer. */
  public static final int RESTARTS_MAX = 2_000;

  /** Maximum number of siblings followed in a row; then the descent restarts. */
  public static final int HOPS_MAX = 10_000;

  /** Value of {@link #pointer} if the node was reached as the root or as a sibling. */
  protected static final long NONE = 0;

  /** Counters of the worker's descents. */
  protected final DescentCounters counters;

  /** Address of the node that was found. */
  public long node;

  /** The pointer that led to the node, or {@link #NONE}. */
  protected long pointer;

  protected int level;

  /**
   * The least key that the node is known to cover; {@code Long.MIN_VALUE} if it was reached as the
   * root or as an inner sibling.
   */
  protected long low;

  /**
   * The greatest key that the node is known to cover; {@code Long.MAX_VALUE} if it was reached as
   * the root or as an inner sibling.
   */
  protected long high;

  /** Children of the node, or of the part of a node, that was read last. */
  protected final Children children;

  /** Local offset of the buffer for inner nodes. */
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

  /** The cache whose copy led to the node, {@code null} if none did. */
  private @Nullable IndexCache guide;

  /**
   * Creates the descent of one worker.
   *
   * @param childrenMax maximum number of children of an inner node
   * @param caching whether cached copies are used and made
   */
  protected BLinkDescent(BLinkContext context, int childrenMax, boolean caching) {
    this.counters = context.counters;
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
   * Reads the node into the buffer.
   *
   * @return {@link BLinkNodes#COVERS}, {@code RIGHT}, {@code STALE}, or another number if the node
   *     was not read and the descent must end at it
   */
  protected abstract int read(long key);

  /**
   * Locks the node that was found and reads it. The node is locked afterwards, whatever the
   * outcome.
   */
  protected abstract int lockAndRead(int wanted, long key, long target);

  /** Locks the node that was found, if its lock is free; returns whether it did. Does not wait. */
  protected abstract boolean tryLock();

  /** Finds the leaf that covers a key. */
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
   * Finds the node of level {@code wanted} that covers a key.
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
    throw stalled("no descent from the root reached a key", key);
  }

  /** Returns the root pointer, which may be old. */
  final long root() {
    long root = server.root();
    if (root == 0) {
      root = catalogue.root();
      server.setRoot(root, backoff);
    }
    return root;
  }

  /** Begins at the root, or at the node below it that a cached copy leads to. */
  private void start(long key, int wanted) {
    long root = root();
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

  /** Goes to a node that was reached without a pointer: the root or an inner sibling. */
  private void goTo(long address) {
    pointer = NONE;
    node = address;
    low = Long.MIN_VALUE;
    high = Long.MAX_VALUE;
  }

  /** Descends to level {@code wanted}, or until an outcome other than COVERS. */
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

  /** Reads the children of the node or, if it was split, of the sibling that covers the key. */
  protected int readChildren(long key) {
    for (int hops = 0; hops < HOPS_MAX; hops++) {
      counters.innerReads++;
      int outcome = read(key);
      if (outcome == BLinkNodes.COVERS) {
        nodes.copyChildren(buffer, children);
      }
      if (outcome != BLinkNodes.RIGHT) {
        return outcome;
      }
      right(nodes.sibling(buffer));
    }
    return BLinkNodes.STALE;
  }

  /** Returns whether a cached copy led to the node. */
  protected final boolean isGuided() {
    return guide != null;
  }

  /**
   * Locks and reads the node that was found or, if it was split, the sibling that covers the key.
   *
   * @param target local offset of the buffer for the node
   * @return whether the node was locked; if not, the descent found a wrong node and the caller must
   *     restart
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

  /** Goes on to a node's sibling: the node was split after the pointer to it was copied. */
  public final void right(long sibling) {
    forgetGuide();
    if (level == rootLevel) {
      server.setRoot(0, backoff);
    }
    if (level == 0) {
      // Keeps low and high, which only show a leaf's partition: a leaf and its sibling share it.
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

  /**
   * Records that the node that was found is a wrong one, drops the copy that led to it, and pauses
   * unless {@code attempt} is 0.
   */
  public final void astray(int attempt) {
    counters.restarts++;
    if (guide != server.lower) {
      server.setRoot(0, backoff);
    }
    forgetGuide();
    if (attempt > 0) {
      backoff.pauseBriefly(attempt);
      beforeRestart(attempt);
    }
  }

  /** Called before a restart but the first one. Default: does nothing. */
  protected void beforeRestart(int attempt) {}

  private void forgetGuide() {
    IndexCache cache = guide;
    if (cache != null) {
      cache.drop(hit, backoff);
      guide = null;
    }
  }

  /** Returns the exception for the case that no restart found the leaf of a key. */
  public final StalledException noLeaf(long key) {
    return stalled("no descent found the leaf that covers a key", key);
  }

  private StalledException stalled(String what, long key) {
    return new StalledException(
        "%s: key=%s, level=%s, last=%s, restarts=%s"
            .formatted(what, key, level, GlobalAddress.toString(node), RESTARTS_MAX));
  }
}
