package pando.baselines.deft;

import java.util.Arrays;
import pando.baselines.blink.BLinkSplits;
import pando.baselines.blink.Children;
import pando.baselines.blink.SortedEntries;
import pando.fabric.GlobalAddress;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.index.CorruptNodeException;

/** Splits nodes of DEFT, and updates the pointers in their parents. */
final class DeftSplits extends BLinkSplits {
  /*
   * The sibling is written under its own lock, too. An old pointer may lead to its address, and a
   * session that followed it would change entries there that are still in the node that is split.
   * No hold-and-wait: that lock is taken only if it is free. If another session holds it, for a
   * node that shares the word, another new node is allocated.
   *
   * A pointer to an inner node has the node's shape and version. Both change when the node is
   * arranged anew; then the pointer in the parent is refreshed. The session READs shape and version
   * under the lock of the parent, so if two sessions refresh the pointer to the same node, the
   * later update wins with current data. Until then, and if it is never refreshed, readers find a
   * wrong version and read the whole node.
   */

  private final DeftServer server;
  private final DeftLeafLayout leaves;
  private final InnerLayout inners;
  private final DeftNodes nodes;
  private final DeftNodeLocks locks;
  private final long[] keys;
  private final long[] values;
  private final long[] crowded;
  private final Children children;

  /** First word of the node before it was split. */
  private long firstBefore;

  /** High fence of the node before it was split. */
  private long highBefore;

  DeftSplits(DeftContext context, DeftDescent descent) {
    super(context, descent);
    this.server = context.server;
    this.leaves = server.leaves;
    this.inners = server.inners;
    this.nodes = context.nodes;
    this.locks = context.locks;
    this.keys = new long[leaves.capacity() + 1];
    this.values = new long[leaves.capacity() + 1];
    this.crowded = new long[leaves.capacity() + 1];
    this.children = new Children(inners.capacity() + 1);
  }

  /**
   * Splits an exclusively locked leaf that has no room for an entry, adds the entry, unlocks the
   * leaf and inserts the new leaf into its parent.
   *
   * @throws PoolFullException if the pool has no room for another leaf; then nothing was changed
   */
  void splitLeaf(long leaf, long key, long value) {
    noteBefore(leaf);
    long high = nodes.high(leaf);
    long next = nodes.sibling(leaf);
    int count = collect(leaf, key, value);
    int kept = count / 2;
    long added = allocateLocked(nodes.address(leaf), keys[kept], high);
    leaves.format(memory, sibling, added, keys[kept], high, next);
    if (!divide(leaf, kept, count)) {
      kept = cutThroughBucket(key, count);
      leaves.format(memory, sibling, added, keys[kept], high, next);
      if (!divide(leaf, kept, count)) {
        throw new IllegalStateException("halves of a leaf have no room: key=" + key);
      }
    }
    long low = keys[kept];
    NodeHeader.setFences(memory, leaf, nodes.low(leaf), low - 1);
    NodeHeader.setSibling(memory, leaf, added);
    leaves.seal(memory, leaf, server.nextStamp(), false);
    leaves.seal(memory, sibling, server.nextStamp(), true);
    writeSplit(leaf, added);
    announce(0, low, ChildPointer.toLeaf(added));
  }

  /**
   * Records the first word and the high fence, which show after a failure whether the node was
   * written.
   */
  private void noteBefore(long node) {
    firstBefore = NodeHeader.first(memory, node);
    highBefore = nodes.high(node);
  }

  /** Copies the entries of a leaf and one more, in key order; returns their number. */
  private int collect(long leaf, long key, long value) {
    int count = leaves.copySorted(memory, leaf, Long.MIN_VALUE, Long.MAX_VALUE, keys, values);
    return SortedEntries.insert(keys, values, count, key, value);
  }

  /** Puts entries into a leaf and its sibling; returns {@code false} if a bucket has no room. */
  private boolean divide(long leaf, int kept, int count) {
    leaves.clearEntries(memory, leaf);
    boolean fit = true;
    for (int i = 0; i < count && fit; i++) {
      fit = leaves.add(memory, i < kept ? leaf : sibling, keys[i], values[i]);
    }
    return fit;
  }

  /**
   * Returns the index at which to cut so that each half gets half of the keys that share lines with
   * {@code key}.
   */
  private int cutThroughBucket(long key, int count) {
    int sharing = 0;
    for (int i = 0; i < count; i++) {
      if (leaves.shareLines(keys[i], key)) {
        crowded[sharing++] = keys[i];
      }
    }
    return Arrays.binarySearch(keys, 0, count, crowded[sharing / 2]);
  }

  @Override
  protected boolean tryLockNew(long address, long low, long high) {
    return locks.tryExclusive(address);
  }

  @Override
  protected void unlockNew(long address) {
    locks.unlock(address);
  }

  /**
   * {@inheritDoc} Posts at once, as the same bytes of local memory are changed and written again
   * when the node is shown.
   */
  @Override
  protected void writeHidden(VerbList writes) {
    nodes.addWrite(writes, sibling);
    worker.post(writes);
    writes.clear();
  }

  @Override
  protected void addNode(VerbList writes, long node) {
    nodes.addWrite(writes, node);
  }

  @Override
  protected void addShown(VerbList writes, long address) {
    if (NodeHeader.isLeaf(NodeHeader.first(memory, sibling))) {
      leaves.show(memory, sibling);
    } else {
      InnerLayout.setHidden(memory, sibling, false);
    }
    nodes.addWrite(writes, sibling);
  }

  @Override
  protected void finish(long node) {
    // The node's lock may have been released; then the node was written, and other sessions may
    // change it.
    if (isAsBefore(nodes.address(node))) {
      nodes.write(node);
    }
    addShown(list.clear(), nodes.address(sibling));
    worker.post(list);
  }

  private boolean isAsBefore(long address) {
    return readWord(address) == firstBefore && readWord(address + NodeHeader.HIGH) == highBefore;
  }

  @Override
  protected void insert(int level, long low, long pointer) {
    long address = descent.node;
    nodes.copyChildren(parent, children);
    for (int i = 0; i < children.count; i++) {
      if (children.keys[i] == low) {
        throw new CorruptNodeException(address, "knows of a node that is new: low=" + low);
      }
    }
    if (inners.add(memory, parent, low, pointer, list.clear())) {
      nodes.addChecksum(list, parent);
      locks.writeAndUnlock(address, list);
      return;
    }
    InnerLayout.insert(children, low, pointer);
    long lowOfParent = nodes.low(parent);
    if (children.count <= inners.capacity()) {
      inners.arrange(memory, parent, children, 0, children.count);
      nodes.addWrite(list.clear(), parent);
      locks.writeAndUnlock(address, list);
    } else {
      splitParent(level, address);
    }
    refresh(level, lowOfParent, address);
  }

  private void splitParent(int level, long address) {
    noteBefore(parent);
    long high = nodes.high(parent);
    long next = nodes.sibling(parent);
    int kept = children.count / 2;
    long low = children.keys[kept];
    long added = allocateLocked(address, low, high);
    inners.format(memory, sibling, added, level, low, high, next, server.nextStamp());
    long pointer = inners.arrange(memory, sibling, children, kept, children.count);
    InnerLayout.setHidden(memory, sibling, true);
    NodeHeader.setFences(memory, parent, nodes.low(parent), low - 1);
    NodeHeader.setSibling(memory, parent, added);
    inners.arrange(memory, parent, children, 0, kept);
    writeSplit(parent, added);
    announce(level, low, pointer);
  }

  /** Refreshes the pointer in the parent to an inner node that was arranged anew. */
  void refresh(int level, long low, long address) {
    for (int attempt = 0; attempt < DeftDescent.RESTARTS_MAX; attempt++) {
      if (!descent.find(low, level + 1)) {
        // The node is the root. If another session puts a root above it, readers of the old version
        // read the whole node.
        return;
      }
      if (descent.lockCovering(level + 1, low, parent, attempt)) {
        refreshPointer(low, address);
        return;
      }
    }
    throw new StalledException(
        "no parent of a changed node could be locked: level=%s, low=%s, node=%s"
            .formatted(level + 1, low, GlobalAddress.toString(address)));
  }

  /**
   * Refreshes a pointer in the locked node in the {@link #parent} buffer, and unlocks that node.
   */
  private void refreshPointer(long low, long address) {
    nodes.copyChildren(parent, children);
    int child = Arrays.binarySearch(children.keys, 0, children.count, low);
    list.clear();
    if (child >= 0 && ChildPointer.address(children.pointers[child]) == address) {
      long pointer = InnerLayout.pointerTo(address, readWord(address));
      inners.replace(memory, parent, low, pointer, list);
      nodes.addChecksum(list, parent);
    }
    locks.writeAndUnlock(descent.node, list);
  }

  @Override
  protected void formatRoot(long child, long address, int level) {
    children.count = 0;
    InnerLayout.insert(children, Long.MIN_VALUE, InnerLayout.pointerTo(child, readWord(child)));
    inners.format(
        memory,
        sibling,
        address,
        level,
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        GlobalAddress.NULL,
        server.nextStamp());
    inners.arrange(memory, sibling, children, 0, children.count);
    InnerLayout.setHidden(memory, sibling, true);
  }
}
