package pando.baselines.emt;

import pando.fabric.GlobalAddress;

/**
 * The free list of a memory server's tree: nodes that a compute server has allocated there, or that
 * the tree has given up. The caller holds the tree's latch alone.
 */
final class FreeNodes {
  private final EmtTree tree;

  FreeNodes(EmtTree tree) {
    this.tree = tree;
  }

  /** Returns how many there are, as the header counts them. */
  int count() {
    return (int) tree.get(EmtHeader.FREE_NODES);
  }

  /** Returns whether so many can be taken: a damaged list may have fewer than the header counts. */
  boolean has(int wanted) {
    if (wanted > Math.max(count(), 0)) {
      return false;
    }
    // Without its mark, a node is not taken for another free one if a damaged link leads back to
    // it.
    int found = 0;
    for (long at = first(); found < wanted && isFree(at); at = next(at)) {
      EmtNode.setMark(tree.dram, GlobalAddress.offset(at), EmtNode.NO_MARK);
      found++;
    }
    long at = first();
    for (int i = 0; i < found; i++) {
      EmtNode.setMark(tree.dram, GlobalAddress.offset(at), at);
      at = next(at);
    }
    return found == wanted;
  }

  private long first() {
    return tree.get(EmtHeader.FREE);
  }

  private long next(long address) {
    return EmtHeader.get(tree.dram, GlobalAddress.offset(address), EmtNode.LINK);
  }

  private boolean isFree(long address) {
    return tree.isHere(address)
        && EmtNode.isFree(tree.dram, GlobalAddress.offset(address), address);
  }

  /**
   * Takes a node and makes it one without entries; returns its offset.
   *
   * @throws IllegalStateException if there is none: {@link #has} was not asked
   */
  long take(int level, long low, long high) {
    long address = takeOne();
    if (address == GlobalAddress.NULL) {
      throw new IllegalStateException(
          "a tree has no free node: tree=%s, first=%s, counted=%s"
              .formatted(
                  GlobalAddress.toString(tree.addressOf(tree.header)),
                  GlobalAddress.toString(first()),
                  count()));
    }
    long node = GlobalAddress.offset(address);
    EmtNode.format(tree.dram, node, address, level, low, high);
    return node;
  }

  /** Takes a node; returns its address, {@code NULL} if there is none. */
  long takeOne() {
    long address = first();
    if (count() <= 0 || !isFree(address)) {
      return GlobalAddress.NULL;
    }
    EmtHeader.set(tree.dram, tree.header, EmtHeader.FREE, next(address));
    EmtHeader.add(tree.dram, tree.header, EmtHeader.FREE_NODES, -1);
    EmtNode.setMark(tree.dram, GlobalAddress.offset(address), EmtNode.NO_MARK);
    return address;
  }

  /** Adds a node that a compute server gives; returns whether it is one that is not free yet. */
  boolean accept(long address) {
    boolean accepted = tree.isHere(address) && !isFree(address);
    if (accepted) {
      add(GlobalAddress.offset(address));
    }
    return accepted;
  }

  /** Adds a node. */
  void add(long node) {
    long address = tree.addressOf(node);
    EmtNode.setFree(tree.dram, node, address, first());
    EmtHeader.set(tree.dram, tree.header, EmtHeader.FREE, address);
    EmtHeader.set(tree.dram, tree.header, EmtHeader.FREE_NODES, Math.max(count(), 0) + 1L);
  }
}
