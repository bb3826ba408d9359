package pando.index.dex;

import pando.fabric.Fabric;
import pando.fabric.pool.NodeAllocator;
import pando.index.dex.node.NodeLayout;
import pando.index.load.TreeBuilder;

/**
 * Builds a DEX tree. All nodes of a subtree rooted at level M are placed on one memory server;
 * subtrees go to the memory servers in turn (DEX section 3). As the root is an inner node, no leaf
 * is ever shared.
 *
 * <p>Keys of more than a word are the words of numbers, repeated. Fences have the number as their
 * first word, so that ranges can begin there.
 */
final class DexBuilder extends TreeBuilder {
  private final NodeLayout layout;
  private final int memoryServers;
  private final int subtreeLevel;
  private long subtrees;

  DexBuilder(
      Fabric fabric, NodeLayout layout, NodeAllocator allocator, int subtreeLevel, double fill) {
    super(fabric, allocator, layout.nodeBytes(), layout.capacity(), fill);
    this.layout = layout;
    this.memoryServers = fabric.memoryServers();
    this.subtreeLevel = subtreeLevel;
  }

  /** Allocates from the highest level down, as the nodes of a subtree follow its root. */
  @Override
  protected void place(int lowest, int highest) {
    for (int level = highest; level >= lowest; level--) {
      allocate(level, (int) (numberOf(level) % memoryServers));
    }
  }

  private long numberOf(int level) {
    if (level > subtreeLevel) {
      return nextServer();
    }
    return level == subtreeLevel ? subtrees++ : Math.max(subtrees - 1, 0);
  }

  /** Returns where a key can be: no CALL is under way. */
  private long place() {
    return message();
  }

  @Override
  protected void format(long node, long address, int level, long low) {
    long fence = layout.least(memory(), low, place());
    layout.format(memory(), node, address, level, fence, fence);
  }

  @Override
  protected boolean append(long node, long key, long slot) {
    long rest = NodeLayout.level(memory(), node) == 0 ? key : Long.MIN_VALUE;
    layout.append(memory(), node, layout.make(memory(), key, rest, place()), slot);
    return true;
  }

  @Override
  protected void write(long node, long high, long sibling) {
    layout.setHigh(memory(), node, layout.greatest(memory(), high, place()));
    layout.seal(memory(), node);
    layout.writeImage(worker(), node);
  }
}
