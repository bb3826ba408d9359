package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.lock.NodeLocks;
import pando.index.pool.Catalogue;

/**
 * What the parts of one session's worker share: verbs, locks, and places of nodes in local memory.
 */
final class ShermanContext implements AutoCloseable {
  /** Leaves READ together in a scan. */
  static final int PARALLEL = 16;

  private static final int BUFFERS = 4;

  final ShermanServer server;
  final BLinkLayout layout;
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

  /** Where there is room for the message of a CALL. */
  final long message;

  private final int session;
  private final RegisteredMemory registered;

  private ShermanContext(ShermanServer server, Fabric fabric, int session) {
    this.server = server;
    this.layout = server.layout;
    this.session = session;
    this.leaf = layout.offset(0);
    this.sibling = layout.offset(1);
    this.inner = layout.offset(2);
    this.parent = layout.offset(3);
    this.scanned = layout.offset(BUFFERS);
    this.scannedWords = layout.offset(BUFFERS + PARALLEL);
    long ofLocks = scannedWords + 2L * PARALLEL * Long.BYTES;
    long ofNodes = ofLocks + NodeLocks.SCRATCH_BYTES;
    this.message = ofNodes + Nodes.SCRATCH_BYTES;
    this.registered = fabric.register(message + Worker.CALL_BYTES_MAX);
    this.worker = fabric.worker(registered);
    this.memory = worker.memory();
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

  /**
   * Opens a session's part at a compute server.
   *
   * @throws IllegalStateException where the server has as many sessions as it can have
   */
  static ShermanContext open(ShermanServer server, Fabric fabric) {
    int session = server.openSession();
    boolean opened = false;
    try {
      ShermanContext context = new ShermanContext(server, fabric, session);
      opened = true;
      return context;
    } finally {
      if (!opened) {
        server.closeSession(session);
      }
    }
  }

  @Override
  public void close() {
    server.closeSession(session);
    worker.close();
    registered.close();
  }
}
