package pando.index.host;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import pando.fabric.VerbCounters;

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
  private final Function<S, W> opener;
  private final List<S> servers = new ArrayList<>();
  private final List<W> workers = new ArrayList<>();
  private final Totals gone = new Totals();
  private boolean closed;
  private int turn;

  Members(Function<S, W> opener) {
    this.opener = opener;
  }

  void add(S server) {
    servers.add(server);
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
    W worker = opener.apply(server);
    workers.add(worker);
    return worker;
  }

  /** Ends a worker. Does nothing for one that has ended. */
  void retire(W worker) {
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
   * Turns new workers away, stops what compute servers do by themselves, and ends all workers;
   * {@code false} where that was done before.
   */
  boolean end() {
    List<W> open;
    synchronized (this) {
      if (closed) {
        return false;
      }
      closed = true;
      open = List.copyOf(workers);
    }
    try {
      servers.forEach(HostedServer::stop);
    } finally {
      open.forEach(this::retire);
    }
    return true;
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
