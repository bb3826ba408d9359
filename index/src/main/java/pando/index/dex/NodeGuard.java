package pando.index.dex;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.index.dex.node.NodeCheck;
import pando.index.dex.node.NodeLayout;
import pando.index.pool.NodePlaces;

/** Checks nodes that were read from the pool, and the addresses in them. */
final class NodeGuard {
  private final NodeLayout layout;
  private final NodePlaces places;

  NodeGuard(Fabric fabric, NodeLayout layout) {
    this.layout = layout;
    this.places = new NodePlaces(fabric, layout.nodeBytes());
  }

  NodePlaces places() {
    return places;
  }

  /**
   * Checks a node that was read from the pool, before any pointer in it is followed.
   *
   * @return {@code null} if the node is sound, else the problem
   */
  @Nullable String check(MemorySegment memory, long node, long address, int level) {
    String problem = NodeCheck.image(layout, memory, node, address, level);
    if (problem != null || level == 0) {
      return problem;
    }
    int count = NodeLayout.count(memory, node);
    for (int i = 0; i < count; i++) {
      long pointer = layout.slot(memory, node, i);
      if (!places.isNodeAddress(pointer)) {
        return "points outside the pool: index=" + i + ", pointer=0x" + Long.toHexString(pointer);
      }
    }
    return null;
  }
}
