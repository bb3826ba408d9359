package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.dex.node.NodeLayout;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;

/** Looks at a DEX tree for a change of its partitions, or of the tree as a whole. */
final class Topology {
  private static final int READS_MAX = 20;
  private static final int WALKS_MAX = 1_000;

  /** Number of separators whose middle one divides a range well enough. */
  private static final int ENOUGH = 4;

  /** Places for keys: the high fence of a child at each level, and bounds of what is searched. */
  private static final int LEAST = NodeLayout.LEVELS_MAX;

  private static final int GREATEST = LEAST + 1;
  private static final int FROM = LEAST + 2;
  private static final int TO = LEAST + 3;
  private static final int KEYS = LEAST + 4;

  private final PoolChange change;
  private final Worker worker;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final NodeGuard guard;

  /**
   * Creates what looks at a tree.
   *
   * @param change has {@link #bytes} of local memory
   */
  Topology(PoolChange change, Fabric fabric, NodeLayout layout) {
    this.change = change;
    this.worker = change.worker();
    this.layout = layout;
    this.memory = worker.memory();
    this.guard = new NodeGuard(fabric, layout);
  }

  /** Returns the local memory that it needs. */
  static long bytes(NodeLayout layout) {
    return layout.offset(NodeLayout.LEVELS_MAX) + (long) KEYS * layout.keyBytes();
  }

  /**
   * Returns the addresses of all nodes of a tree without entries.
   *
   * @throws IllegalStateException if it has entries
   */
  List<Long> nodesOfEmptyTree(long root) {
    List<Long> addresses = new ArrayList<>();
    collect(Catalogue.rootAddress(root), Catalogue.rootLevel(root), least(), greatest(), addresses);
    return addresses;
  }

  private void collect(long address, int level, long low, long high, List<Long> addresses) {
    long node = read(address, level, low, high);
    int count = NodeLayout.count(memory, node);
    if (level == 0 && count > 0) {
      throw new IllegalStateException(
          "the index is not empty: leaf=" + GlobalAddress.toString(address) + ", entries=" + count);
    }
    addresses.add(address);
    for (int i = 0; i < count && level > 0; i++) {
      collect(
          layout.slot(memory, node, i),
          level - 1,
          layout.key(memory, node, i),
          highOfChild(node, level, i),
          addresses);
    }
  }

  /** Computes the greatest key of a child of a node that was read at a level. */
  long highOfChild(long node, int level, int index) {
    return layout.highOfChild(memory, node, index, key(level));
  }

  private long key(int place) {
    return layout.offset(NodeLayout.LEVELS_MAX) + (long) place * layout.keyBytes();
  }

  private long least() {
    return layout.least(memory, Long.MIN_VALUE, key(LEAST));
  }

  /** Returns the least key with a first word. */
  long least(long first) {
    return layout.least(memory, first, key(FROM));
  }

  /** Returns the greatest key with a first word. */
  long greatest(long first) {
    return layout.greatest(memory, first, key(TO));
  }

  private long greatest() {
    return layout.greatest(memory, Long.MAX_VALUE, key(GREATEST));
  }

  /**
   * Returns the first word of a low fence, at or below the least key with this first word: that of
   * its leaf, or of the next leaf below whose fence is the least key with its own first word. No
   * session may change the leaves meanwhile.
   */
  long fence(long first) {
    long probe = first;
    while (true) {
      long wanted = probe;
      long low = walk(() -> leafFence(wanted));
      if (layout.endsWith(memory, low, Long.MIN_VALUE)) {
        return layout.first(memory, low);
      }
      probe = layout.first(memory, low);
    }
  }

  /** What is done with the inner nodes on a path, from the root down, before each is read. */
  interface PathVisitor {
    /**
     * Visits a node.
     *
     * @param low least key that its parent leads to it for
     * @param high greatest one
     */
    void visit(long address, int level, long low, long high);
  }

  /** Visits the inner nodes on the path to a key; again if shared nodes changed meanwhile. */
  void descend(long key, PathVisitor visitor) {
    walk(() -> leafFence(key, visitor));
  }

  /** Runs a walk down the tree, and repeats it if shared nodes changed meanwhile. */
  private long walk(LongSupplier walk) {
    for (int attempt = 0; ; attempt++) {
      try {
        return walk.getAsLong();
      } catch (CorruptNodeException e) {
        if (attempt == WALKS_MAX) {
          throw e;
        }
        worker.backoff().pause(attempt);
      }
    }
  }

  private long leafFence(long first) {
    return leafFence(least(first), (_, _, _, _) -> {});
  }

  private long leafFence(long key, PathVisitor visitor) {
    long root = change.catalogue().root();
    long address = Catalogue.rootAddress(root);
    long low = least();
    long high = greatest();
    for (int level = Catalogue.rootLevel(root); level > 0; level--) {
      visitor.visit(address, level, low, high);
      long node = read(address, level, low, high);
      int index = layout.floor(memory, node, key);
      low = layout.key(memory, node, index);
      high = highOfChild(node, level, index);
      address = layout.slot(memory, node, index);
    }
    return low;
  }

  /**
   * Returns a fence about half-way between two keys, or one at or below the lower key if there is
   * none.
   */
  long middleFence(long from, long to) {
    return fence(walk(() -> middle(from, to)));
  }

  private long middle(long from, long to) {
    long start = least(from);
    long end = greatest(to);
    long root = change.catalogue().root();
    long address = Catalogue.rootAddress(root);
    long low = least();
    long high = greatest();
    long middle = from;
    int separators = 0;
    for (int level = Catalogue.rootLevel(root); level > 0 && separators < ENOUGH; level--) {
      long node = read(address, level, low, high);
      int first = layout.floor(memory, node, layout.compare(memory, start, low) < 0 ? low : start);
      int last = layout.floor(memory, node, layout.compare(memory, end, high) > 0 ? high : end);
      if (last - first > separators) {
        separators = last - first;
        middle = layout.first(memory, layout.key(memory, node, first + (separators + 1) / 2));
      }
      low = layout.key(memory, node, first);
      high = highOfChild(node, level, first);
      address = layout.slot(memory, node, first);
    }
    return middle;
  }

  /**
   * Reads a node and checks it against the fences in its parent; other servers may be writing it.
   */
  long read(long address, int level, long low, long high) {
    long node = layout.offset(level);
    String problem = null;
    for (int attempt = 0; attempt < READS_MAX; attempt++) {
      layout.readImage(worker, address, node);
      problem = guard.fit(memory, node, address, level, low, high);
      if (problem == null) {
        return node;
      }
      worker.backoff().pause(attempt);
    }
    throw new CorruptNodeException(address, String.valueOf(problem));
  }
}
