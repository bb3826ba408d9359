package pando.index.dex;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.index.bugs.PlantedBug;
import pando.index.dex.node.NodeCheck;
import pando.index.dex.node.NodeLayout;
import pando.index.pool.NodePlaces;

/** Checks nodes that were read from the pool, and narrows those that are too wide. */
final class NodeGuard {
  /*
   * A node is written after its parent where it has given entries to a sibling, and before its
   * parent where it takes entries of a neighbour. A compute server that ends in between leaves a
   * node whose fences are wider than its parent says. The parent is right: the node's other entries
   * are those of the neighbour that the parent leads to.
   */

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

  /**
   * Narrows a checked node to the fences that its parent has for it, in local memory only.
   *
   * @return {@code null} if it is narrow enough now, else the problem
   */
  @Nullable String narrow(MemorySegment memory, long node, long low, long high) {
    int below = layout.compare(memory, layout.low(memory, node), low);
    int above = layout.compare(memory, layout.high(memory, node), high);
    if ((below == 0 && above == 0) || PlantedBug.KEPT_WIDE) {
      return null;
    }
    if (below > 0 || above < 0) {
      return NodeCheck.fences(layout, memory, node, low, high);
    }
    if (NodeLayout.level(memory, node) > 0
        && !layout.holds(memory, node, layout.floor(memory, node, low), low)) {
      return "no child begins at the fence that its parent has for it: low="
          + layout.text(memory, low);
    }
    layout.narrow(memory, node, low, high);
    layout.seal(memory, node);
    return null;
  }

  /**
   * Checks a node that was read from the pool, and narrows it.
   *
   * @return {@code null} if all is well, else the problem
   */
  @Nullable String fit(
      MemorySegment memory, long node, long address, int level, long low, long high) {
    String problem = check(memory, node, address, level);
    return problem == null ? narrow(memory, node, low, high) : problem;
  }
}
