package pando.index.blink;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.lock.Retry;
import pando.index.lock.SessionLocks;
import pando.index.pool.Catalogue;

/**
 * Splits full nodes, as in a B-link tree (Sherman section 4.2.1 and figure 7): the upper half goes
 * to a new sibling, and that is made known one level up, under the lock of that node alone. A
 * system says how a node is divided, and how the halves are written.
 */
public abstract class BLinkSplits {
  /*
   * No pointer leads to a new node, but an old one may lead to its place, from the time when another
   * node was there. A reader that follows it must not find the new node before it is linked: it is
   * written hidden, then the node that is split, then it is shown. From the moment when the node is
   * written, the sibling can be reached through it.
   *
   * Where a verb fails in between, what the new node was to hold would stay hidden. So the split is
   * completed before its nodes are unlocked.
   */

  /** Places that other sessions have locked, before a split gives up. */
  private static final int REFUSALS_MAX = 8;

  private static final long NOTHING = -1;

  protected final BLinkDescent descent;
  protected final Worker worker;
  protected final MemorySegment memory;

  /** Where a new node starts in local memory. */
  protected final long sibling;

  /** Where a node starts to which a change below is made known. */
  protected final long parent;

  /** Is empty between two changes. */
  protected final VerbList list = new VerbList();

  private final BLinkServer server;
  private final BLinkNodes nodes;
  private final SessionLocks locks;
  private final Catalogue catalogue;
  private final Roots roots;
  private final long message;
  private final long[] refused = new long[REFUSALS_MAX];
  private boolean begun;

  /** Where in local memory the node starts whose split is under way. */
  private long unfinished = NOTHING;

  /** Creates what splits nodes for one worker. */
  protected BLinkSplits(BLinkContext context, BLinkDescent descent) {
    this.server = context.tree();
    this.nodes = context.nodes();
    this.locks = context.locks();
    this.descent = descent;
    this.catalogue = context.catalogue;
    this.worker = context.worker;
    this.memory = context.memory;
    this.sibling = context.sibling;
    this.parent = context.parent;
    this.message = context.message;
    this.roots = new Roots(context);
  }

  /**
   * Locks a new node, of which no pointer tells, without waiting.
   *
   * @param low least key that the node is to cover
   * @param high greatest key
   */
  protected abstract boolean tryLockNew(long address, long low, long high);

  protected abstract void unlockNew(long address);

  /** Adds the WRITE of the new sibling, hidden; or posts it. */
  protected abstract void writeHidden(VerbList writes);

  /** Adds the WRITE of a node that was split. */
  protected abstract void addNode(VerbList writes, long node);

  /** Adds the WRITE that shows the new sibling. */
  protected abstract void addShown(VerbList writes, long address);

  /** Writes what may not be written yet of a split that failed, while its node is locked. */
  protected abstract void finish(long node);

  /** Makes a new root in the place of the sibling, with one child, to be written hidden. */
  protected abstract void formatRoot(long child, long address, int level);

  /** Adds a child to the node that was read to the parent's place, and unlocks that. */
  protected abstract void insert(int level, long low, long pointer);

  /** Forgets about earlier splits. */
  public final void reset() {
    begun = false;
    unfinished = NOTHING;
  }

  /** Tells whether something that a split writes may be in the tree. */
  public final boolean hasBegun() {
    return begun;
  }

  /**
   * Writes, after a failure, what a split has not, while the node that is split is still locked.
   */
  public final void complete() {
    long node = unfinished;
    if (node != NOTHING) {
      Retry.underLocks(worker, locks, "a split", nodes.address(node), () -> finish(node));
    }
  }

  /**
   * Writes a node that was split and its new sibling, and unlocks both.
   *
   * @param node where it starts in local memory
   * @param added address of the sibling, which is freed where nothing was written
   */
  protected final void writeSplit(long node, long added) {
    long address = nodes.address(node);
    boolean together = GlobalAddress.server(added) == GlobalAddress.server(address);
    try {
      writeHidden(list.clear());
      postUnless(together);
      begun = true;
      unfinished = node;
    } finally {
      if (unfinished == NOTHING) {
        server.allocator.free(worker, message, added);
      }
    }
    addNode(list, node);
    postUnless(together);
    addShown(list, added);
    postUnless(together);
    locks.writeAndUnlock(address, list);
    unfinished = NOTHING;
    unlockNew(added);
  }

  /** Returns a word of the pool. */
  protected final long readWord(long address) {
    worker.read(address, message, Long.BYTES);
    return Words.get(memory, message);
  }

  /** Posts what a list has so far, unless all of it goes to one memory server, in one list. */
  private void postUnless(boolean together) {
    if (!together && list.size() > 0) {
      worker.post(list);
      list.clear();
    }
  }

  /** Allocates a node, near another if there is room, and locks it. */
  protected final long allocateLocked(long near, long low, long high) {
    int refusals = 0;
    try {
      while (refusals < REFUSALS_MAX) {
        long address = server.allocator.allocate(worker, message, GlobalAddress.server(near));
        refused[refusals++] = address;
        if (tryLockNew(address, low, high)) {
          refusals--;
          return address;
        }
      }
    } finally {
      while (refusals > 0) {
        server.allocator.free(worker, message, refused[--refusals]);
      }
    }
    throw new StalledException("locks of new nodes stayed taken: nodes=" + REFUSALS_MAX);
  }

  /** Makes a new node known to the level above the one that was split. */
  protected final void announce(int level, long low, long pointer) {
    try {
      insertAbove(level + 1, low, pointer);
    } catch (PoolFullException noRoomAbove) {
      // The entry is stored and the tree is right: the sibling is reached through the node, which
      // costs a READ more, as in the moment before.
      locks.abandon(noRoomAbove);
    }
  }

  private void insertAbove(int level, long low, long pointer) {
    for (int attempt = 0; attempt < BLinkDescent.RESTARTS_MAX; attempt++) {
      if (!descent.find(low, level)) {
        grow(level);
      } else if (descent.lockCovering(level, low, parent, attempt)) {
        insert(level, low, pointer);
        return;
      }
    }
    throw new StalledException(
        "no place above a new node: level="
            + level
            + ", low="
            + low
            + ", node="
            + GlobalAddress.toString(descent.addressOf(pointer)));
  }

  /** Puts a root above the present one, with that as its only child, if the tree is too low. */
  private void grow(int level) {
    long root = catalogue.root();
    int above = Catalogue.rootLevel(root) + 1;
    if (above <= level) {
      long address = allocateLocked(root, Long.MIN_VALUE, Long.MAX_VALUE);
      boolean used = false;
      try {
        formatRoot(Catalogue.rootAddress(root), address, above);
        writeHidden(list.clear());
        postUnless(false);
        // Where that fails it may be the root all the same.
        used = true;
        used = roots.raise(root, address, above, () -> show(address));
        unlockNew(address);
      } finally {
        if (!used) {
          server.allocator.free(worker, message, address);
        }
      }
    }
    server.setRoot(catalogue.root(), worker.backoff());
  }

  private void show(long address) {
    addShown(list.clear(), address);
    postUnless(false);
  }
}
