package pando.index.deft;

import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.index.host.LocalMemory;
import pando.index.host.WorkerContext;
import pando.index.pool.Catalogue;

/**
 * What the parts of one session's worker share: verbs, locks, and places of nodes in local memory.
 */
final class DeftContext extends WorkerContext {
  /** Leaves READ together in a scan. */
  static final int PARALLEL = 16;

  /** Two words each to compare, its mask, to swap, its mask, and what was found. */
  private static final int OPERANDS_BYTES = 80;

  final DeftServer server;
  final NodeLocks locks;
  final Nodes nodes;
  final Catalogue catalogue;

  /** Where the leaf of an operation starts. */
  final long leaf;

  /** Where a node beside another starts: a new one, or one to merge with. */
  final long sibling;

  /** Where nodes on the way down start. */
  final long inner;

  /** Where a node starts to which a change below is made known. */
  final long parent;

  /** Where {@link #PARALLEL} leaves start side by side. */
  final long scanned;

  /** Where two words for each of those leaves start. */
  final long scannedWords;

  /** Where the operands of a 16-byte CAS start; also takes a word that a verb brings. */
  final long operands;

  DeftContext(DeftServer server, Fabric fabric, int session) {
    LocalMemory local = new LocalMemory();
    int nodeBytes = server.options.nodeBytes();
    this.leaf = local.region(nodeBytes);
    this.sibling = local.region(nodeBytes);
    this.inner = local.region(nodeBytes);
    this.parent = local.region(nodeBytes);
    long again = local.region(nodeBytes);
    this.scanned = local.region((long) PARALLEL * nodeBytes);
    this.operands = local.region(OPERANDS_BYTES);
    this.scannedWords = local.region(2L * PARALLEL * Long.BYTES);
    long ofLocks = local.region(NodeLocks.SCRATCH_BYTES);
    long ofNodes = local.region(Nodes.SCRATCH_BYTES);
    super(fabric, local);
    this.server = server;
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
    this.nodes = new Nodes(server, landsByLine, worker, again, ofNodes);
    this.catalogue = new Catalogue(worker, message, server.places, server.system);
  }

  /** Returns the local offset of a scan buffer. */
  long scanned(int number) {
    return scanned + (long) number * server.options.nodeBytes();
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
