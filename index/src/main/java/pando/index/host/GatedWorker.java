package pando.index.host;

import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.index.CacheCounters;
import pando.index.session.Gate;

/** One session's worker at one compute server. Only the session's thread may use it. */
public abstract class GatedWorker {
  private final HostedServer server;
  private final int session;
  private final Worker worker;
  private final Gate.Pass pass;

  /**
   * Creates a worker.
   *
   * @param session number of the session at its compute server
   * @param worker issues the verbs
   */
  protected GatedWorker(HostedServer server, int session, Worker worker) {
    this.server = server;
    this.session = session;
    this.worker = worker;
    this.pass = server.gate.pass(worker);
  }

  /**
   * Begins an operation. The index is not closed or bulk loaded, and the compute server's range
   * does not change, before {@link #exit}.
   */
  protected final void enter() {
    pass.enter();
  }

  /** Ends an operation. */
  protected final void exit() {
    pass.exit();
  }

  /** Returns what an operation enters the gate by. */
  protected final Gate.Pass pass() {
    return pass;
  }

  final HostedServer server() {
    return server;
  }

  final Worker worker() {
    return worker;
  }

  final VerbCounters verbs() {
    return worker.counters();
  }

  /** Returns the events of its compute server's caches that it has caused. */
  protected abstract CacheCounters events();

  /** Estimates how many entries have keys of a range of the compute server. */
  protected abstract double sizeOf(long low, long high);

  /** Frees what it has at its compute server. It can enter the gate no more. */
  protected abstract void release();

  /** Closes the worker and frees the session's number. */
  final void close() {
    try {
      release();
    } finally {
      // Not before: what it releases counts as inside.
      server.gate.forget(pass);
      server.closeSession(session);
    }
  }
}
