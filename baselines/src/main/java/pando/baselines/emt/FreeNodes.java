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

  /** Returns how many there are. */
  int count() {
    return (int) tree.get(EmtHeader.FREE_NODES);
  }

  /** Returns whether so many can be taken. */
  boolean has(int wanted) {
    long address = tree.get(EmtHeader.FREE);
    for (int i = 0; i < wanted; i++) {
      if (!isFree(address)) {
        return false;
      }
      address = EmtHeader.get(tree.dram, GlobalAddress.offset(address), EmtNode.LINK);
    }
    return wanted <= count();
  }

  private boolean isFree(long address) {
    return tree.isHere(address)
        && EmtNode.isFree(tree.dram, GlobalAddress.offset(address), address);
  }

  /** Takes a node, which is there, and makes it one without entries; returns its offset. */
  long take(int level, long low, long high) {
    long address = takeOne();
    long node = GlobalAddress.offset(address);
    EmtNode.format(tree.dram, node, address, level, low, high);
    return node;
  }

  /** Takes a node; returns its address, {@code NULL} if there is none. */
  long takeOne() {
    long address = tree.get(EmtHeader.FREE);
    if (!isFree(address)) {
      return GlobalAddress.NULL;
    }
    long next = EmtHeader.get(tree.dram, GlobalAddress.offset(address), EmtNode.LINK);
    EmtHeader.set(tree.dram, tree.header, EmtHeader.FREE, next);
    EmtHeader.add(tree.dram, tree.header, EmtHeader.FREE_NODES, -1);
    return address;
  }

  /** Adds a node. */
  void add(long node) {
    long address = tree.addressOf(node);
    EmtNode.setFree(tree.dram, node, address, tree.get(EmtHeader.FREE));
    EmtHeader.set(tree.dram, tree.header, EmtHeader.FREE, address);
    EmtHeader.add(tree.dram, tree.header, EmtHeader.FREE_NODES, 1);
  }
}
