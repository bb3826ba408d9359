package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import pando.baselines.blink.EmptyTree;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.pool.PoolChange;

/** A tree of DEFT without entries, which a bulk load replaces. */
final class DeftEmptyTree extends EmptyTree {
  private final DeftServer server;
  private final Worker worker;
  private final MemorySegment memory;
  private final DeftNodes nodes;
  private final VerbList list = new VerbList();

  DeftEmptyTree(PoolChange change, DeftServer server) {
    DeftNodes nodes = new DeftNodes(server, change.worker(), change.message());
    super(change, server, nodes);
    this.server = server;
    this.worker = change.worker();
    this.memory = worker.memory();
    this.nodes = nodes;
  }

  @Override
  protected int entries() {
    return server.leaves.entries(memory, NODE);
  }

  @Override
  protected long firstChild() {
    return ChildPointer.address(InnerLayout.pointer(memory, NODE, InnerLayout.FIRST));
  }

  @Override
  protected void markFreed(long address) {
    worker.read(address, NODE, server.inners.nodeBytes());
    list.clear();
    if (NodeHeader.isLeaf(NodeHeader.first(memory, NODE))) {
      nodes.addLeafWrite(list, NODE, true);
    } else {
      InnerLayout.setHidden(memory, NODE, true);
      nodes.addWrite(list, NODE);
    }
    worker.post(list);
  }
}
