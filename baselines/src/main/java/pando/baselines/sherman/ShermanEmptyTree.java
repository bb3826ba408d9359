package pando.baselines.sherman;

import java.lang.foreign.MemorySegment;
import pando.baselines.blink.EmptyTree;
import pando.fabric.Worker;
import pando.index.pool.PoolChange;

/** A tree of Sherman without entries, which a bulk load replaces. */
final class ShermanEmptyTree extends EmptyTree {
  private final BLinkLayout layout;
  private final Worker worker;
  private final MemorySegment memory;
  private final ShermanNodes nodes;

  ShermanEmptyTree(PoolChange change, ShermanServer server) {
    ShermanNodes nodes = new ShermanNodes(server, change.worker(), change.message());
    super(change, server, nodes);
    this.layout = server.layout;
    this.worker = change.worker();
    this.memory = worker.memory();
    this.nodes = nodes;
  }

  @Override
  protected int entries() {
    return layout.entries(memory, NODE);
  }

  @Override
  protected long firstChild() {
    return BLinkLayout.slot(memory, NODE, 0);
  }

  @Override
  protected void markFreed(long address) {
    worker.read(address + BLinkLayout.IMAGE, BLinkLayout.IMAGE, layout.imageBytes());
    BLinkLayout.free(memory, NODE);
    nodes.write(NODE);
  }
}
