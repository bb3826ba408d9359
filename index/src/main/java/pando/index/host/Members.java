package pando.index.host;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import pando.fabric.VerbCounters;
import pando.index.session.Failures;
import pando.index.session.Gate;

/**
 * The compute servers of a process, their open workers, and the counters of closed workers. Compute
 * servers have consecutive numbers and are all added before the first session is opened.
 *
 * <p>Thread-safe.
 *
 * @param <S> a compute server
 * @param <W> one session's worker at a compute server
 */
final class Members<S extends HostedServer, W extends HostedWorker> {
  private final BiFunction<S, Integer, W> opener;
  private final Gate gate = new Gate();
  private final List<S> servers = new ArrayList<>();
  private final List<W> workers = new ArrayList<>();
  private final Totals gone = new Totals();
  private boolean closed;
  private int turn;

  /**
   * Creates an object without compute servers.
   *
   * @param opener opens a worker of a compute server for a session with the given number
   */
  Members(BiFunction<S, Integer, W> opener) {
    this.opener = opener;
  }

  void add(S server) {
    server.gate = gate;
    servers.add(server);
  }

  /** Returns the gate that keeps operations out during a bulk load and while the index closes. */
  Gate gate() {
    return gate;
  }

  List<S> servers() {
    return servers;
  }

  /** Returns the compute server for the next session, round-robin. */
  synchronized S next() {
    return servers.get(turn++ % servers.size());
  }

  /** Returns a compute server, or {@code null} if it is not in this process. */
  @Nullable S local(int number) {
    int place = number - servers.getFirst().number;
    return place < 0 || place >= servers.size() ? null : servers.get(place);
  }

  /**
   * Opens a worker of a compute server of this process.
   *
   * @throws IllegalStateException if the index is closed
   */
  synchronized W worker(S server) {
    checkOpen();
    int session = server.openSession();
    try {
      W worker = opener.apply(server, session);
      workers.add(worker);
      return worker;
    } catch (Throwable e) {
      server.closeSession(session);
      throw e;
    }
  }

  /**
   * Closes a worker. Called by the thread of its session. If the index is closed, {@link #end()}
   * closes the worker.
   */
  void retire(W worker) {
    try {
      worker.enter();
    } catch (IllegalStateException e) {
      return;
    }
    try {
      end(worker);
    } finally {
      worker.exit();
    }
  }

  private void end(W worker) {
    synchronized (this) {
      if (!workers.remove(worker)) {
        return;
      }
      gone.add(worker.verbs(), worker.events());
    }
    // Outside the monitor, as it may issue verbs.
    worker.close();
  }

  synchronized void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the index is closed");
    }
  }

  /**
   * Refuses new workers, stops background tasks, and closes all workers and compute servers. No
   * operation may be inside the gate.
   */
  void end() {
    List<W> open;
    synchronized (this) {
      closed = true;
      open = List.copyOf(workers);
    }
    Failures failures = new Failures();
    servers.forEach(server -> failures.collect(server::stop));
    open.forEach(worker -> failures.collect(() -> end(worker)));
    servers.forEach(server -> failures.collect(server::close));
    failures.rethrow();
  }

  /** Adds verbs that were not issued by a session's worker. */
  void add(VerbCounters verbs) {
    gone.add(verbs);
  }

  synchronized Totals totals() {
    Totals totals = new Totals();
    totals.add(gone);
    workers.forEach(worker -> totals.add(worker.verbs(), worker.events()));
    servers.forEach(server -> totals.add(server.verbs(), server.events()));
    return totals;
  }

  long poolBytes() {
    return servers.stream().mapToLong(HostedServer::poolBytes).sum();
  }

  long cachedBytes() {
    return servers.stream().mapToLong(HostedServer::cachedBytes).sum();
  }
}
