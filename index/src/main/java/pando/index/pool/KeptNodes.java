package pando.index.pool;

import java.util.List;
import pando.fabric.pool.NodeAllocator;
import pando.index.PoolPart;

/** What allocators keep for later, as parts of a pool. */
public final class KeptNodes {
  private KeptNodes() {}

  /** Returns what an allocator keeps. */
  public static List<PoolPart> of(NodeAllocator allocator) {
    long freed = allocator.freedNodes();
    long fresh = allocator.newNodes();
    int nodeBytes = allocator.nodeBytes();
    return List.of(
        new PoolPart("freed nodes, kept here", freed, freed * nodeBytes),
        new PoolPart("new nodes, kept here", fresh, fresh * nodeBytes));
  }
}
