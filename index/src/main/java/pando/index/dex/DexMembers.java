package pando.index.dex;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.index.Unwritten;
import pando.index.cache.CacheContext;
import pando.index.host.Totals;

/**
 * The compute servers of a process that hold memory, their workers, and the counters of closed
 * ones. A compute server that was removed from the index is closed with its last worker.
 *
 * <p>Thread-safe.
 */
final class DexMembers {
  private final Map<DexServer, Integer> users = new HashMap<>();
  private final List<PartitionWorker> workers = new ArrayList<>();
  private final Totals gone = new Totals();
  private long nodesOfGone;

  private final AtomicReferenceArray<@Nullable DexServer> locals =
      new AtomicReferenceArray<>(DexOptions.COMPUTE_SERVERS_MAX);

  synchronized void add(DexServer server) {
    users.put(server, 0);
    locals.set(server.number, server);
  }

  /** Returns a compute server that lives here, or {@code null}. */
  @Nullable DexServer find(int number) {
    return locals.get(number);
  }

  /**
   * Returns a compute server that lives here.
   *
   * @throws IllegalArgumentException if it does not
   */
  DexServer local(int number) {
    boolean possible = number >= 0 && number < DexOptions.COMPUTE_SERVERS_MAX;
    DexServer server = possible ? find(number) : null;
    if (server == null) {
      throw new IllegalArgumentException("compute server does not live here: server=" + number);
    }
    return server;
  }

  /** Returns all compute servers that live here. */
  List<DexServer> locals() {
    List<DexServer> found = new ArrayList<>();
    for (int number = 0; number < DexOptions.COMPUTE_SERVERS_MAX; number++) {
      DexServer server = find(number);
      if (server != null) {
        found.add(server);
      }
    }
    return found;
  }

  /** Adds verbs that were issued without a worker of a session. */
  void add(VerbCounters verbs) {
    gone.add(verbs);
  }

  /** Opens a worker; returns {@code null} if the compute server is no longer in the index. */
  @Nullable PartitionWorker worker(DexServer server) {
    if (!use(server)) {
      return null;
    }
    PartitionWorker worker;
    try {
      worker = open(server);
    } catch (Throwable e) {
      leave(server);
      throw e;
    }
    synchronized (this) {
      workers.add(worker);
    }
    return worker;
  }

  private static PartitionWorker open(DexServer server) {
    CacheContext context = server.cache.open();
    try {
      return new PartitionWorker(server, context);
    } catch (Throwable e) {
      server.cache.close(context);
      throw e;
    }
  }

  private synchronized boolean use(DexServer server) {
    return users.computeIfPresent(server, (_, count) -> count + 1) != null;
  }

  private synchronized void leave(DexServer server) {
    Integer count = users.computeIfPresent(server, (_, before) -> before - 1);
    if (count != null && count == 0 && server.isRetired()) {
      close(server);
    }
  }

  /** Estimates the number of entries of a compute server that lives here. */
  long sizeEstimate(int number) {
    PartitionWorker worker = worker(local(number));
    if (worker == null) {
      return 0;
    }
    try {
      worker.enter();
      try {
        boolean hasRange = worker.server().low() <= worker.server().high();
        return hasRange ? Math.round(worker.estimateSize()) : 0;
      } finally {
        worker.exit();
      }
    } finally {
      retire(worker);
    }
  }

  /** Closes a worker. Does nothing if it is closed. */
  void retire(PartitionWorker worker) {
    synchronized (this) {
      if (!workers.remove(worker)) {
        return;
      }
      gone.add(worker.verbs(), worker.events());
      worker.close();
    }
    leave(worker.server());
  }

  /** Removes a compute server: at once if it has no worker, else with its last one. */
  synchronized void retire(DexServer server) {
    locals.set(server.number, null);
    server.retire();
    Integer count = users.get(server);
    if (count != null && count == 0) {
      close(server);
    }
  }

  private void close(DexServer server) {
    users.remove(server);
    gone.add(server.verbs(), server.events());
    nodesOfGone += server.allocator.nodesInUse();
    server.close();
  }

  /** Closes all compute servers. Gates must be shut, or no operation under way. */
  synchronized void closeAll() {
    users.keySet().forEach(server -> server.gate.close());
    List<Runnable> ends = new ArrayList<>();
    for (PartitionWorker worker : workers) {
      gone.add(worker.verbs(), worker.events());
      ends.add(worker::close);
    }
    workers.clear();
    List.copyOf(users.keySet()).forEach(server -> ends.add(() -> close(server)));
    Closing.all(ends);
  }

  /** Returns the bytes that the caches of all compute servers hold now. */
  synchronized long cachedBytes() {
    return users.keySet().stream().mapToLong(server -> server.cache.bytes()).sum();
  }

  /** Returns what is in the caches of all compute servers alone. */
  synchronized Unwritten unwritten() {
    return users.keySet().stream()
        .map(DexServer::unwritten)
        .reduce(Unwritten.NONE, Unwritten::plus);
  }

  synchronized Totals totals() {
    Totals totals = new Totals();
    totals.add(gone);
    workers.forEach(worker -> totals.add(worker.verbs(), worker.events()));
    users.keySet().forEach(server -> totals.add(server.verbs(), server.events()));
    return totals;
  }

  /**
   * Returns the number of the pool's nodes in use that compute servers of this process allocated.
   */
  synchronized long nodes() {
    return nodesOfGone
        + users.keySet().stream().mapToLong(server -> server.allocator.nodesInUse()).sum();
  }
}
