package pando.index.dex;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import pando.fabric.VerbCounters;

/**
 * The compute servers of a process that hold memory, the workers that use them, and the counts of
 * those that are gone. A compute server that was taken out of the index goes with its last worker.
 *
 * <p>Thread-safe.
 */
final class Members {
  private final Map<ComputeServer, Integer> users = new HashMap<>();
  private final List<PartitionWorker> workers = new ArrayList<>();
  private final Totals gone = new Totals();

  synchronized void add(ComputeServer server) {
    users.put(server, 0);
  }

  /** Counts verbs that no worker has issued. */
  synchronized void add(VerbCounters verbs) {
    gone.verbs.add(verbs);
  }

  /** Opens a worker, or returns {@code null} where the compute server is gone. */
  @Nullable PartitionWorker worker(ComputeServer server) {
    if (!use(server)) {
      return null;
    }
    PartitionWorker worker = null;
    try {
      worker = new PartitionWorker(server);
    } finally {
      if (worker == null) {
        leave(server);
      }
    }
    synchronized (this) {
      workers.add(worker);
    }
    return worker;
  }

  private synchronized boolean use(ComputeServer server) {
    return users.computeIfPresent(server, (_, count) -> count + 1) != null;
  }

  private synchronized void leave(ComputeServer server) {
    Integer count = users.computeIfPresent(server, (_, before) -> before - 1);
    if (count != null && count == 0 && server.isRetired()) {
      close(server);
    }
  }

  /** Ends a worker. Does nothing for one that has ended. */
  void retire(PartitionWorker worker) {
    synchronized (this) {
      if (!workers.remove(worker)) {
        return;
      }
      gone.add(worker);
      worker.close();
    }
    leave(worker.server());
  }

  /** Takes a compute server out: at once where it has no worker, else with its last one. */
  synchronized void retire(ComputeServer server) {
    server.retire();
    Integer count = users.get(server);
    if (count != null && count == 0) {
      close(server);
    }
  }

  private void close(ComputeServer server) {
    users.remove(server);
    gone.add(server);
    server.close();
  }

  /** Ends everything. Gates are shut, or nobody is inside. */
  synchronized void closeAll() {
    users.keySet().forEach(server -> server.gate.close());
    for (PartitionWorker worker : workers) {
      gone.add(worker);
      worker.close();
    }
    workers.clear();
    List.copyOf(users.keySet()).forEach(this::close);
  }

  /** Returns the bytes that the caches of all compute servers hold now. */
  synchronized long cachedBytes() {
    return users.keySet().stream().mapToLong(server -> server.cache.bytes()).sum();
  }

  synchronized Totals totals() {
    Totals totals = new Totals();
    totals.add(gone);
    workers.forEach(totals::add);
    users.keySet().forEach(totals::add);
    return totals;
  }
}
