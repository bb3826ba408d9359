package pando.index.host;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.index.IndexOptions;
import pando.index.session.Failures;
import pando.index.session.Gate;

/**
 * The compute servers of a process, their open workers, and the counters of those that are closed.
 * A worker whose compute server was taken out of the index stays until its session finds out.
 *
 * <p>Thread-safe.
 *
 * @param <S> a compute server
 * @param <W> one session's worker at a compute server
 */
final class Members<S extends HostedServer, W extends GatedWorker> {
  private final BiFunction<S, Integer, W> opener;

  /** Of the index as a whole, and of the compute servers that share one. */
  private final Gate gate = new Gate();

  private final List<W> workers = new ArrayList<>();
  private final Totals gone = new Totals();

  private final AtomicReferenceArray<@Nullable S> locals =
      new AtomicReferenceArray<>(IndexOptions.COMPUTE_SERVERS_MAX);

  /** All of them, in the order in which they were added. */
  private volatile List<S> servers = List.of();

  private long poolBytesOfGone;
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

  synchronized void add(S server) {
    if (server.sharesGate()) {
      server.gate = gate;
    }
    server.members = this::servers;
    List<S> more = new ArrayList<>(servers);
    more.add(server);
    servers = List.copyOf(more);
    locals.set(server.number, server);
  }

  /** Takes a compute server out. No operation is under way there, and none begins. */
  void retire(S server) {
    Failures failures = new Failures();
    failures.collect(server::stop);
    synchronized (this) {
      locals.set(server.number, null);
      servers = servers.stream().filter(each -> !each.equals(server)).toList();
      server.markRetired();
      gone.add(server.verbs(), server.events());
      poolBytesOfGone += server.poolBytes();
    }
    failures.collect(server::close);
    failures.rethrow();
  }

  /** Returns all gates. They are always shut in the same order, so that no two threads wait. */
  List<Gate> gates() {
    return Stream.concat(Stream.of(gate), gates(servers).stream()).distinct().toList();
  }

  /** Returns the gates of some compute servers. */
  List<Gate> gates(List<S> some) {
    return some.stream()
        .sorted(Comparator.comparingInt(server -> server.number))
        .map(server -> server.gate)
        .distinct()
        .toList();
  }

  /** Returns the compute servers behind some gates. */
  List<S> behind(List<Gate> gates) {
    return servers.stream().filter(server -> gates.contains(server.gate)).toList();
  }

  /**
   * Runs an action of this thread while no other thread is inside a gate.
   *
   * @throws StalledException as {@link Gate#shutToOthers}
   */
  void alone(Worker worker, Runnable action) {
    List<Gate> all = gates();
    shut(all, gate -> gate.shutToOthers(worker));
    try {
      action.run();
    } finally {
      all.forEach(Gate::open);
    }
  }

  /** Shuts gates, all or none. */
  static void shut(List<Gate> gates, Predicate<Gate> way) {
    int shut = 0;
    try {
      for (Gate gate : gates) {
        if (!way.test(gate)) {
          throw closed();
        }
        shut++;
      }
    } finally {
      if (shut < gates.size()) {
        gates.subList(0, shut).forEach(Gate::open);
      }
    }
  }

  /** Returns whether this thread keeps others out. */
  boolean isAlone() {
    return gate.isAlone();
  }

  /** Returns whether the index is closed. */
  boolean isClosed() {
    return gate.isClosed();
  }

  /** Closes all gates for good; returns {@code false} if they were closed already. */
  boolean close() {
    boolean closes = gate.close();
    servers.forEach(server -> server.gate.close());
    return closes;
  }

  List<S> servers() {
    return servers;
  }

  /**
   * Returns one of them.
   *
   * @throws IllegalStateException if all were taken out
   */
  S first() {
    List<S> present = servers;
    if (present.isEmpty()) {
      throw new IllegalStateException("no compute server of the index is in this process");
    }
    return present.getFirst();
  }

  /** Returns the compute server for the next session, round-robin. There is one. */
  synchronized S next() {
    return servers.get(turn++ % servers.size());
  }

  /** Returns a compute server, or {@code null} if it is not in this process. */
  @Nullable S find(int number) {
    return locals.get(number);
  }

  /**
   * Returns a compute server.
   *
   * @throws IllegalArgumentException if it is not in this process
   */
  S local(int number) {
    S server = number >= 0 && number < locals.length() ? find(number) : null;
    if (server == null) {
      throw new IllegalArgumentException("compute server does not live here: server=" + number);
    }
    return server;
  }

  /**
   * Opens a worker of a compute server of this process; returns {@code null} if that was taken out.
   *
   * @throws IllegalStateException if the index is closed
   */
  synchronized @Nullable W worker(S server) {
    checkOpen();
    if (server.isRetired()) {
      return null;
    }
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
    } catch (IllegalStateException _) {
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
      throw closed();
    }
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("the index is closed");
  }

  /**
   * Refuses new workers, stops background tasks, and closes all workers and compute servers. No
   * operation may be inside the gate. A second call does nothing.
   */
  void end() {
    List<W> open;
    synchronized (this) {
      if (closed) {
        return;
      }
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

  synchronized long poolBytes() {
    return poolBytesOfGone + servers.stream().mapToLong(HostedServer::poolBytes).sum();
  }

  long cachedBytes() {
    return servers.stream().mapToLong(HostedServer::cachedBytes).sum();
  }
}
