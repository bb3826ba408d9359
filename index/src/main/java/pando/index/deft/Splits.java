package pando.index.deft;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.cache.Children;
import pando.index.pool.Catalogue;

/** Splits full nodes, and makes known above what has changed below. */
final class Splits {
  /*
   * The upper half of a node moves to a new sibling, under the exclusive locks of both: an old pointer
   * may lead to the sibling's place, and who came by it would change there what is still in the node as
   * well. The sibling is written first, hidden, as nobody may find there yet what is new. Then the node
   * is written without that half and with its sibling, then the sibling is shown and the locks let go
   * of: from there on the new node is reached through the old one, and the node above is told under its
   * own lock. The sibling's lock is taken without waiting, as another is held: where somebody has it,
   * for a node that shares the word, another place is taken.
   *
   * A pointer says how its inner node is divided and which version it has. Both change when the node
   * is written anew, and then the node above is told, too. It asks the node for both under its own
   * lock, so that of two who tell it of one node the later one is right. Until then, and where it is
   * never told, readers find the version wrong and read the whole node.
   */

  /** Places whose locks somebody has, before a split gives up. */
  private static final int REFUSALS_MAX = 8;

  private static final int ATTEMPTS_MAX = 100;
  private static final long NOTHING = -1;

  private final DeftServer server;
  private final LeafLayout leaves;
  private final InnerLayout inners;
  private final Nodes nodes;
  private final NodeLocks locks;
  private final Descent descent;
  private final Catalogue catalogue;
  private final Worker worker;
  private final MemorySegment memory;
  private final long sibling;
  private final long parent;
  private final long word;
  private final long message;
  private final VerbList list = new VerbList();
  private final long[] keys;
  private final long[] values;
  private final long[] crowded;
  private final Children children;

  /** New nodes whose locks somebody has. */
  private final long[] refused = new long[REFUSALS_MAX];

  /** Whether something that a split writes may be in the tree. */
  private boolean begun;

  /** Where in local memory the node starts whose split is under way. */
  private long unfinished = NOTHING;

  /** The first word that the node had before it was split. */
  private long firstBefore;

  /** The high fence that it had before. */
  private long highBefore;

  Splits(DeftContext context, Descent descent) {
    this.server = context.server;
    this.leaves = server.leaves;
    this.inners = server.inners;
    this.nodes = context.nodes;
    this.locks = context.locks;
    this.descent = descent;
    this.catalogue = context.catalogue;
    this.worker = context.worker;
    this.memory = context.memory;
    this.sibling = context.sibling;
    this.parent = context.parent;
    this.word = context.operands;
    this.message = context.message;
    this.keys = new long[leaves.capacity() + 1];
    this.values = new long[leaves.capacity() + 1];
    this.crowded = new long[leaves.capacity() + 1];
    this.children = new Children(inners.capacity() + 1);
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
   * Splits a leaf that is held alone and has no room for an entry, adds the entry, lets go of the
   * lock and makes the new leaf known.
   *
   * @throws PoolFullException where there is no room for another leaf; nothing was changed then
   */
  void splitLeaf(long leaf, long key, long value) {
    noteBefore(leaf);
    long high = NodeHeader.high(memory, leaf);
    long next = NodeHeader.sibling(memory, leaf);
    int count = collect(leaf, key, value);
    long added = allocateLocked(NodeHeader.address(memory, leaf));
    int kept = count / 2;
    leaves.format(memory, sibling, added, keys[kept], high, next);
    if (!divide(leaf, kept, count)) {
      kept = cutThroughBucket(key, count);
      leaves.format(memory, sibling, added, keys[kept], high, next);
      if (!divide(leaf, kept, count)) {
        throw new IllegalStateException("halves of a leaf have no room: key=" + key);
      }
    }
    long low = keys[kept];
    NodeHeader.setFences(memory, leaf, NodeHeader.low(memory, leaf), low - 1);
    NodeHeader.setSibling(memory, leaf, added);
    leaves.seal(memory, leaf, server.nextStamp(), false);
    leaves.seal(memory, sibling, server.nextStamp(), true);
    write(leaf, added);
    announce(0, low, ChildPointer.toLeaf(added));
  }

  /** Notes what tells, after a failure, whether a node was written meanwhile. */
  private void noteBefore(long node) {
    firstBefore = NodeHeader.first(memory, node);
    highBefore = NodeHeader.high(memory, node);
  }

  /** Copies the entries of a leaf, ascending, and one more; returns their number. */
  private int collect(long leaf, long key, long value) {
    int count = leaves.copySorted(memory, leaf, Long.MIN_VALUE, Long.MAX_VALUE, keys, values);
    int at = count;
    while (at > 0 && keys[at - 1] > key) {
      keys[at] = keys[at - 1];
      values[at] = values[at - 1];
      at--;
    }
    keys[at] = key;
    values[at] = value;
    return count + 1;
  }

  /** Puts entries into a leaf and its sibling; {@code false} where their buckets have no room. */
  private boolean divide(long leaf, int kept, int count) {
    leaves.clearEntries(memory, leaf);
    boolean fit = true;
    for (int i = 0; i < count && fit; i++) {
      fit = leaves.add(memory, i < kept ? leaf : sibling, keys[i], values[i]);
    }
    return fit;
  }

  /** Returns where to cut so that the keys that share lines with one are halved. */
  private int cutThroughBucket(long key, int count) {
    int sharing = 0;
    for (int i = 0; i < count; i++) {
      if (leaves.shareLines(keys[i], key)) {
        crowded[sharing++] = keys[i];
      }
    }
    return Arrays.binarySearch(keys, 0, count, crowded[sharing / 2]);
  }

  /** Writes a node that was split and its new sibling, and lets go of both locks. */
  private void write(long node, long added) {
    long address = NodeHeader.address(memory, node);
    boolean together = GlobalAddress.server(added) == GlobalAddress.server(address);
    try {
      nodes.addWrite(list.clear(), sibling);
      worker.post(list);
      begun = true;
      unfinished = node;
    } finally {
      if (unfinished == NOTHING) {
        server.allocator.free(worker, message, added);
      }
    }
    nodes.addWrite(list.clear(), node);
    if (!together) {
      worker.post(list);
      list.clear();
    }
    show(sibling);
    nodes.addWrite(list, sibling);
    if (!together) {
      worker.post(list);
      list.clear();
    }
    locks.writeAndUnlock(address, list);
    unfinished = NOTHING;
    locks.unlock(added);
  }

  /** Allocates a node near another and takes its lock. */
  private long allocateLocked(long near) {
    int refusals = 0;
    try {
      while (refusals < REFUSALS_MAX) {
        long address = server.allocator.allocate(worker, message, GlobalAddress.server(near));
        refused[refusals++] = address;
        if (locks.tryExclusive(address)) {
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

  /**
   * Writes, after a failure, what a split has not, while its nodes are still locked: else what the
   * sibling was to hold would stay hidden.
   */
  void complete() {
    if (unfinished == NOTHING) {
      return;
    }
    long address = NodeHeader.address(memory, unfinished);
    PandoException failure = null;
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      try {
        // Its lock may have been let go of: then the node was written, and is another's to change.
        if (isAsBefore(address)) {
          nodes.addWrite(list.clear(), unfinished);
          worker.post(list);
        }
        show(sibling);
        nodes.addWrite(list.clear(), sibling);
        worker.post(list);
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

  private boolean isAsBefore(long address) {
    return readWord(address) == firstBefore && readWord(address + NodeHeader.HIGH) == highBefore;
  }

  private long readWord(long address) {
    worker.read(address, word, Long.BYTES);
    return Words.get(memory, word);
  }

  private void show(long node) {
    if (NodeHeader.isLeaf(NodeHeader.first(memory, node))) {
      leaves.show(memory, node);
    } else {
      InnerLayout.setHidden(memory, node, false);
    }
  }

  /** Makes a new node known to the level above. */
  private void announce(int level, long low, long pointer) {
    try {
      insertAbove(level + 1, low, pointer);
    } catch (PoolFullException noRoomAbove) {
      // The entry is stored and the tree is right: the sibling is reached through the node, which
      // costs a READ more, as in the moment before.
      locks.abandon(noRoomAbove);
    }
  }

  private void insertAbove(int level, long low, long pointer) {
    for (int attempt = 0; attempt < Descent.RESTARTS_MAX; attempt++) {
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
            + GlobalAddress.toString(ChildPointer.address(pointer)));
  }

  /** Adds a child to the node that is held in {@link #parent}, and lets go of its lock. */
  private void insert(int level, long low, long pointer) {
    long address = descent.node;
    copyParent();
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
    long lowOfParent = NodeHeader.low(memory, parent);
    if (children.count <= inners.capacity()) {
      inners.arrange(memory, parent, children, 0, children.count);
      nodes.addWrite(list.clear(), parent);
      locks.writeAndUnlock(address, list);
    } else {
      splitParent(level, address);
    }
    refresh(level, lowOfParent, address);
  }

  private void copyParent() {
    long low = NodeHeader.low(memory, parent);
    long high = NodeHeader.high(memory, parent);
    inners.copyChildren(memory, parent, Shape.WHOLE, 0, low, high, children);
  }

  private void splitParent(int level, long address) {
    noteBefore(parent);
    long high = NodeHeader.high(memory, parent);
    long next = NodeHeader.sibling(memory, parent);
    int kept = children.count / 2;
    long low = children.keys[kept];
    long added = allocateLocked(address);
    inners.format(memory, sibling, added, level, low, high, next, server.nextStamp());
    long pointer = inners.arrange(memory, sibling, children, kept, children.count);
    InnerLayout.setHidden(memory, sibling, true);
    NodeHeader.setFences(memory, parent, NodeHeader.low(memory, parent), low - 1);
    NodeHeader.setSibling(memory, parent, added);
    inners.arrange(memory, parent, children, 0, kept);
    write(parent, added);
    announce(level, low, pointer);
  }

  /** Tells the node above what has become of an inner node that was written anew. */
  void refresh(int level, long low, long address) {
    for (int attempt = 0; attempt < Descent.RESTARTS_MAX; attempt++) {
      if (!descent.find(low, level + 1)) {
        // It is the root, unless another has put one above it since: then readers take it as a
        // whole.
        return;
      }
      if (descent.lockCovering(level + 1, low, parent, attempt)) {
        refreshPointer(low, address);
        return;
      }
    }
    throw new StalledException(
        "no place above a node that has changed: level="
            + (level + 1)
            + ", low="
            + low
            + ", node="
            + GlobalAddress.toString(address));
  }

  /** Refreshes a pointer of the node that is held in {@link #parent}, and lets go of its lock. */
  private void refreshPointer(long low, long address) {
    copyParent();
    int child = Arrays.binarySearch(children.keys, 0, children.count, low);
    list.clear();
    if (child >= 0 && ChildPointer.address(children.pointers[child]) == address) {
      long pointer = InnerLayout.pointerTo(address, readWord(address));
      inners.replace(memory, parent, low, pointer, list);
      nodes.addChecksum(list, parent);
    }
    locks.writeAndUnlock(descent.node, list);
  }

  /** Puts a root above the present one, with that as its only child, if the tree is too low. */
  private void grow(int level) {
    long root = catalogue.root();
    int above = Catalogue.rootLevel(root) + 1;
    if (above <= level) {
      long below = Catalogue.rootAddress(root);
      long address = allocateLocked(below);
      boolean used = false;
      try {
        writeRoot(below, address, above);
        // Where that fails it may be the root all the same.
        used = true;
        used = makeRoot(root, address, above);
        locks.unlock(address);
      } finally {
        if (!used) {
          server.allocator.free(worker, message, address);
        }
      }
    }
    server.setRoot(catalogue.root(), worker.backoff());
  }

  private void writeRoot(long below, long address, int level) {
    children.count = 0;
    long pointer = InnerLayout.pointerTo(below, readWord(below));
    InnerLayout.insert(children, Long.MIN_VALUE, pointer);
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
    nodes.addWrite(list.clear(), sibling);
    worker.post(list);
    InnerLayout.setHidden(memory, sibling, false);
  }

  /**
   * Makes a hidden node the root, and shows it. Asks again where a verb fails, as without its root
   * the tree is lost: while it is locked, nobody else can change or replace it.
   *
   * @return whether it is the root; else there is another one already
   */
  private boolean makeRoot(long before, long address, int level) {
    PandoException failure = null;
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      try {
        boolean isRoot =
            (attempt > 0 && Catalogue.rootAddress(catalogue.root()) == address)
                || catalogue.replaceRoot(before, address, level);
        if (isRoot) {
          nodes.addWrite(list.clear(), sibling);
          worker.post(list);
        }
        return isRoot;
      } catch (PandoException e) {
        failure = e;
        worker.backoff().pauseBriefly(attempt);
      }
    }
    throw new StalledException(
        "a new root stays hidden: node="
            + GlobalAddress.toString(address)
            + ", because="
            + failure);
  }
}
