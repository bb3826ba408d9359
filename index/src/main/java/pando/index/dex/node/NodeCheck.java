package pando.index.dex.node;

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
    return header(layout, memory, node, descriptor, address, level);
  }

  private static @Nullable String header(
      NodeLayout layout,
      MemorySegment memory,
      long node,
      long descriptor,
      long address,
      int level) {
    if (NodeLayout.address(memory, node) != address) {
      return "holds the node of another address: "
          + GlobalAddress.toString(NodeLayout.address(memory, node));
    }
    if (NodeLayout.levelOf(descriptor) != level) {
      return "wrong level: level=" + NodeLayout.levelOf(descriptor) + ", expected=" + level;
    }
    return keys(layout, memory, node, NodeLayout.countOf(descriptor), level);
  }

  private static @Nullable String keys(
      NodeLayout layout, MemorySegment memory, long node, int count, int level) {
    long low = layout.low(memory, node);
    long high = layout.high(memory, node);
    if (layout.compare(memory, low, high) > 0) {
      return "fences reversed: " + fences(layout, memory, node);
    }
    for (int i = 1; i < count; i++) {
      long before = layout.key(memory, node, i - 1);
      long key = layout.key(memory, node, i);
      if (layout.compare(memory, before, key) >= 0) {
        return "keys do not ascend: index="
            + i
            + ", before="
            + layout.text(memory, before)
            + ", key="
            + layout.text(memory, key);
      }
    }
    if (count > 0) {
      long first = layout.key(memory, node, 0);
      long last = layout.key(memory, node, count - 1);
      if (layout.compare(memory, first, low) < 0 || layout.compare(memory, last, high) > 0) {
        return "keys outside the fences: first="
            + layout.text(memory, first)
            + ", last="
            + layout.text(memory, last)
            + ", "
            + fences(layout, memory, node);
      }
    }
    if (level > 0
        && (count == 0 || layout.compare(memory, layout.key(memory, node, 0), low) != 0)) {
      return "inner node does not start at its fence: count="
          + count
          + ", "
          + fences(layout, memory, node);
    }
    return null;
  }

  /**
   * Checks the fences of a checked image against what its parent says.
   *
   * @return {@code null} where all is well, else what is wrong
   */
  public static @Nullable String fences(
      NodeLayout layout, MemorySegment memory, long node, long low, long high) {
    if (layout.compare(memory, layout.low(memory, node), low) != 0
        || layout.compare(memory, layout.high(memory, node), high) != 0) {
      return "fences are not the parent's: "
          + fences(layout, memory, node)
          + ", expectedLow="
          + layout.text(memory, low)
          + ", expectedHigh="
          + layout.text(memory, high);
    }
    return null;
  }

  private static String fences(NodeLayout layout, MemorySegment memory, long node) {
    return "low="
        + layout.text(memory, layout.low(memory, node))
        + ", high="
        + layout.text(memory, layout.high(memory, node));
  }
}
