package pando.baselines.deft;

import pando.baselines.blink.Children;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.index.load.TreeBuilder;
import pando.index.pool.Catalogue;

/** Builds DEFT's tree from its leaves up. */
final class DeftBuilder extends TreeBuilder {
  private final InnerLayout inners;
  private final DeftServer server;
  private final DeftNodes nodes;
  private final VerbList list = new VerbList();

  /** By level, the children of the open node. */
  private final Children[] children = new Children[Catalogue.LEVELS_MAX];

  DeftBuilder(DeftServer server, Fabric fabric, double fill) {
    super(fabric, server.allocator, server.inners.nodeBytes(), server.leaves.capacity(), fill);
    this.server = server;
    this.inners = server.inners;
    this.nodes = new DeftNodes(server, worker(), message());
    for (int level = 0; level < children.length; level++) {
      children[level] = new Children(inners.capacity());
    }
  }

  @Override
  protected void format(long node, long address, int level, long low) {
    if (level == 0) {
      server.leaves.format(memory(), node, address, low, low, GlobalAddress.NULL);
    } else {
      inners.format(
          memory(), node, address, level, low, low, GlobalAddress.NULL, server.nextStamp());
      children[level].count = 0;
    }
  }

  @Override
  protected boolean append(long node, long key, long slot) {
    int level = level(node);
    if (level == 0) {
      return server.leaves.add(memory(), node, key, slot);
    }
    InnerLayout.insert(children[level], key, ChildPointer.toLeaf(slot));
    return true;
  }

  @Override
  protected void write(long node, long high, long sibling) {
    int level = level(node);
    NodeHeader.setFences(memory(), node, NodeHeader.low(memory(), node), high);
    NodeHeader.setSibling(memory(), node, sibling);
    if (level == 0) {
      nodes.addLeafWrite(list.clear(), node, false);
    } else {
      long pointer = inners.arrange(memory(), node, children[level], 0, children[level].count);
      // The node is the last child of the open node above, unless it is the root.
      Children above = children[level + 1];
      if (above.count > 0) {
        above.pointers[above.count - 1] = pointer;
      }
      nodes.addWrite(list.clear(), node);
    }
    worker().post(list);
  }

  private int level(long node) {
    return (int) (node / inners.nodeBytes());
  }
}
