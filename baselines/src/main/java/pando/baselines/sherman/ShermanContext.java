package pando.baselines.sherman;

import pando.baselines.blink.BLinkContext;
import pando.baselines.lock.NodeLocks;
import pando.fabric.Fabric;

/** The verbs, locks and local node buffers of one worker of Sherman, shared by its parts. */
final class ShermanContext extends BLinkContext {
  final ShermanServer server;
  final BLinkLayout layout;
  final NodeLocks locks;
  final ShermanNodes nodes;

  ShermanContext(ShermanServer server, Fabric fabric, int session) {
    super(server, fabric, NodeLocks.SCRATCH_BYTES + ShermanNodes.SCRATCH_BYTES);
    this.server = server;
    this.layout = server.layout;
    this.locks =
        new NodeLocks(
            server.locks,
            server.options.locks(server.validation),
            server.number,
            session,
            worker,
            own);
    this.nodes = new ShermanNodes(server, worker, own + NodeLocks.SCRATCH_BYTES);
  }

  @Override
  protected ShermanNodes nodes() {
    return nodes;
  }

  @Override
  protected NodeLocks locks() {
    return locks;
  }
}
