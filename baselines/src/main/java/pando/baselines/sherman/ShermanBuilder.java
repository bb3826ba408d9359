package pando.baselines.sherman;

import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.index.load.TreeBuilder;

/** Builds Sherman's tree from its leaves up. */
final class ShermanBuilder extends TreeBuilder {
  private final BLinkLayout layout;
  private final ShermanNodes nodes;

  ShermanBuilder(ShermanServer server, Fabric fabric, double fill) {
    super(fabric, server.allocator, server.layout.nodeBytes(), server.layout.capacity(), fill);
    this.layout = server.layout;
    this.nodes = new ShermanNodes(server, worker(), message());
  }

  @Override
  protected void format(long node, long address, int level, long low) {
    layout.format(memory(), node, address, level, low, low, GlobalAddress.NULL);
  }

  @Override
  protected boolean append(long node, long key, long slot) {
    BLinkLayout.append(memory(), node, key, slot);
    return true;
  }

  @Override
  protected void write(long node, long high, long sibling) {
    BLinkLayout.setHigh(memory(), node, high);
    BLinkLayout.setSibling(memory(), node, sibling);
    nodes.write(node);
  }
}
