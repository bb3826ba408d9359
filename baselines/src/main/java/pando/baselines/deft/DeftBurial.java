package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import pando.baselines.blink.Children;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;

/**
 * Ends what compute servers that are lost were doing to the tree: completes or undoes their
 * changes. They are fenced, and all others are quiet (see {@link Drainer}). Can be done again where
 * it fails.
 */
final class DeftBurial {
  /*
   * While all others are quiet, whatever is half done is a lost one's. No session writes down what
   * it is about to do; the nodes show it. A walk goes from the root down, and on each level from
   * the left to the right. It READs all inner nodes, and the first line of each leaf:
   *
   *   what a lost one had done last     what is there                     what is done
   *   change of an entry, no checksum   a leaf with a wrong checksum      the checksum is written
   *   split: the sibling, hidden        nothing leads to it               nothing
   *   split: the node                   its sibling is hidden             the sibling is shown
   *   merge: the right node, hidden     the left one's sibling is hidden  the right one is shown
   *   merge: the left node              it covers keys of the next child  that child is taken out
   *   merge: the parent                 nothing leads to the right one    nothing
   *   new root, hidden; old root,       the root is hidden                the root is shown
   *   hidden, before another is set
   *   some entries of a part            the node is locked                it is arranged anew
   *
   * What the lost ones had allocated and nothing leads to stays so.
   */

  private static final int HEAD = NodeHeader.BYTES;

  /** Local offset of the inner node whose children are mended. */
  private static final long PARENT = 0;

  private final PoolChange change;
  private final DeftServer server;
  private final Worker worker;
  private final MemorySegment memory;
  private final InnerLayout inners;
  private final DeftNodes nodes;
  private final Children children;
  private final VerbList list = new VerbList();
  private final int nodeBytes;

  /** Whether a leaf that is locked may have a wrong checksum. */
  private final boolean sums;

  /** Local offset of a node that is mended. */
  private final long node;

  /**
   * Local offsets of the first lines of children, of the words of their locks, and of a sibling.
   */
  private final long heads;

  private final long words;
  private final long sibling;

  /**
   * Prepares a burial.
   *
   * @param change has local memory of {@link #bytes}
   */
  DeftBurial(PoolChange change, DeftServer server) {
    this.change = change;
    this.server = server;
    this.worker = change.worker();
    this.memory = worker.memory();
    this.inners = server.inners;
    this.nodeBytes = inners.nodeBytes();
    this.sums = server.validation == DeftValidation.CHECKSUM;
    int most = inners.capacity();
    this.children = new Children(most);
    this.node = PARENT + nodeBytes;
    this.heads = node + nodeBytes;
    this.sibling = heads + (long) most * HEAD;
    this.words = sibling + HEAD;
    this.nodes = new DeftNodes(server, worker, words);
  }

  /** Returns the bytes of local memory that a burial needs. */
  static long bytes(DeftServer server) {
    long most = server.inners.capacity();
    return 2L * server.inners.nodeBytes() + (most + 1) * HEAD + most * Long.BYTES;
  }

  /** Buries the lost ones. */
  void bury() {
    long root = change.catalogue().root();
    int level = Catalogue.rootLevel(root);
    children.becomeRoot(ChildPointer.toLeaf(Catalogue.rootAddress(root)));
    readHeads();
    mendChildren(level);
    for (long first = Catalogue.rootAddress(root); level > 0; level--) {
      first = mendBelow(first, level);
    }
  }

  /** Mends the children of all nodes of a level; returns the address of the first child. */
  private long mendBelow(long first, int level) {
    long firstChild = GlobalAddress.NULL;
    long low = Long.MIN_VALUE;
    for (long address = first; address != GlobalAddress.NULL; address = nodes.sibling(PARENT)) {
      readParent(address, level, low);
      readHeads();
      if (mendChildren(level - 1)) {
        rewriteParent();
      }
      if (address == first) {
        firstChild = ChildPointer.address(children.pointers[0]);
      }
      low = nodes.high(PARENT) + 1;
    }
    return firstChild;
  }

  /** READs an inner node, and writes it anew if it is locked. */
  private void readParent(long address, int level, long low) {
    long word = server.locks.wordOf(address);
    worker.read(address, PARENT, nodeBytes);
    nodes.copyChildren(PARENT, children);
    worker.read(word, words, Long.BYTES);
    if (isLocked(words)) {
      rewriteParent();
    }
    if (nodes.checkHeld(address, level, low, PARENT) != DeftNodes.COVERS) {
      throw notExpected(address, low);
    }
  }

  private void rewriteParent() {
    inners.arrange(memory, PARENT, children, 0, children.count);
    nodes.write(PARENT);
  }

  private boolean isLocked(long local) {
    long word = Words.get(memory, local);
    return server.options.sxLocks() ? !SxWord.isIdle(word) : word != 0;
  }

  private static CorruptNodeException notExpected(long address, long low) {
    return new CorruptNodeException(address, "is not the node that covers key=" + low);
  }

  /** READs the first lines of all children, and the words of their locks where they matter. */
  private void readHeads() {
    list.clear();
    for (int i = 0; i < children.count; i++) {
      long address = ChildPointer.address(children.pointers[i]);
      list.read(address, heads + (long) i * HEAD, HEAD);
      if (sums) {
        list.read(server.locks.wordOf(address), words + (long) i * Long.BYTES, Long.BYTES);
      }
    }
    worker.scatter(list);
  }

  /**
   * Mends the children of the parent, and the nodes between them to which no parent leads yet;
   * returns whether some were taken out.
   */
  private boolean mendChildren(int level) {
    int count = children.count;
    int index = 0;
    long covered = Long.MIN_VALUE;
    for (int turn = 0; turn < count; turn++) {
      if (index > 0 && covered >= children.keys[index]) {
        children.remove(index);
        continue;
      }
      long address = ChildPointer.address(children.pointers[index]);
      long head = heads + (long) turn * HEAD;
      if (level == 0 && sums && isLocked(words + (long) turn * Long.BYTES)) {
        mendChecksum(address);
      }
      covered = mend(address, head, level, children.keys[index], children.highOf(index));
      index++;
    }
    return index < count;
  }

  /** Shows a node and those behind it up to a key, if they are hidden; returns what they cover. */
  private long mend(long first, long firstHead, int level, long low, long bound) {
    long address = first;
    long head = firstHead;
    long from = low;
    while (true) {
      show(address, head, level, from);
      long high = nodes.high(head);
      if (high >= bound) {
        return high;
      }
      from = high + 1;
      address = nodes.sibling(head);
      if (!server.places.isNodeAddress(address)) {
        throw notExpected(address, from);
      }
      worker.read(address, sibling, HEAD);
      head = sibling;
    }
  }

  private void show(long address, long head, int level, long low) {
    long first = NodeHeader.first(memory, head);
    boolean leaf = NodeHeader.isLeaf(first);
    if (nodes.address(head) != address
        || nodes.low(head) != low
        || nodes.high(head) < low
        || (leaf ? 0 : InnerLayout.level(first)) != level) {
      throw notExpected(address, low);
    }
    if (leaf ? DeftLeafLayout.isHidden(first) : InnerLayout.isHidden(first)) {
      worker.read(address, node, nodeBytes);
      if (leaf) {
        server.leaves.show(memory, node);
      } else {
        InnerLayout.setHidden(memory, node, false);
      }
      nodes.write(node);
    }
  }

  /** Writes the checksum of a leaf that is locked. */
  private void mendChecksum(long address) {
    worker.read(address, node, nodeBytes);
    nodes.write(node);
  }
}
