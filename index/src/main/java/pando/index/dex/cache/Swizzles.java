package pando.index.dex.cache;

import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;
import pando.fabric.GlobalAddress;
import pando.index.dex.node.NodeLayout;

/**
 * The links between cached nodes: a parent's swizzled pointer to its child's frame, and the child's
 * word that names its parent's frame.
 *
 * <p>A thread that changes a pointer holds the parent's lock.
 */
public final class Swizzles {
  private final MemorySegment memory;
  private final NodeLayout layout;

  Swizzles(MemorySegment memory, NodeLayout layout) {
    this.memory = memory;
    this.layout = layout;
  }

  /**
   * Swizzles the pointer from a locked parent to a node.
   *
   * @param address the node's
   * @return {@code false} if the parent does not point there
   */
  boolean swizzle(long parent, long node, long address) {
    return replace(parent, node, address, GlobalAddress.swizzled(node));
  }

  /**
   * Replaces the swizzled pointer in a locked node's parent by the node's address, and returns
   * {@code true}; {@code false} if the parent is locked.
   */
  boolean unswizzle(long parent, long node) {
    if (!Frames.tryLock(memory, parent)) {
      return false;
    }
    long address = NodeLayout.address(memory, node);
    boolean replaced = replace(parent, node, GlobalAddress.swizzled(node), address);
    if (replaced) {
      Frames.unlock(memory, parent);
    } else {
      Frames.unlockUnchanged(memory, parent);
    }
    return replaced;
  }

  private boolean replace(long parent, long node, long before, long after) {
    int index = layout.floor(memory, parent, layout.low(memory, node));
    if (index < 0 || layout.slot(memory, parent, index) != before) {
      return false;
    }
    layout.setSlot(memory, parent, index, after);
    return true;
  }

  /** Returns a random child to which a node has a swizzled pointer, or {@link Frames#NONE}. */
  long child(RandomGenerator random, long node) {
    long descriptor = NodeLayout.descriptor(memory, node);
    int count = Math.min(NodeLayout.countOf(descriptor), layout.capacity());
    if (NodeLayout.levelOf(descriptor) == 0 || count == 0) {
      return Frames.NONE;
    }
    int first = random.nextInt(count);
    for (int i = 0; i < count; i++) {
      int index = first + i < count ? first + i : first + i - count;
      long pointer = layout.slot(memory, node, index);
      if (GlobalAddress.isSwizzled(pointer)) {
        return GlobalAddress.frame(pointer);
      }
    }
    return Frames.NONE;
  }

  /** Sets the parent of the cached children that have moved to a node with some of its entries. */
  public void reparent(long node, int from, int entries) {
    if (NodeLayout.level(memory, node) == 0) {
      return;
    }
    for (int i = from; i < from + entries; i++) {
      long pointer = layout.slot(memory, node, i);
      if (GlobalAddress.isSwizzled(pointer)) {
        Frames.setParent(memory, GlobalAddress.frame(pointer), node);
      }
    }
  }

  /** Copies a node's image, with global addresses in place of swizzled pointers. */
  public void copyUnswizzled(long node, long target) {
    layout.copyImage(memory, node, target);
    if (NodeLayout.level(memory, node) == 0) {
      return;
    }
    int count = NodeLayout.count(memory, target);
    for (int i = 0; i < count; i++) {
      long pointer = layout.slot(memory, target, i);
      if (GlobalAddress.isSwizzled(pointer)) {
        long child = GlobalAddress.frame(pointer);
        layout.setSlot(memory, target, i, NodeLayout.address(memory, child));
      }
    }
  }
}
