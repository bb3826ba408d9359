package pando.baselines.blink;

import java.lang.foreign.MemorySegment;
import pando.baselines.lock.SessionLocks;
import pando.fabric.GlobalAddress;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.pool.Catalogue;

/**
 * Splits full nodes, as in a B-link tree (Sherman section 4.2.1 and figure 7): the upper half moves
 * to a new sibling. Then a pointer to the sibling is inserted one level up, under the lock of that
 * node only. A system implements how a node is divided, and how the halves are written.
 */
public abstract class BLinkSplits {
  /*
   * No pointer leads to a new node, but an old copy of a pointer may lead to its address, from a
   * time when another node was there. A reader that follows it must not find the new node before it
   * is linked. So the new node is written hidden first, then the node that is split, and then the
   * new node is shown. As soon as the split node is written, the sibling is reached through it.
   *
   * If a verb failed in between, the entries of the new node would stay hidden. So a split is
   * completed before its nodes are unlocked.
   */

  /** Maximum number of new nodes whose locks are found taken before a split gives up. */
  private static final int REFUSALS_MAX = 8;

  private static final long NOTHING = -1;

  protected final BLinkDescent descent;
  protected final Worker worker;
  protected final MemorySegment memory;

  /** Local offset of the buffer for a new node. */
  protected final long sibling;

  /** Local offset of the buffer for the parent. */
  protected final long parent;

  /** Empty between two changes. */
  protected final VerbList list = new VerbList();

  private final BLinkServer server;
  private final BLinkNodes nodes;
  private final SessionLocks locks;
  private final Catalogue catalogue;
  private final BLinkRoots roots;
  private final long message;
  private final long[] refused = new long[REFUSALS_MAX];
  private boolean begun;

  /** Local offset of the node whose split is under way, or {@link #NOTHING}. */
  private long unfinished = NOTHING;

  /** Creates the splits of one worker. */
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
    this.roots = new BLinkRoots(context);
  }

  /**
   * Locks a new node, to which no pointer leads, if its lock is free; returns whether it did.
   *
   * @param low least key that the node will cover
   * @param high greatest key that the node will cover
   */
  protected abstract boolean tryLockNew(long address, long low, long high);

  protected abstract void unlockNew(long address);

  /** Adds the WRITE of the hidden new sibling to the list, or posts it. */
  protected abstract void writeHidden(VerbList writes);

  /** Adds the WRITE of a node that was split. */
  protected abstract void addNode(VerbList writes, long node);

  /** Adds the WRITE that shows the new sibling. */
  protected abstract void addShown(VerbList writes, long address);

  /** Repeats, while the node is locked, those WRITEs of a failed split that may be missing. */
  protected abstract void finish(long node);

  /** Formats a new, hidden root with one child in the sibling's buffer. */
  protected abstract void formatRoot(long child, long address, int level);

  /** Adds a child to the node in the parent's buffer, splits it if it is full, and unlocks it. */
  protected abstract void insert(int level, long low, long pointer);

  /** Forgets earlier splits. Called at the start of an operation. */
  public final void reset() {
    begun = false;
    unfinished = NOTHING;
  }

  /** Returns whether a split since the last {@link #reset} may have written to the tree. */
  public final boolean hasBegun() {
    return begun;
  }

  /** Completes, after a failure, a split that is under way, while its node is still locked. */
  public final void complete() {
    long node = unfinished;
    if (node != NOTHING) {
      locks.untilDone(worker, "a split", nodes.address(node), () -> finish(node));
    }
  }

  /**
   * Writes a node that was split and its new sibling, and unlocks both.
   *
   * @param node local offset of the node
   * @param added address of the sibling; it is freed if the first WRITE fails
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

  /**
   * Posts and clears the list, unless both nodes are on one memory server, so that one list can
   * have all WRITEs.
   */
  private void postUnless(boolean together) {
    if (!together && list.size() > 0) {
      worker.post(list);
      list.clear();
    }
  }

  /** Allocates a node, on the memory server of {@code near} if that has room, and locks it. */
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

  /** Inserts the pointer to a new node into the level above. */
  protected final void announce(int level, long low, long pointer) {
    try {
      insertAbove(level + 1, low, pointer);
    } catch (PoolFullException noRoomAbove) {
      // The entry is stored and the tree is right: the sibling is reached through the node that was
      // split, which costs one more READ.
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
        "no node above a new node could be locked: level=%s, low=%s, node=%s"
            .formatted(level, low, GlobalAddress.toString(descent.addressOf(pointer))));
  }

  /**
   * Puts a new root above the present one, with that as its only child, if the tree has no such
   * level.
   */
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
        // Set first: if the change of the root fails, the node may be the root anyway.
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
