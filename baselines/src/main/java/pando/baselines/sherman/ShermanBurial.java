package pando.baselines.sherman;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import pando.baselines.blink.BLinkDescent;
import pando.baselines.blink.BLinkNodes;
import pando.baselines.blink.Children;
import pando.baselines.lock.LockTables;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.bugs.PlantedBug;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;

/**
 * Ends what a compute server that is lost was doing to the tree: completes or undoes its changes,
 * and unlocks what it had locked. The lost one is fenced; others go on. Can be done again where it
 * fails.
 */
final class ShermanBurial {
  /*
   * No session writes down what it is about to do. What the lost one has left half done is found in
   * the nodes: a walk, level by level from the root down, READs all inner nodes, and of the nodes
   * below them the first line. A node is *frozen* if the lost one has locked it, or if it lies in
   * the lost one's range: nobody else changes it. Only what the lost one did can be wrong with a
   * frozen node:
   *
   *   what it had done last            what is there                  what is done
   *   entry, before its checksum       a leaf with a wrong checksum   the checksum is written
   *   split: the sibling, hidden       nothing leads to it            nothing
   *   split: the node                  its sibling is hidden          the sibling is shown
   *   merge: the right node, hidden    the left one's sibling is      the right one is shown
   *                                    hidden
   *   merge: the left node             a hidden child, which is not   the child is taken out of the
   *                                    the left one's sibling         parent
   *   merge: the parent                nothing leads to the right one nothing
   *   new root, hidden; or             the root is hidden, and the    the root is shown
   *   old root, hidden                 lost one wrote it
   *
   * A node and its sibling are looked at before the sibling's own turn as a child. So a child of a
   * frozen parent that is still hidden then is that of a merge which wrote the left node.
   *
   * Other sessions change the nodes that are not frozen meanwhile. All that is half done was so
   * before the walk began, and is reached through frozen nodes and through nodes that were linked at
   * some time during it. Therefore the walk passes through hidden nodes: they may be those of a
   * compute server that waits for its own burial. A node that is not the one expected has changed
   * since its parent was READ, and the parent is looked for again.
   *
   * All locks are released last. So after a burial that has failed, the next one finds the same
   * nodes under them.
   * What the lost one had allocated and nothing leads to stays so.
   */

  /** Children whose heads are READ together, besides the one behind them. */
  private static final int TOGETHER = 32;

  private static final int LINE = BLinkLayout.LINE_BYTES;

  /** Local offset of the inner node whose children are mended. */
  private static final long PARENT = 0;

  private final PoolChange change;
  private final ShermanServer server;
  private final Fabric fabric;
  private final int lost;
  private final Worker worker;
  private final MemorySegment memory;
  private final BLinkLayout layout;
  private final ShermanNodes nodes;
  private final Children children;
  private final VerbList list = new VerbList();

  /** Local offset of a node that is mended. */
  private final long node;

  /** Bytes of a node that are READ at first, its head: the header, or all. */
  private final int headBytes;

  /** Local offsets of heads: of children, of one that they lead to, and of a sibling. */
  private final long heads;

  private final long next;
  private final long sibling;

  /** The locks that the lost one holds. */
  private Set<Long> held = new HashSet<>();

  /** The keys of the lost one's range; all keys without partitions. */
  private final long low;

  private final long high;

  /**
   * Prepares a burial.
   *
   * @param change has local memory of {@link #bytes}
   * @param server a compute server of this process, which writes nodes
   * @param low first key of the lost one's range; without partitions, of all keys
   * @param high last key of that range
   */
  ShermanBurial(
      PoolChange change, ShermanServer server, Fabric fabric, int lost, long low, long high) {
    this.change = change;
    this.server = server;
    this.fabric = fabric;
    this.lost = lost;
    this.low = low;
    this.high = high;
    this.worker = change.worker();
    this.memory = worker.memory();
    this.layout = server.layout;
    this.nodes = new ShermanNodes(server, worker, change.message());
    this.children = new Children(layout.capacity());
    this.node = PARENT + layout.nodeBytes();
    this.heads = node + layout.nodeBytes();
    // Where any leaf of the range may have a wrong checksum, each is READ as a whole.
    boolean whole = server.partitioned && server.validation == ShermanValidation.CHECKSUM;
    this.headBytes = whole ? layout.nodeBytes() : LINE;
    this.next = heads + (TOGETHER + 1L) * headBytes;
    this.sibling = next + headBytes;
  }

  /** Returns the bytes of local memory that a burial needs. */
  static long bytes(BLinkLayout layout) {
    return (TOGETHER + 5L) * layout.nodeBytes();
  }

  /** Buries the lost one. */
  void bury() {
    held = server.locks.heldBy(lost, fabric, worker, change.message());
    int rootLevel = mendRoot();
    // Without partitions, an on-chip lock protects whatever is half done but the root.
    boolean mayBeHalfDone = !held.isEmpty() || server.partitioned || !server.options.onChipLocks();
    for (int level = rootLevel; level > 0 && mayBeHalfDone; level--) {
      mendBelow(level);
    }
    held.forEach(lock -> server.locks.unlockFor(lost, lock, worker, change.message()));
  }

  /**
   * Mends the root, and the nodes behind it above which no other root is yet; returns its level.
   */
  private int mendRoot() {
    for (int attempt = 0; attempt < BLinkDescent.RESTARTS_MAX; attempt++) {
      long root = change.catalogue().root();
      int level = Catalogue.rootLevel(root);
      children.becomeRoot(Catalogue.rootAddress(root));
      readHeads(0);
      boolean itsOwn = ShermanServer.numberOf(BLinkLayout.stamp(memory, heads)) == lost;
      if (itsOwn && isHidden(heads) && isNode(heads, children.pointers[0], level, children.low)) {
        nodes.show(children.pointers[0], node);
      }
      if (mend(0, level, heads)) {
        return level;
      }
      worker.backoff().pause(attempt);
    }
    throw stalled(Catalogue.LEVELS_MAX, Long.MIN_VALUE);
  }

  /** Mends the children of all nodes of a level that cover keys of the range. */
  private void mendBelow(int level) {
    long key = low;
    for (int attempt = 0; attempt < BLinkDescent.RESTARTS_MAX; attempt++) {
      if (!find(level, key)) {
        return;
      }
      if (!mendChildren(level - 1)) {
        worker.backoff().pause(attempt);
        continue;
      }
      if (nodes.high(PARENT) >= high) {
        return;
      }
      key = nodes.high(PARENT) + 1;
      attempt = 0;
    }
    throw stalled(level, key);
  }

  /** READs the inner node that covers a key; returns {@code false} if there is no such level. */
  private boolean find(int level, long key) {
    if (key > low
        && key == nodes.high(PARENT) + 1
        && readAlong(nodes.sibling(PARENT), level, key)) {
      return true;
    }
    for (int attempt = 0; attempt < BLinkDescent.RESTARTS_MAX; attempt++) {
      long root = change.catalogue().root();
      if (Catalogue.rootLevel(root) < level) {
        return false;
      }
      if (descend(root, level, key)) {
        return true;
      }
      worker.backoff().pause(attempt);
    }
    throw stalled(level, key);
  }

  private boolean descend(long root, int level, long key) {
    long address = Catalogue.rootAddress(root);
    for (int at = Catalogue.rootLevel(root); readAlong(address, at, key); at--) {
      if (at == level) {
        return true;
      }
      address = BLinkLayout.slot(memory, PARENT, layout.childOf(memory, PARENT, key));
    }
    return false;
  }

  /** READs the inner node that covers a key, from one at or left of it on. */
  private boolean readAlong(long from, int level, long key) {
    long address = from;
    for (int hops = 0; hops < BLinkDescent.HOPS_MAX; hops++) {
      int outcome = nodes.readLinked(address, level, key, PARENT);
      if (outcome != BLinkNodes.RIGHT) {
        return outcome == BLinkNodes.COVERS;
      }
      address = nodes.sibling(PARENT);
    }
    return false;
  }

  private StalledException stalled(int level, long key) {
    return new StalledException(
        "a burial met nodes that kept changing: computeServer=%s, level=%s, key=%s"
            .formatted(lost, level, key));
  }

  /** Mends the children of the parent; returns whether all of them were there. */
  private boolean mendChildren(int level) {
    nodes.copyChildren(PARENT, children);
    noteLock(PARENT);
    boolean frozen = isFrozen(PARENT);
    int index = 0;
    for (int turn = 0; index < children.count; turn++) {
      if (turn % TOGETHER == 0) {
        readHeads(index);
      }
      long head = heads + (long) (turn % TOGETHER) * headBytes;
      if (frozen && index > 0 && isHidden(head)) {
        noteLock(head);
        takeOut(index);
      } else if (mend(index, level, head)) {
        index++;
      } else {
        return false;
      }
    }
    return true;
  }

  private void takeOut(int index) {
    children.remove(index);
    BLinkLayout.delete(memory, PARENT, index);
    nodes.write(PARENT);
  }

  /** Mends a child, and the nodes behind it to which no parent leads yet. */
  private boolean mend(int index, int level, long headOfChild) {
    long head = headOfChild;
    long address = children.pointers[index];
    long from = children.keys[index];
    while (isNode(head, address, level, from)) {
      noteLock(head);
      if (isFrozen(head)) {
        if (level == 0 && (headBytes == LINE || !nodes.isWhole(head))) {
          nodes.mendChecksum(address, node);
        }
        showSibling(level, head, headOfSibling(index, head, headOfChild));
      }
      if (nodes.high(head) >= children.highOf(index)) {
        return true;
      }
      from = nodes.high(head) + 1;
      address = nodes.sibling(head);
      if (!server.places.isNodeAddress(address)) {
        return false;
      }
      readHead(address, next);
      head = next;
    }
    return false;
  }

  /** Returns where the head of a node's sibling is: it is that of the next child, or READ. */
  private long headOfSibling(int index, long head, long headOfChild) {
    long right = nodes.sibling(head);
    if (index + 1 < children.count && children.pointers[index + 1] == right) {
      return headOfChild + headBytes;
    }
    if (server.places.isNodeAddress(right)) {
      readHead(right, sibling);
    }
    return sibling;
  }

  /** Shows the sibling of a frozen node if it is hidden. */
  private void showSibling(int level, long head, long headOfSibling) {
    long right = nodes.sibling(head);
    if (!PlantedBug.UNLOCKED_ALONE
        && isNode(headOfSibling, right, level, nodes.high(head) + 1)
        && isHidden(headOfSibling)) {
      nodes.show(right, node);
      BLinkLayout.show(memory, headOfSibling);
    }
  }

  private void readHead(long address, long head) {
    worker.read(address, head, headBytes);
  }

  /** READs the heads of children from one on, and of the one behind them. */
  private void readHeads(int first) {
    list.clear();
    for (int i = first; i < Math.min(first + TOGETHER + 1, children.count); i++) {
      list.read(children.pointers[i], heads + (long) (i - first) * headBytes, headBytes);
    }
    worker.scatter(list);
  }

  private boolean isHidden(long head) {
    return BLinkLayout.isFreed(BLinkLayout.descriptor(memory, head));
  }

  /** Returns whether a first line is that of the node of a level that begins at a key. */
  private boolean isNode(long head, long address, int level, long from) {
    long descriptor = BLinkLayout.descriptor(memory, head);
    return nodes.address(head) == address
        && BLinkLayout.isDescriptor(descriptor)
        && BLinkLayout.level(descriptor) == level
        && nodes.low(head) == from
        && nodes.high(head) >= from;
  }

  /** Adds the lock in a node to those that the lost one holds, if it holds that. */
  private void noteLock(long head) {
    if (!server.options.onChipLocks()
        && LockTables.isHeldBy(lost, Words.get(memory, head + BLinkLayout.LOCK))) {
      held.add(server.locks.lockOf(nodes.address(head)));
    }
  }

  /** Returns whether nobody but the lost one may have changed a node. */
  private boolean isFrozen(long head) {
    return held.contains(server.locks.lockOf(nodes.address(head)))
        || (server.partitioned && nodes.low(head) >= low && nodes.high(head) <= high);
  }
}
