package pando.index.deft;

import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.index.blink.BLinkContext;

/** What the parts of one session's worker share: verbs, locks, and places of nodes locally. */
final class DeftContext extends BLinkContext {
  /** Two words each to compare, its mask, to swap, its mask, and what was found. */
  private static final int OPERANDS_BYTES = 80;

  final DeftServer server;
  final NodeLocks locks;
  final Nodes nodes;

  /** Where the operands of a 16-byte CAS start; also takes a word that a verb brings. */
  final long operands;

  DeftContext(DeftServer server, Fabric fabric, int session) {
    int nodeBytes = server.options.nodeBytes();
    super(
        server, fabric, nodeBytes + OPERANDS_BYTES + NodeLocks.SCRATCH_BYTES + Nodes.SCRATCH_BYTES);
    this.server = server;
    this.operands = own + nodeBytes;
    long ofLocks = operands + OPERANDS_BYTES;
    this.locks =
        NodeLocks.of(
            server.locks,
            server.abandoned,
            !server.options.sxLocks(),
            server.options.lockWaitNanos(),
            server.number,
            session,
            worker,
            ofLocks);
    boolean landsByLine = fabric.capabilities().atomicityBytes() >= LeafLayout.LINE_BYTES;
    long ofNodes = ofLocks + NodeLocks.SCRATCH_BYTES;
    this.nodes = new Nodes(server, landsByLine, worker, own, ofNodes);
  }

  @Override
  protected Nodes nodes() {
    return nodes;
  }

  @Override
  protected NodeLocks locks() {
    return locks;
  }

  @Override
  public void close() {
    try {
      locks.settle();
    } catch (PandoException e) {
      // The other sessions poll tickets as well: a session can always be closed.
    }
    super.close();
  }
}
