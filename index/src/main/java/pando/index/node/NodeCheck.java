package pando.index.node;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;

/** Checks that bytes read from the pool are the node that was expected. */
public final class NodeCheck {
  private NodeCheck() {}

  /**
   * Checks an image before any pointer in it is followed: that it is a whole node, with the
   * expected address and level.
   *
   * @return {@code null} where all is well, else what is wrong
   */
  public static @Nullable String image(
      NodeLayout layout, MemorySegment memory, long node, long address, int level) {
    long descriptor = NodeLayout.descriptor(memory, node);
    int count = NodeLayout.countOf(descriptor);
    if (!NodeLayout.isDescriptor(descriptor)) {
      return "not a node: descriptor=0x" + Long.toHexString(descriptor);
    }
    if (count > layout.capacity()) {
      return "too many entries: count=" + count + ", capacity=" + layout.capacity();
    }
    long stored = NodeLayout.checksum(memory, node);
    long computed = layout.computeChecksum(memory, node);
    if (stored != computed) {
      return "checksum is 0x"
          + Long.toHexString(stored)
          + " where its bytes make 0x"
          + Long.toHexString(computed);
    }
    return header(memory, node, descriptor, address, level);
  }

  private static @Nullable String header(
      MemorySegment memory, long node, long descriptor, long address, int level) {
    if (NodeLayout.address(memory, node) != address) {
      return "holds the node of another address: "
          + GlobalAddress.toString(NodeLayout.address(memory, node));
    }
    if (NodeLayout.levelOf(descriptor) != level) {
      return "wrong level: level=" + NodeLayout.levelOf(descriptor) + ", expected=" + level;
    }
    long low = NodeLayout.low(memory, node);
    if (low > NodeLayout.high(memory, node)) {
      return "fences reversed: " + fences(memory, node);
    }
    for (int i = 1; i < NodeLayout.countOf(descriptor); i++) {
      if (NodeLayout.key(memory, node, i - 1) >= NodeLayout.key(memory, node, i)) {
        return "keys do not ascend: index="
            + i
            + ", before="
            + NodeLayout.key(memory, node, i - 1)
            + ", key="
            + NodeLayout.key(memory, node, i);
      }
    }
    int count = NodeLayout.countOf(descriptor);
    if (count > 0
        && (NodeLayout.key(memory, node, 0) < low
            || NodeLayout.key(memory, node, count - 1) > NodeLayout.high(memory, node))) {
      return "keys outside the fences: first="
          + NodeLayout.key(memory, node, 0)
          + ", last="
          + NodeLayout.key(memory, node, count - 1)
          + ", "
          + fences(memory, node);
    }
    if (level > 0
        && (NodeLayout.countOf(descriptor) == 0 || NodeLayout.key(memory, node, 0) != low)) {
      return "inner node does not start at its fence: count="
          + NodeLayout.countOf(descriptor)
          + ", "
          + fences(memory, node);
    }
    return null;
  }

  /**
   * Checks the fences of a checked image against what its parent says.
   *
   * @return {@code null} where all is well, else what is wrong
   */
  public static @Nullable String fences(MemorySegment memory, long node, long low, long high) {
    if (NodeLayout.low(memory, node) != low || NodeLayout.high(memory, node) != high) {
      return "fences are not the parent's: "
          + fences(memory, node)
          + ", expectedLow="
          + low
          + ", expectedHigh="
          + high;
    }
    return null;
  }

  private static String fences(MemorySegment memory, long node) {
    return "low=" + NodeLayout.low(memory, node) + ", high=" + NodeLayout.high(memory, node);
  }
}
