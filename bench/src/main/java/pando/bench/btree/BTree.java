package pando.bench.btree;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Words;

/**
 * The nodes of a B+-tree, named by their offsets in one segment, and their locks. The root is
 * always at offset 0; no node is ever freed.
 *
 * <p>Thread-safe by optimistic lock coupling: readers never write, and restart if a version has
 * changed; writers lock the node that they change, and its parent for a split.
 */
final class BTree implements AutoCloseable {
  static final long ROOT = 0;

  private final NativeMemory nodes;
  private final MemorySegment memory;
  private final AtomicLong used = new AtomicLong(Node.BYTES);

  /**
   * Creates an empty tree.
   *
   * @param bytes maximum size of all nodes; unused bytes cost nothing
   */
  BTree(long bytes) {
    nodes = NativeMemory.allocate(bytes);
    memory = nodes.segment();
  }

  MemorySegment memory() {
    return memory;
  }

  /** Returns the bytes that nodes take. */
  long usedBytes() {
    return used.get();
  }

  /** Takes a zeroed node. */
  long allocate() {
    long node = used.getAndAdd(Node.BYTES);
    if (node + Node.BYTES > memory.byteSize()) {
      throw new IllegalStateException("B+-tree is full: bytes=" + memory.byteSize());
    }
    return node;
  }

  /** Waits until no writer holds a node, and returns its version. */
  long version(long node) {
    for (; ; ) {
      long version = Words.getAcquire(memory, node + Node.VERSION_OFFSET);
      if ((version & 1) == 0) {
        return version;
      }
      Thread.onSpinWait();
    }
  }

  /** Returns whether a node still has this version, so that all reads since then saw one state. */
  boolean isCurrent(long node, long version) {
    // Keeps the reads of the node before the one of its version.
    VarHandle.loadLoadFence();
    return Words.getAcquire(memory, node + Node.VERSION_OFFSET) == version;
  }

  /** Locks a node if it still has this version. */
  boolean tryLock(long node, long version) {
    return Words.compareAndSet(memory, node + Node.VERSION_OFFSET, version, version + 1);
  }

  /** Unlocks a node that was changed. */
  void unlock(long node) {
    long version = Words.get(memory, node + Node.VERSION_OFFSET);
    Words.setRelease(memory, node + Node.VERSION_OFFSET, version + 1);
  }

  /**
   * Splits a full node, unless it or its parent has changed.
   *
   * @param parent not full; ignored for the root
   */
  void split(long parent, long parentVersion, long node, long version) {
    if (node == ROOT) {
      splitRoot(version);
    } else if (tryLock(parent, parentVersion)) {
      if (tryLock(node, version)) {
        long right = allocate();
        addChild(parent, moveUpperHalf(node, right), right);
        unlock(node);
      }
      unlock(parent);
    }
  }

  private void splitRoot(long version) {
    if (!tryLock(ROOT, version)) {
      return;
    }
    long left = allocate();
    long right = allocate();
    copyContent(ROOT, left);
    long separator = moveUpperHalf(left, right);
    Node.setLevel(memory, ROOT, Node.level(memory, left) + 1);
    Node.setCount(memory, ROOT, 1);
    Node.setKey(memory, ROOT, 0, separator);
    Node.setChild(memory, ROOT, 0, left);
    Node.setChild(memory, ROOT, 1, right);
    unlock(ROOT);
  }

  /** Copies all of a node but its version. */
  void copyContent(long source, long target) {
    int skipped = Node.VERSION_OFFSET + Long.BYTES;
    MemorySegment.copy(memory, source + skipped, memory, target + skipped, Node.BYTES - skipped);
  }

  /** Fills the empty right node; returns the key that separates the two. */
  private long moveUpperHalf(long node, long right) {
    int count = Node.count(memory, node);
    int kept = count / 2;
    Node.setLevel(memory, right, Node.level(memory, node));
    Node.setCount(memory, node, kept);
    if (Node.level(memory, node) == 0) {
      copy(node, right, Node.KEYS_OFFSET, Long.BYTES, kept, count - kept);
      copy(node, right, Node.VALUES_OFFSET, Long.BYTES, kept, count - kept);
      Node.setCount(memory, right, count - kept);
      Node.setNext(memory, right, Node.next(memory, node));
      Node.setNext(memory, node, right);
      return Node.key(memory, right, 0);
    }
    // The key between the two halves moves up.
    int moved = count - kept - 1;
    copy(node, right, Node.KEYS_OFFSET, Long.BYTES, kept + 1, moved);
    copy(node, right, Node.CHILDREN_OFFSET, Integer.BYTES, kept + 1, moved + 1);
    Node.setCount(memory, right, moved);
    return Node.key(memory, node, kept);
  }

  private void copy(long source, long target, int array, int width, int first, int elements) {
    MemorySegment.copy(
        memory,
        source + array + (long) first * width,
        memory,
        target + array,
        (long) elements * width);
  }

  private void addChild(long parent, long separator, long right) {
    int count = Node.count(memory, parent);
    int index = Node.upperBound(memory, parent, count, separator);
    Node.shift(memory, parent + Node.KEYS_OFFSET, index, count, Long.BYTES);
    Node.shift(memory, parent + Node.CHILDREN_OFFSET, index + 1, count + 1, Integer.BYTES);
    Node.setKey(memory, parent, index, separator);
    Node.setChild(memory, parent, index + 1, right);
    Node.setCount(memory, parent, count + 1);
  }

  @Override
  public void close() {
    nodes.close();
  }
}
