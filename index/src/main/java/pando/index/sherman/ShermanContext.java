package pando.index.sherman;

import pando.fabric.Fabric;
import pando.index.host.LocalMemory;
import pando.index.host.WorkerContext;
import pando.index.lock.NodeLocks;
import pando.index.pool.Catalogue;

/**
 * What the parts of one session's worker share: verbs, locks, and places of nodes in local memory.
 */
final class ShermanContext extends WorkerContext {
  /** Leaves READ together in a scan. */
  static final int PARALLEL = 16;

  final ShermanServer server;
  final BLinkLayout layout;
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

  ShermanContext(ShermanServer server, Fabric fabric, int session) {
    LocalMemory local = new LocalMemory();
    int nodeBytes = server.layout.nodeBytes();
    this.leaf = local.region(nodeBytes);
    this.sibling = local.region(nodeBytes);
    this.inner = local.region(nodeBytes);
    this.parent = local.region(nodeBytes);
    this.scanned = local.region((long) PARALLEL * nodeBytes);
    this.scannedWords = local.region(2L * PARALLEL * Long.BYTES);
    long ofLocks = local.region(NodeLocks.SCRATCH_BYTES);
    long ofNodes = local.region(Nodes.SCRATCH_BYTES);
    super(fabric, local);
    this.server = server;
    this.layout = server.layout;
    this.locks =
        new NodeLocks(
            server.locks,
            server.options.locks(server.validation),
            server.number,
            session,
            worker,
            ofLocks);
    this.nodes = new Nodes(server, worker, ofNodes);
    this.catalogue = new Catalogue(worker, message, server.places, server.system);
  }
}
