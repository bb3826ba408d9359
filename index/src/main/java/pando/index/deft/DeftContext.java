package pando.index.deft;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.pool.Catalogue;

/**
 * What the parts of one session's worker share: verbs, locks, and places of nodes in local memory.
 */
final class DeftContext implements AutoCloseable {
  /** Leaves READ together in a scan. */
  static final int PARALLEL = 16;

  private static final int BUFFERS = 5;

  /** Two words each to compare, its mask, to swap, its mask, and what was found. */
  private static final int OPERANDS_BYTES = 80;

  final DeftServer server;
  final Worker worker;
  final MemorySegment memory;
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

  /** Where there is room for the message of a CALL. */
  final long message;

  private final int session;
  private final RegisteredMemory registered;

  private DeftContext(DeftServer server, Fabric fabric, int session) {
    this.server = server;
    this.session = session;
    long nodeBytes = server.options.nodeBytes();
    this.leaf = 0;
    this.sibling = nodeBytes;
    this.inner = 2 * nodeBytes;
    this.parent = 3 * nodeBytes;
    long again = 4 * nodeBytes;
    this.scanned = BUFFERS * nodeBytes;
    this.operands = scanned + PARALLEL * nodeBytes;
    this.scannedWords = operands + OPERANDS_BYTES;
    long ofLocks = scannedWords + 2L * PARALLEL * Long.BYTES;
    long ofNodes = ofLocks + NodeLocks.SCRATCH_BYTES;
    this.message = ofNodes + Nodes.SCRATCH_BYTES;
    this.registered = fabric.register(message + Worker.CALL_BYTES_MAX);
    this.worker = fabric.worker(registered);
    this.memory = worker.memory();
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

  /**
   * Opens a session's part at a compute server.
   *
   * @throws IllegalStateException where the server has as many sessions as it can have
   */
  static DeftContext open(DeftServer server, Fabric fabric) {
    int session = server.openSession();
    boolean opened = false;
    try {
      DeftContext context = new DeftContext(server, fabric, session);
      opened = true;
      return context;
    } finally {
      if (!opened) {
        server.closeSession(session);
      }
    }
  }

  /** Returns where the numberth of the leaves side by side starts. */
  long scanned(int number) {
    return scanned + (long) number * server.options.nodeBytes();
  }

  @Override
  public void close() {
    try {
      locks.settle();
    } catch (PandoException e) {
      // The other sessions look after tickets as well: a session can always be closed.
    }
    server.closeSession(session);
    worker.close();
    registered.close();
  }
}
