package pando.baselines.sherman;

import pando.baselines.blink.BLinkMerges;
import pando.baselines.lock.NodeLocks;

/**
 * Merges nodes of Sherman. With partitions, a server only merges nodes that both lie in its own.
 */
final class ShermanMerges extends BLinkMerges {
  private final ShermanServer server;
  private final BLinkLayout layout;
  private final NodeLocks locks;
  private final int mergedMax;
  private final long[] keys;
  private final long[] slots;

  ShermanMerges(ShermanContext context, ShermanDescent descent) {
    super(
        context,
        descent,
        context.layout.capacity() * context.server.options.mergeShare(),
        context.layout.capacity());
    this.server = context.server;
    this.layout = context.layout;
    this.locks = context.locks;
    this.mergedMax = (int) (layout.capacity() * server.options.mergedShare());
    this.keys = new long[layout.capacity()];
    this.slots = new long[layout.capacity()];
  }

  @Override
  protected boolean isSparse(int count) {
    return count == 1 || count < mergeBelow;
  }

  @Override
  protected boolean mayMerge(long low, long high) {
    return !server.partitioned || server.owns(low, high);
  }

  @Override
  protected boolean tryLock(long node, long low, long high) {
    return locks.tryLock(node, server.owns(low, high));
  }

  @Override
  protected void copyChildren() {
    layout.copyChildren(memory, parent, children);
  }

  @Override
  protected boolean join(int level, int index) {
    if (size(left, level) + size(right, level) > mergedMax) {
      return false;
    }
    if (level == 0) {
      joinLeaves();
    } else {
      joinInners();
    }
    BLinkLayout.setHigh(memory, left, BLinkLayout.high(memory, right));
    BLinkLayout.setSibling(memory, left, BLinkLayout.sibling(memory, right));
    BLinkLayout.free(memory, right);
    return true;
  }

  private int size(long node, int level) {
    return level == 0 ? layout.entries(memory, node) : BLinkLayout.count(memory, node);
  }

  private void joinLeaves() {
    int count = layout.copySorted(memory, right, Long.MIN_VALUE, Long.MAX_VALUE, keys, slots);
    for (int i = 0; i < count; i++) {
      BLinkLayout.put(memory, left, layout.findFree(memory, left), keys[i], slots[i]);
    }
  }

  private void joinInners() {
    for (int i = 0; i < BLinkLayout.count(memory, right); i++) {
      BLinkLayout.append(
          memory, left, BLinkLayout.key(memory, right, i), BLinkLayout.slot(memory, right, i));
    }
  }

  @Override
  protected void removeFromParent(int index) {
    BLinkLayout.delete(memory, parent, index);
  }

  @Override
  protected void hideParent() {
    BLinkLayout.free(memory, parent);
  }
}
