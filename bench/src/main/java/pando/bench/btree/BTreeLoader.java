package pando.bench.btree;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import pando.index.EntrySource;

/** Builds an empty tree from the leaves up, one open node per level. */
final class BTreeLoader {
  private final BTree tree;
  private final MemorySegment memory;
  private final int leafFill;
  private final int innerFill;

  /** The node being filled on each level, from the leaves up. */
  private final List<Long> open = new ArrayList<>();

  BTreeLoader(BTree tree, double fill) {
    this.tree = tree;
    memory = tree.memory();
    leafFill = Math.max(1, (int) (Node.LEAF_CAPACITY * fill));
    innerFill = Math.max(1, (int) (Node.INNER_CAPACITY * fill));
  }

  void load(EntrySource entries) {
    open.add(tree.allocate());
    while (entries.next()) {
      addEntry(entries.key(), entries.value());
    }
    tree.copyContent(open.getLast(), BTree.ROOT);
  }

  private void addEntry(long key, long value) {
    long leaf = open.getFirst();
    int count = Node.count(memory, leaf);
    if (count == leafFill) {
      long right = tree.allocate();
      Node.setNext(memory, leaf, right);
      addNode(1, key, leaf, right);
      open.set(0, right);
      leaf = right;
      count = 0;
    }
    Node.setKey(memory, leaf, count, key);
    Node.setValue(memory, leaf, count, value);
    Node.setCount(memory, leaf, count + 1);
  }

  /**
   * Adds a node of the level below, whose keys start at {@code key}, to the right of the node
   * {@code left}.
   */
  private void addNode(int level, long key, long left, long right) {
    if (level == open.size()) {
      open.add(newInner(level, left));
    }
    long parent = open.get(level);
    int count = Node.count(memory, parent);
    if (count == innerFill) {
      long next = newInner(level, right);
      addNode(level + 1, key, parent, next);
      open.set(level, next);
      return;
    }
    Node.setKey(memory, parent, count, key);
    Node.setChild(memory, parent, count + 1, right);
    Node.setCount(memory, parent, count + 1);
  }

  private long newInner(int level, long firstChild) {
    long node = tree.allocate();
    Node.setLevel(memory, node, level);
    Node.setChild(memory, node, 0, firstChild);
    return node;
  }
}
