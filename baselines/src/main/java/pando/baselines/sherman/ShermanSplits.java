package pando.baselines.sherman;

import pando.baselines.blink.BLinkSplits;
import pando.baselines.blink.SortedEntries;
import pando.baselines.lock.NodeLocks;
import pando.fabric.GlobalAddress;
import pando.fabric.PoolFullException;
import pando.fabric.VerbList;
import pando.index.CorruptNodeException;

/** Splits nodes of Sherman. */
final class ShermanSplits extends BLinkSplits {
  /*
   * A new node is hidden by its freed bit. A reader with an old pointer to it must not accept a mix
   * of the new node and the one that was there before. Stamps and checksums detect the mix.
   * Versions detect it only if the new node is written under its own lock. No hold-and-wait: that
   * lock is taken only if it is free, as the session holds the lock of the node that is split.
   */

  private final ShermanServer server;
  private final BLinkLayout layout;
  private final ShermanNodes nodes;
  private final NodeLocks locks;

  /** Whether new nodes are written under their own locks. */
  private final boolean lockNew;

  private final long[] keys;
  private final long[] slots;

  ShermanSplits(ShermanContext context, ShermanDescent descent) {
    super(context, descent);
    this.server = context.server;
    this.layout = context.layout;
    this.nodes = context.nodes;
    this.locks = context.locks;
    this.lockNew = server.validation.countsInLocks();
    this.keys = new long[layout.capacity() + 1];
    this.slots = new long[layout.capacity() + 1];
  }

  /**
   * Splits a full, locked leaf, adds an entry, unlocks the leaf and inserts the new leaf into its
   * parent.
   *
   * @throws PoolFullException if the pool has no room for another node; then nothing was changed
   */
  void splitLeaf(long leaf, long key, long value) {
    int count = layout.copySorted(memory, leaf, Long.MIN_VALUE, Long.MAX_VALUE, keys, slots);
    split(leaf, 0, SortedEntries.insert(keys, slots, count, key, value));
  }

  /**
   * Splits a full, locked inner node, adds a child, unlocks the node and inserts the new node into
   * its parent.
   */
  private void splitInner(long node, int level, int index, long key, long child) {
    int count = BLinkLayout.count(memory, node);
    for (int i = 0; i <= count; i++) {
      int from = i < index ? i : i - 1;
      keys[i] = i == index ? key : BLinkLayout.key(memory, node, from);
      slots[i] = i == index ? child : BLinkLayout.slot(memory, node, from);
    }
    split(node, level, count + 1);
  }

  /**
   * Divides the first {@code count} of {@code keys} and {@code slots} between a node and a new
   * sibling.
   */
  private void split(long node, int level, int count) {
    int kept = count / 2;
    long low = keys[kept];
    long high = nodes.high(node);
    long added = allocateLocked(nodes.address(node), low, high);
    layout.format(memory, sibling, added, level, low, high, nodes.sibling(node));
    fill(sibling, kept, count);
    layout.clearEntries(memory, node);
    BLinkLayout.setHigh(memory, node, low - 1);
    BLinkLayout.setSibling(memory, node, added);
    fill(node, 0, kept);
    writeSplit(node, added);
    announce(level, low, added);
  }

  private void fill(long node, int from, int to) {
    for (int i = from; i < to; i++) {
      BLinkLayout.append(memory, node, keys[i], slots[i]);
    }
  }

  @Override
  protected boolean tryLockNew(long address, long low, long high) {
    return !lockNew || locks.tryLock(address, server.owns(low, high));
  }

  @Override
  protected void unlockNew(long address) {
    if (lockNew) {
      locks.unlock(address);
    }
  }

  @Override
  protected void writeHidden(VerbList writes) {
    nodes.addHidden(writes, sibling);
  }

  @Override
  protected void addNode(VerbList writes, long node) {
    nodes.addNode(writes, node);
  }

  @Override
  protected void addShown(VerbList writes, long address) {
    nodes.addReveal(writes, address);
  }

  @Override
  protected void finish(long node) {
    long address = nodes.address(node);
    if (locks.isStillOurs(address) && !isRevealed(address)) {
      nodes.write(sibling);
      nodes.write(node);
      nodes.addReveal(list.clear(), nodes.address(sibling));
      worker.post(list);
    }
  }

  /** Returns whether the new node is linked and shown: then other sessions may have changed it. */
  private boolean isRevealed(long address) {
    long added = nodes.address(sibling);
    return readWord(address + BLinkLayout.SIBLING) == added
        && !BLinkLayout.isFreed(readWord(added + BLinkLayout.DESCRIPTOR));
  }

  @Override
  protected void formatRoot(long child, long address, int level) {
    layout.format(
        memory, sibling, address, level, Long.MIN_VALUE, Long.MAX_VALUE, GlobalAddress.NULL);
    BLinkLayout.append(memory, sibling, Long.MIN_VALUE, child);
  }

  @Override
  protected void insert(int level, long low, long child) {
    if (server.isForeign(nodes.low(parent), nodes.high(parent))) {
      // Another compute server owns the parent by now. The new node is reached through its left
      // sibling.
      locks.unlock(descent.node);
      return;
    }
    int index = layout.childOf(memory, parent, low);
    if (BLinkLayout.key(memory, parent, index) == low) {
      throw new CorruptNodeException(
          descent.node, "has a pointer to a node that is new: low=" + low);
    }
    if (BLinkLayout.count(memory, parent) == layout.capacity()) {
      splitInner(parent, level, index + 1, low, child);
    } else {
      BLinkLayout.insert(memory, parent, index + 1, low, child);
      nodes.addNode(list.clear(), parent);
      locks.writeAndUnlock(descent.node, list);
    }
  }
}
