package pando.baselines.emt;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.index.pool.Catalogue;

/**
 * Changes the tree of one memory server. The caller holds the tree's latch alone.
 *
 * <p>A leaf without entries leaves the tree at once, unless it is the root: so the least key of the
 * tree is in its first leaf, and the greatest in its last. Two neighbours below one parent merge
 * where one of them has become small. Nodes come from the tree's free list, and go back to it; what
 * lacks there is found out before anything is changed. A damaged neighbour is left alone.
 */
final class EmtChanges extends EmtTree {
  /** A node with so many entries, as a share of its capacity, is merged with a neighbour. */
  private static final double SMALL = 0.25;

  /** Greatest share of its capacity that a merge fills. */
  private static final double MERGED_MAX = 0.75;

  /** The offsets of the nodes on the way to the last leaf, by level, and the children taken. */
  private final long[] path;

  private final int[] ranks;
  private final FreeNodes free;

  /** Entries or children at which a node is split. */
  private int room;

  EmtChanges(MemorySegment dram, int server, long header, Scratch scratch) {
    super(dram, server, header);
    this.path = scratch.path;
    this.ranks = scratch.ranks;
    this.free = new FreeNodes(this);
    this.room = layout.capacity();
  }

  /** Memory for the way down a tree. */
  static final class Scratch {
    private final long[] path = new long[Catalogue.LEVELS_MAX];
    private final int[] ranks = new int[Catalogue.LEVELS_MAX];
  }

  FreeNodes free() {
    return free;
  }

  @Override
  void note(int level, long node, int rank) {
    path[level] = node;
    ranks[level] = rank;
  }

  /**
   * Sets the number of entries at which nodes are split, to load entries in order.
   *
   * @param most at least 2, at most what a node has room for
   */
  void setRoom(int most) {
    room = most;
  }

  /** Returns how many free nodes it may take to add some entries in order. */
  int nodesFor(int entries) {
    return 2 * (entries / Math.max(room / 2, 1) + 1) + rootLevel() + 2;
  }

  /**
   * Returns how many free nodes it takes to add an entry to the leaf that was found last, -1 if a
   * node that would be split is damaged, or a root to be split that has the greatest level.
   */
  int nodesToInsert() {
    path[0] = leaf();
    int level = 0;
    while (level <= rootLevel() && EmtNode.count(dram, path[level]) >= room) {
      if (!EmtNode.isInOrder(dram, path[level])) {
        setDamaged(path[level]);
        return -1;
      }
      level++;
    }
    if (level <= rootLevel()) {
      return level;
    }
    if (level == Catalogue.LEVELS_MAX) {
      setDamaged(path[level - 1]);
      return -1;
    }
    return level + 1;
  }

  /** Returns whether a key may be added behind all others: greater than they, and of the tree. */
  boolean isBehindAll(long key) {
    int count = EmtNode.count(dram, leaf());
    return isAtEdge(false) && key <= get(EmtHeader.HIGH) && (count == 0 || key(count - 1) < key);
  }

  /** Adds an entry to the leaf that was found last. There are enough free nodes. */
  void insert(long key, long value) {
    path[0] = leaf();
    int rank = EmtNode.floor(dram, path[0], key) + 1;
    if (rank == 0 && EmtNode.low(dram, path[0]) == get(EmtHeader.LOW)) {
      EmtHeader.add(dram, header, EmtHeader.LEAST, 1);
    }
    if (rank == EmtNode.count(dram, path[0])
        && EmtNode.high(dram, path[0]) == get(EmtHeader.HIGH)) {
      EmtHeader.add(dram, header, EmtHeader.GREATEST, 1);
    }
    EmtHeader.add(dram, header, EmtHeader.ENTRIES, 1);
    add(0, key, value);
  }

  /** Adds an entry, or a child, to the node of a level on the path; splits it where it is full. */
  private void add(int level, long key, long value) {
    long node = path[level];
    int rank = EmtNode.floor(dram, node, key) + 1;
    if (EmtNode.count(dram, node) < room) {
      layout.insert(dram, node, rank, key, value);
      return;
    }
    if (level == rootLevel()) {
      growRoot();
    }
    long right = split(level, node, rank, key);
    long its = key < EmtNode.low(dram, right) ? node : right;
    layout.insert(dram, its, EmtNode.floor(dram, its, key) + 1, key, value);
    add(level + 1, EmtNode.low(dram, right), addressOf(right));
  }

  /** Puts a root with one child above the root. */
  private void growRoot() {
    int level = rootLevel() + 1;
    long low = get(EmtHeader.LOW);
    long root = free.take(level, low, get(EmtHeader.HIGH));
    layout.insert(dram, root, 0, low, EmtHeader.rootAddress(get(EmtHeader.ROOT)));
    setRoot(root, level);
    note(level, root, 0);
  }

  private void setRoot(long root, int level) {
    EmtHeader.set(dram, header, EmtHeader.ROOT, addressOf(root) | level);
  }

  /**
   * Moves the upper half of a node to a new one. Where the greatest key of the tree is added, all
   * stay where they are, as more of them may come in order.
   */
  private long split(int level, long node, int rank, long key) {
    int count = EmtNode.count(dram, node);
    boolean appends = rank == count && EmtNode.high(dram, node) == get(EmtHeader.HIGH);
    int kept = appends ? count : (count + 1) / 2;
    long bound = appends ? key : EmtNode.key(dram, node, kept);
    long right = free.take(level, bound, EmtNode.high(dram, node));
    layout.moveTo(dram, node, kept, right);
    EmtNode.setHigh(dram, node, bound - 1);
    return right;
  }

  /** Removes an entry of the leaf that was found last. */
  void remove(int rank) {
    path[0] = leaf();
    layout.remove(dram, path[0], rank);
    EmtHeader.add(dram, header, EmtHeader.ENTRIES, -1);
    if (EmtNode.count(dram, path[0]) == 0) {
      merge(unlink());
    } else {
      merge(0);
    }
    shrinkRoot();
  }

  /**
   * Takes a leaf without entries out of the tree, with the nodes above that have no other child. A
   * neighbour gets its keys.
   *
   * @return the level of the node that has a child less; the root's if none has
   */
  private int unlink() {
    int level = 0;
    while (level < rootLevel() && EmtNode.count(dram, path[level + 1]) == 1) {
      level++;
    }
    if (level == rootLevel()) {
      return level;
    }
    long parent = path[level + 1];
    int rank = ranks[level + 1];
    if (rank > 0 && spine(parent, rank - 1, level, false, false)) {
      spine(parent, rank - 1, level, false, true);
    } else if (rank + 1 < EmtNode.count(dram, parent)
        && spine(parent, rank + 1, level, true, false)) {
      spine(parent, rank + 1, level, true, true);
      rank = takePlace(parent, rank);
    } else {
      return rootLevel();
    }
    layout.remove(dram, parent, rank);
    for (int freed = 0; freed <= level; freed++) {
      free.add(path[freed]);
    }
    return level + 1;
  }

  /** Lets the child behind another one take its place; returns the rank that is to be removed. */
  private int takePlace(long parent, int rank) {
    layout.setValue(dram, parent, rank, layout.value(dram, parent, rank + 1));
    return rank + 1;
  }

  /**
   * Walks the nodes on one edge of a child, down to its leaf.
   *
   * @param first whether the edge is that of the least keys
   * @param widens whether to widen the nodes, to the keys of the child beside that edge
   * @return whether they are whole
   */
  private boolean spine(long parent, int child, int childLevel, boolean first, boolean widens) {
    int beside = first ? child - 1 : child + 1;
    long newLow = EmtNode.key(dram, parent, beside);
    long newHigh = EmtNode.childHigh(dram, parent, beside);
    long low = EmtNode.key(dram, parent, child);
    long high = EmtNode.childHigh(dram, parent, child);
    long address = layout.value(dram, parent, child);
    for (int level = childLevel; isNode(address, level, low, high); level--) {
      long node = GlobalAddress.offset(address);
      int last = EmtNode.count(dram, node) - 1;
      if (level > 0) {
        address = layout.value(dram, node, first ? 0 : last);
        low = first ? low : EmtNode.key(dram, node, last);
        high = first ? EmtNode.childHigh(dram, node, 0) : high;
      }
      if (widens && first) {
        EmtNode.setLow(dram, node, newLow);
      } else if (widens) {
        EmtNode.setHigh(dram, node, newHigh);
      }
      if (level == 0) {
        return true;
      }
    }
    return false;
  }

  /** Merges nodes on the path that have become small with neighbours, from a level on. */
  private void merge(int from) {
    int small = (int) (layout.capacity() * SMALL);
    for (int level = from; level < rootLevel(); level++) {
      boolean isSmall = EmtNode.count(dram, path[level]) <= small;
      if (!isSmall || !mergeBeside(level)) {
        return;
      }
    }
  }

  private boolean mergeBeside(int level) {
    int rank = ranks[level + 1];
    return (rank > 0 && mergeInto(level, rank - 1))
        || (rank + 1 < EmtNode.count(dram, path[level + 1]) && mergeInto(level, rank));
  }

  /** Merges a child of a node on the path with the next one, if they have room in one. */
  private boolean mergeInto(int level, int rank) {
    long parent = path[level + 1];
    long bound = EmtNode.key(dram, parent, rank + 1);
    long leftAddress = layout.value(dram, parent, rank);
    long rightAddress = layout.value(dram, parent, rank + 1);
    long high = EmtNode.childHigh(dram, parent, rank + 1);
    if (!isNode(leftAddress, level, EmtNode.key(dram, parent, rank), bound - 1)
        || !isNode(rightAddress, level, bound, high)) {
      return false;
    }
    long left = GlobalAddress.offset(leftAddress);
    long right = GlobalAddress.offset(rightAddress);
    int together = EmtNode.count(dram, left) + EmtNode.count(dram, right);
    if (together > layout.capacity() * MERGED_MAX
        || !EmtNode.isInOrder(dram, left)
        || !EmtNode.isInOrder(dram, right)) {
      return false;
    }
    layout.moveTo(dram, right, 0, left);
    EmtNode.setHigh(dram, left, high);
    layout.remove(dram, parent, rank + 1);
    free.add(right);
    return true;
  }

  /** Takes roots with one child away. */
  private void shrinkRoot() {
    int level = rootLevel();
    long root = GlobalAddress.offset(EmtHeader.rootAddress(get(EmtHeader.ROOT)));
    while (level > 0 && EmtNode.count(dram, root) == 1) {
      long child = layout.value(dram, root, 0);
      if (!isNode(child, level - 1, get(EmtHeader.LOW), get(EmtHeader.HIGH))) {
        return;
      }
      free.add(root);
      root = GlobalAddress.offset(child);
      level--;
      setRoot(root, level);
    }
  }

  /** Puts all nodes on the free list, as far as they are whole. There is no tree then. */
  void drop() {
    long root = get(EmtHeader.ROOT);
    EmtHeader.set(dram, header, EmtHeader.ROOT, GlobalAddress.NULL);
    drop(
        EmtHeader.rootAddress(root),
        EmtHeader.rootLevel(root),
        get(EmtHeader.LOW),
        get(EmtHeader.HIGH));
  }

  private void drop(long address, int level, long low, long high) {
    if (!isNode(address, level, low, high)) {
      return;
    }
    long node = GlobalAddress.offset(address);
    for (int rank = 0; level > 0 && rank < EmtNode.count(dram, node); rank++) {
      drop(
          layout.value(dram, node, rank),
          level - 1,
          EmtNode.key(dram, node, rank),
          EmtNode.childHigh(dram, node, rank));
    }
    free.add(node);
  }
}
