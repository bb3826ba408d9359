package pando.bench.btree;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import pando.bench.subject.Access;
import pando.index.EntryVisitor;

/** One thread's operations on a {@link BTree}. */
final class BTreeAccess implements Access {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final BTree tree;
  private final MemorySegment memory;
  private final long[] keys = new long[Node.LEAF_CAPACITY];
  private final long[] values = new long[Node.LEAF_CAPACITY];

  /** The leaf at which the last descent ended, and its version at that time. */
  private long leaf;

  private long version;

  /** The leaf to the right of the one copied last. */
  private long next;

  private long value;

  /** Keeps the loads that touch a leaf from being optimised away. */
  @SuppressWarnings("UnusedVariable")
  private long touched;

  BTreeAccess(BTree tree) {
    this.tree = tree;
    memory = tree.memory();
  }

  @Override
  public long value() {
    return value;
  }

  @Override
  public boolean get(long key) {
    boolean found;
    do {
      descend(key);
      found = find(key) >= 0;
    } while (!tree.isCurrent(leaf, version));
    return found;
  }

  @Override
  public boolean update(long key, long newValue) {
    for (; ; ) {
      descend(key);
      int index = find(key);
      if (index < 0) {
        if (tree.isCurrent(leaf, version)) {
          return false;
        }
      } else if (tree.tryLock(leaf, version)) {
        Node.setValue(memory, leaf, index, newValue);
        tree.unlock(leaf);
        return true;
      }
    }
  }

  @Override
  public boolean insert(long key, long newValue) {
    for (; ; ) {
      if (!tryDescend(key, true)) {
        continue;
      }
      if (find(key) >= 0) {
        if (tree.isCurrent(leaf, version)) {
          return false;
        }
      } else if (tree.tryLock(leaf, version)) {
        addEntry(key, newValue);
        tree.unlock(leaf);
        return true;
      }
    }
  }

  @Override
  public long scan(long from, long to, long limit, EntryVisitor visitor) {
    int count;
    do {
      descend(from);
      count = copyLeaf();
    } while (!tree.isCurrent(leaf, version));
    int index = lowerBound(count, from);
    for (long visited = 0; ; ) {
      for (; index < count; index++) {
        if (visited == limit || keys[index] > to) {
          return visited;
        }
        visited++;
        if (!visitor.visit(keys[index], values[index])) {
          return visited;
        }
      }
      if (next == 0) {
        return visited;
      }
      count = copyNextLeaf();
      index = 0;
    }
  }

  @Override
  public void close() {}

  private void addEntry(long key, long newValue) {
    int count = Node.count(memory, leaf);
    int index = Node.lowerBound(memory, leaf, count, key);
    Node.shift(memory, leaf + Node.KEYS_OFFSET, index, count, Long.BYTES);
    Node.shift(memory, leaf + Node.VALUES_OFFSET, index, count, Long.BYTES);
    Node.setKey(memory, leaf, index, key);
    Node.setValue(memory, leaf, index, newValue);
    Node.setCount(memory, leaf, count + 1);
  }

  /**
   * Searches the leaf for a key and keeps its value; returns -1 if the key is absent. The caller
   * must validate the leaf.
   */
  private int find(long key) {
    int count = Node.count(memory, leaf);
    int index = Node.lowerBound(memory, leaf, count, key);
    if (index == count || Node.key(memory, leaf, index) != key) {
      return -1;
    }
    value = Node.value(memory, leaf, index);
    return index;
  }

  /** Goes down to the leaf that a key belongs to. */
  private void descend(long key) {
    while (!tryDescend(key, false)) {
      Thread.onSpinWait();
    }
  }

  /**
   * Goes down to the leaf that a key belongs to, and may split a full node on the way.
   *
   * @return whether the descent reached the leaf; if splitting, the leaf is then not full
   */
  private boolean tryDescend(long key, boolean splitting) {
    long parent = BTree.ROOT;
    long parentVersion = 0;
    long node = BTree.ROOT;
    long nodeVersion = tree.version(node);
    for (; ; ) {
      if (splitting && Node.isFull(memory, node)) {
        tree.split(parent, parentVersion, node, nodeVersion);
        return false;
      }
      if (Node.level(memory, node) == 0) {
        leaf = node;
        version = nodeVersion;
        return true;
      }
      int index = Node.upperBound(memory, node, Node.count(memory, node), key);
      long child = Node.child(memory, node, index);
      // First check that the child pointer is valid; then that the child still covered the key when
      // its version was read.
      if (!tree.isCurrent(node, nodeVersion)) {
        return false;
      }
      if (Node.level(memory, node) == 1) {
        touched += Node.touch(memory, child);
      }
      long childVersion = tree.version(child);
      if (!tree.isCurrent(node, nodeVersion)) {
        return false;
      }
      parent = node;
      parentVersion = nodeVersion;
      node = child;
      nodeVersion = childVersion;
    }
  }

  /**
   * Copies the leaf's entries and link; returns the number of entries. The caller must validate the
   * leaf.
   */
  private int copyLeaf() {
    // A leaf root that is becoming an inner node may show more.
    int count = Math.min(Node.count(memory, leaf), Node.LEAF_CAPACITY);
    MemorySegment.copy(memory, LONG, leaf + Node.KEYS_OFFSET, keys, 0, count);
    MemorySegment.copy(memory, LONG, leaf + Node.VALUES_OFFSET, values, 0, count);
    next = Node.next(memory, leaf);
    return count;
  }

  private int copyNextLeaf() {
    leaf = next;
    int count;
    do {
      version = tree.version(leaf);
      count = copyLeaf();
    } while (!tree.isCurrent(leaf, version));
    return count;
  }

  private int lowerBound(int count, long key) {
    int index = Arrays.binarySearch(keys, 0, count, key);
    return index < 0 ? -index - 1 : index;
  }
}
