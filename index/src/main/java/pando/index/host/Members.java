package pando.index.host;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import pando.fabric.VerbCounters;
import pando.index.session.Gate;

/**
 * The compute servers of a process, the workers that use them, and the counts of workers that are
 * gone. Compute servers, with numbers in a row, are all there before the first session is opened.
 *
 * <p>Thread-safe.
 *
 * @param <S> a compute server
 * @param <W> one session's part at a compute server
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
   * Creates a process without compute servers.
   *
   * @param opener opens a worker of a compute server, for a session of which the number is given
   */
  Members(BiFunction<S, Integer, W> opener) {
    this.opener = opener;
  }

  void add(S server) {
    server.gate = gate;
    servers.add(server);
  }

  /** Returns what keeps operations out while the index is changed as a whole. */
  Gate gate() {
    return gate;
  }

  List<S> servers() {
    return servers;
  }

  /** Returns the compute server whose turn it is to have another session. */
  synchronized S next() {
    return servers.get(turn++ % servers.size());
  }

  /** Returns a compute server, or {@code null} where it does not live here. */
  @Nullable S local(int number) {
    int place = number - servers.getFirst().number;
    return place < 0 || place >= servers.size() ? null : servers.get(place);
  }

  /**
   * Opens a worker of a compute server that lives here.
   *
   * @throws IllegalStateException where the index is closed
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

  /** Ends a worker, by the thread of its session. Leaves it to {@link #end} where that is near. */
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
      gone.add(worker);
    }
    // It may issue verbs.
    worker.close();
  }

  synchronized void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the index is closed");
    }
  }

  /**
   * Turns new workers away, stops what compute servers do by themselves, and ends all workers and
   * compute servers. No operation may be inside the gate.
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

  /** Counts verbs that no worker has issued. */
  void add(VerbCounters verbs) {
    gone.add(verbs);
  }

  synchronized Totals totals() {
    Totals totals = new Totals();
    totals.add(gone);
    workers.forEach(totals::add);
    servers.forEach(totals::add);
    return totals;
  }

  long poolBytes() {
    return servers.stream().mapToLong(HostedServer::poolBytes).sum();
  }

  long cachedBytes() {
    return servers.stream().mapToLong(HostedServer::cachedBytes).sum();
  }
}
