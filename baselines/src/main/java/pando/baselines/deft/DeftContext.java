package pando.baselines.deft;

import pando.baselines.blink.BLinkContext;
import pando.fabric.Fabric;
import pando.fabric.PandoException;

/** The verbs, locks and local node buffers of one worker of DEFT, shared by its parts. */
final class DeftContext extends BLinkContext {
  /** Operands of a 16-byte CAS, two words each: compare, compare mask, swap, swap mask, found. */
  private static final int OPERANDS_BYTES = 80;

  final DeftServer server;
  final DeftNodeLocks locks;
  final DeftNodes nodes;

  /**
   * Local offset of the operands of a 16-byte CAS; other verbs use it for a word that they return.
   */
  final long operands;

  DeftContext(DeftServer server, Fabric fabric, int session) {
    int nodeBytes = server.options.nodeBytes();
    super(
        server,
        fabric,
        nodeBytes + OPERANDS_BYTES + DeftNodeLocks.SCRATCH_BYTES + DeftNodes.SCRATCH_BYTES);
    this.server = server;
    this.operands = own + nodeBytes;
    long ofLocks = operands + OPERANDS_BYTES;
    this.locks =
        DeftNodeLocks.of(
            server.locks,
            server.drains,
            !server.options.sxLocks(),
            server.options.lockWaitNanos(),
            server.number,
            session,
            worker,
            ofLocks);
    boolean landsByLine = fabric.capabilities().atomicityBytes() >= DeftLeafLayout.LINE_BYTES;
    long ofNodes = ofLocks + DeftNodeLocks.SCRATCH_BYTES;
    this.nodes = new DeftNodes(server, landsByLine, worker, own, ofNodes);
  }

  @Override
  protected DeftNodes nodes() {
    return nodes;
  }

  @Override
  protected DeftNodeLocks locks() {
    return locks;
  }

  @Override
  public void close() {
    try {
      locks.settle();
    } catch (PandoException _) {
      // Ignored: the other sessions poll abandoned tickets, too, and a session must close in any
      // case.
    } finally {
      super.close();
    }
  }
}
