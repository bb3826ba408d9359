package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.lock.NodeLocks;
import pando.index.pool.Catalogue;

/**
 * Splits nodes, as in a B-link tree (Sherman section 4.2.1 and figure 7): the upper half goes to a
 * new sibling, which is written before the node; from the moment when the node is written, the
 * sibling can be reached through it. Then the sibling is made known one level up, under the lock of
 * that node alone.
 */
final class Splits {
  /*
   * No pointer leads to a new node, but an old one may lead to its place, from the time when another
   * node was there. Who follows it must not find the new node before it is linked: it is written with
   * its freed bit, then the node that is split, then the bit is cleared. Nor must he take a part of
   * the new node and a part of the old one for a whole: stamps and checksums tell him; versions do
   * so only if the new node is written under its own lock, which is taken without waiting, as the
   * lock of the node that is split is held.
   *
   * Where a verb fails in between, what the new node was to hold would stay hidden. So the split is
   * completed before its locks are let go.
   */

  /** Places whose locks somebody has, before a split gives up. */
  private static final int REFUSALS_MAX = 8;

  private static final int ATTEMPTS_MAX = 100;
  private static final long NOTHING = -1;

  private final ShermanServer server;
  private final BLinkLayout layout;
  private final Nodes nodes;
  private final NodeLocks locks;
  private final Descent descent;
  private final Catalogue catalogue;
  private final Worker worker;
  private final MemorySegment memory;
  private final long sibling;
  private final long parent;
  private final long message;

  /** Whether new nodes are written under their locks. */
  private final boolean lockNew;

  private final VerbList list = new VerbList();
  private boolean begun;

  /** Where in local memory the node starts whose split is under way. */
  private long unfinished = NOTHING;

  private final long[] refused = new long[REFUSALS_MAX];
  private final long[] keys;
  private final long[] slots;

  /** The new node that the last split made, and the least key that it covers. */
  private long newNode;

  private long newLow;

  Splits(ShermanContext context, Descent descent) {
    this.server = context.server;
    this.layout = context.layout;
    this.nodes = context.nodes;
    this.locks = context.locks;
    this.descent = descent;
    this.catalogue = context.catalogue;
    this.worker = context.worker;
    this.memory = context.memory;
    this.lockNew = server.validation.countsInLocks();
    this.sibling = context.sibling;
    this.parent = context.parent;
    this.message = context.message;
    this.keys = new long[layout.capacity() + 1];
    this.slots = new long[layout.capacity() + 1];
  }

  /**
   * Splits a full leaf whose lock is held, adds an entry, and lets go of the lock. To be followed
   * by {@link #announce}.
   *
   * @throws PoolFullException where there is no room for another node; nothing was changed then
   */
  void splitLeaf(long leaf, long key, long value) {
    int count = layout.copySorted(memory, leaf, Long.MIN_VALUE, Long.MAX_VALUE, keys, slots);
    int at = count;
    while (at > 0 && keys[at - 1] > key) {
      keys[at] = keys[at - 1];
      slots[at] = slots[at - 1];
      at--;
    }
    keys[at] = key;
    slots[at] = value;
    split(leaf, 0, count + 1);
  }

  /** Makes the new node known to the level above the one that was split. */
  void announce(int level) {
    try {
      insertAbove(level + 1, newLow, newNode);
    } catch (PoolFullException noRoomAbove) {
      // The entry is stored and the tree is right: the sibling is reached through the node, which
      // costs a READ more, as in the moment before.
      locks.abandon(noRoomAbove);
    }
  }

  /** Splits a full inner node whose lock is held, adds a child, and lets go of the lock. */
  private void splitInner(long node, int level, int index, long key, long child) {
    int count = BLinkLayout.count(memory, node);
    for (int i = 0; i <= count; i++) {
      int from = i < index ? i : i - 1;
      keys[i] = i == index ? key : BLinkLayout.key(memory, node, from);
      slots[i] = i == index ? child : BLinkLayout.slot(memory, node, from);
    }
    split(node, level, count + 1);
    announce(level);
  }

  /** Forgets about earlier splits. */
  void reset() {
    begun = false;
    unfinished = NOTHING;
  }

  /** Tells whether something that a split writes may be in the tree. */
  boolean hasBegun() {
    return begun;
  }

  /**
   * Writes, after a failure, what a split has not, while the node that is split is still locked.
   */
  void complete() {
    if (unfinished == NOTHING) {
      return;
    }
    long address = BLinkLayout.address(memory, unfinished);
    PandoException failure = null;
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      try {
        if (locks.isStillOurs(address) && !isRevealed(address)) {
          nodes.write(sibling);
          nodes.write(unfinished);
          nodes.addReveal(list.clear(), BLinkLayout.address(memory, sibling));
          worker.post(list);
        }
        return;
      } catch (PandoException e) {
        failure = e;
        worker.backoff().pauseBriefly(attempt);
      }
    }
    locks.keep();
    throw new StalledException(
        "a split stopped half-way, and keeps its nodes locked: node="
            + GlobalAddress.toString(address)
            + ", because="
            + failure);
  }

  /** Tells whether the new node can be reached: then others may have changed it. */
  private boolean isRevealed(long address) {
    long siblingAddress = BLinkLayout.address(memory, sibling);
    return readWord(address + BLinkLayout.SIBLING) == siblingAddress
        && !BLinkLayout.isFreed(readWord(siblingAddress + BLinkLayout.DESCRIPTOR));
  }

  private long readWord(long address) {
    worker.read(address, message, Long.BYTES);
    return Words.get(memory, message);
  }

  /** Divides entries between a node and a new sibling. */
  private void split(long node, int level, int count) {
    int kept = count / 2;
    long low = keys[kept];
    long address = BLinkLayout.address(memory, node);
    long above = BLinkLayout.high(memory, node);
    long siblingAddress = allocate(address, server.owns(low, above));
    layout.format(
        memory, sibling, siblingAddress, level, low, above, BLinkLayout.sibling(memory, node));
    fill(sibling, kept, count);
    layout.clearEntries(memory, node);
    BLinkLayout.setHigh(memory, node, low - 1);
    BLinkLayout.setSibling(memory, node, siblingAddress);
    fill(node, 0, kept);
    boolean together = GlobalAddress.server(siblingAddress) == GlobalAddress.server(address);
    try {
      nodes.addHidden(list.clear(), sibling);
      postUnless(together);
      begun = true;
      unfinished = node;
    } finally {
      if (unfinished == NOTHING) {
        server.allocator.free(worker, message, siblingAddress);
      }
    }
    nodes.addNode(list, node);
    postUnless(together);
    nodes.addReveal(list, siblingAddress);
    postUnless(together);
    locks.writeAndUnlock(address, list);
    unfinished = NOTHING;
    unlockNew(siblingAddress);
    newNode = siblingAddress;
    newLow = low;
  }

  /** Posts what a list has so far, unless all of it goes to one memory server, in one list. */
  private void postUnless(boolean together) {
    if (!together) {
      worker.post(list);
      list.clear();
    }
  }

  /** Allocates a node, near another if there is room, and takes its lock where that is needed. */
  private long allocate(long near, boolean owned) {
    int refusals = 0;
    try {
      while (refusals < REFUSALS_MAX) {
        long address = server.allocator.allocate(worker, message, GlobalAddress.server(near));
        if (!lockNew || locks.tryLock(address, owned)) {
          return address;
        }
        refused[refusals++] = address;
      }
    } finally {
      while (refusals > 0) {
        server.allocator.free(worker, message, refused[--refusals]);
      }
    }
    throw new StalledException("locks of new nodes stayed taken: nodes=" + REFUSALS_MAX);
  }

  private void unlockNew(long address) {
    if (lockNew) {
      locks.unlock(address);
    }
  }

  private void fill(long node, int from, int to) {
    for (int i = from; i < to; i++) {
      BLinkLayout.append(memory, node, keys[i], slots[i]);
    }
  }

  /** Makes a new node known to the level above. */
  private void insertAbove(int level, long low, long child) {
    for (int attempt = 0; attempt < Descent.RESTARTS_MAX; attempt++) {
      if (!descent.find(low, level)) {
        grow(level);
      } else if (insert(level, low, child, attempt)) {
        return;
      }
    }
    throw new StalledException(
        "no place above a new node: level="
            + level
            + ", low="
            + low
            + ", node="
            + GlobalAddress.toString(child));
  }

  private boolean insert(int level, long low, long child, int attempt) {
    if (!descent.lockCovering(level, low, parent, attempt)) {
      return false;
    }
    if (server.isForeign(BLinkLayout.low(memory, parent), BLinkLayout.high(memory, parent))) {
      // It has become another compute server's own. The new node is reached through its left one.
      locks.unlock(descent.node);
      return true;
    }
    int index = layout.childOf(memory, parent, low);
    if (BLinkLayout.key(memory, parent, index) == low) {
      throw new CorruptNodeException(descent.node, "knows of a node that is new: low=" + low);
    }
    if (BLinkLayout.count(memory, parent) == layout.capacity()) {
      splitInner(parent, level, index + 1, low, child);
    } else {
      BLinkLayout.insert(memory, parent, index + 1, low, child);
      nodes.addNode(list.clear(), parent);
      locks.writeAndUnlock(descent.node, list);
    }
    return true;
  }

  /** Puts a root above the present one, with that as its only child, if the tree is too low. */
  private void grow(int level) {
    long root = catalogue.root();
    int above = Catalogue.rootLevel(root) + 1;
    if (above <= level) {
      long address = allocate(root, server.owns(Long.MIN_VALUE, Long.MAX_VALUE));
      boolean used = false;
      try {
        layout.format(
            memory, sibling, address, above, Long.MIN_VALUE, Long.MAX_VALUE, GlobalAddress.NULL);
        BLinkLayout.append(memory, sibling, Long.MIN_VALUE, Catalogue.rootAddress(root));
        nodes.addHidden(list.clear(), sibling);
        worker.post(list);
        // Where that fails it may be the root all the same.
        used = true;
        used = makeRoot(root, address, above);
        unlockNew(address);
      } finally {
        if (!used) {
          server.allocator.free(worker, message, address);
        }
      }
    }
    server.setRoot(catalogue.root(), worker.backoff());
  }

  /**
   * Makes a hidden node the root, and reveals it. Asks again where a verb fails, as without its
   * root the tree is lost: while it is hidden, nobody else can replace it.
   *
   * @return whether it is the root; else there is another one already
   */
  private boolean makeRoot(long before, long address, int level) {
    for (int attempt = 0; ; attempt++) {
      try {
        boolean isRoot =
            (attempt > 0 && Catalogue.rootAddress(catalogue.root()) == address)
                || catalogue.replaceRoot(before, address, level);
        if (isRoot) {
          nodes.addReveal(list.clear(), address);
          worker.post(list);
        }
        return isRoot;
      } catch (PandoException e) {
        if (attempt >= ATTEMPTS_MAX) {
          throw e;
        }
        worker.backoff().pauseBriefly(attempt);
      }
    }
  }
}
