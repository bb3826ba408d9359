package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.index.node.NodeCheck;
import pando.index.node.NodeLayout;

/** Knows what a node of this pool can look like, and where one can be. */
final class NodeGuard {
  private final NodeLayout layout;
  private final long[] dramBytes;

  NodeGuard(Fabric fabric, NodeLayout layout) {
    this.layout = layout;
    this.dramBytes = new long[fabric.memoryServers()];
    Arrays.setAll(dramBytes, fabric::dramBytes);
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
      if (!isNodeAddress(pointer)) {
        return "points outside the pool: index=" + i + ", pointer=0x" + Long.toHexString(pointer);
      }
    }
    return null;
  }

  boolean isNodeAddress(long pointer) {
    int memoryServer = GlobalAddress.server(pointer);
    long offset = GlobalAddress.offset(pointer);
    return !GlobalAddress.isSwizzled(pointer)
        && !GlobalAddress.isOnChip(pointer)
        && memoryServer < dramBytes.length
        && offset >= Fabric.CATALOGUE_BYTES
        && offset % Long.BYTES == 0
        && offset <= dramBytes[memoryServer] - layout.nodeBytes();
  }
}
