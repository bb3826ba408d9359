package pando.baselines.deft;

import pando.baselines.blink.BLinkMerges;
import pando.baselines.blink.Children;

/** Merges nodes of DEFT. */
final class DeftMerges extends BLinkMerges {
  private final DeftServer server;
  private final DeftLeafLayout leaves;
  private final InnerLayout inners;
  private final DeftNodes nodes;
  private final DeftNodeLocks locks;
  private final DeftSplits splits;
  private final long[] keys;
  private final long[] values;

  /** The children of two inner nodes that become one. */
  private final Children joined;

  private final Children added;

  DeftMerges(DeftContext context, DeftDescent descent, DeftSplits splits) {
    super(
        context,
        descent,
        context.server.leaves.capacity() * context.server.options.mergeShare(),
        context.server.inners.capacity());
    this.server = context.server;
    this.leaves = server.leaves;
    this.inners = server.inners;
    this.nodes = context.nodes;
    this.locks = context.locks;
    this.splits = splits;
    this.keys = new long[leaves.capacity()];
    this.values = new long[leaves.capacity()];
    this.joined = new Children(2 * inners.capacity());
    this.added = new Children(inners.capacity());
  }

  @Override
  protected boolean isSparse(int count) {
    return count <= inners.capacity() * server.options.mergeShare();
  }

  @Override
  protected boolean tryLock(long node, long low, long high) {
    return locks.tryExclusive(node);
  }

  @Override
  protected void copyChildren() {
    nodes.copyChildren(parent, children);
  }

  @Override
  protected boolean join(int level, int index) {
    return level == 0 ? joinLeaves() : joinInners(index);
  }

  private boolean joinLeaves() {
    int most = (int) (leaves.capacity() * server.options.mergedShare());
    if (leaves.entries(memory, left) + leaves.entries(memory, right) > most) {
      return false;
    }
    int count = leaves.copySorted(memory, right, Long.MIN_VALUE, Long.MAX_VALUE, keys, values);
    for (int i = 0; i < count; i++) {
      if (!leaves.add(memory, left, keys[i], values[i])) {
        return false;
      }
    }
    takeFences();
    leaves.seal(memory, left, server.nextStamp(), false);
    leaves.seal(memory, right, server.nextStamp(), true);
    return true;
  }

  private boolean joinInners(int index) {
    nodes.copyChildren(left, joined);
    nodes.copyChildren(right, added);
    if (joined.count + added.count > inners.capacity() * server.options.mergedShare()) {
      return false;
    }
    for (int i = 0; i < added.count; i++) {
      InnerLayout.insert(joined, added.keys[i], added.pointers[i]);
    }
    takeFences();
    children.pointers[index] = inners.arrange(memory, left, joined, 0, joined.count);
    InnerLayout.setHidden(memory, right, true);
    return true;
  }

  private void takeFences() {
    NodeHeader.setFences(memory, left, nodes.low(left), nodes.high(right));
    NodeHeader.setSibling(memory, left, nodes.sibling(right));
  }

  @Override
  protected void removeFromParent(int index) {
    inners.arrange(memory, parent, children, 0, children.count);
  }

  @Override
  protected void hideParent() {
    InnerLayout.setHidden(memory, parent, true);
  }

  @Override
  protected void parentChanged(int level, long low, long address) {
    splits.refresh(level, low, address);
  }
}
