package pando.baselines.emt;

import pando.fabric.Fabric;
import pando.index.host.LocalMemory;
import pando.index.host.WorkerContext;

/** What the parts of one session's worker share: verbs, and places in local memory. */
final class EmtContext extends WorkerContext {
  final EmtServer server;
  final TreeCalls calls;
  final TreeNodes nodes;

  /** Where the header of a tree starts, or a word for each memory server. */
  final long scratch;

  EmtContext(EmtServer server, Fabric fabric, int session) {
    LocalMemory memory = new LocalMemory();
    this.scratch =
        memory.region(Math.max(EmtHeader.BYTES, (long) server.memoryServers * Long.BYTES));
    super(fabric, memory);
    this.server = server;
    this.calls = new TreeCalls(server, worker, message, session);
    this.nodes = new TreeNodes(server, calls);
  }

  /** Returns which tree has which keys. */
  Ranges ranges() {
    return server.ranges(worker, scratch);
  }

  /** A session of EMT-D holds no lock. */
  @Override
  public void abandon(Throwable failure) {}
}
