package pando.index.dex;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.index.node.NodeCheck;
import pando.index.node.NodeLayout;
import pando.index.pool.NodePlaces;

/** Knows what a node of this pool can look like, and where one can be. */
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
   * Checks a node that came from the pool before anything in it is followed.
   *
   * @return {@code null} where all is well, else what is wrong
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
