package pando.index.host;

import pando.fabric.StalledException;
import pando.index.EntryVisitor;
import pando.index.IndexOptions;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.session.KeyGroups;
import pando.index.session.NeighbourSearch;
import pando.index.session.NeighbourSearch.Outcome;
import pando.index.session.Request;
import pando.index.session.RoutedSession;

/**
 * A session that sends each operation to one compute server, or, with partitions, to the one that
 * owns the key.
 */
final class HostedSession<W extends HostedWorker> extends RoutedSession<W> {
  private static final int NO_HOME = -1;
  private static final int ATTEMPTS_MAX = 1_000;

  private final HostedIndex<?, W> index;
  private final int home;

  /** Where the last walk under locks ended: the key of its last search. */
  private long reached;

  private HostedSession(HostedIndex<?, W> index, int home) {
    super(IndexOptions.COMPUTE_SERVERS_MAX);
    this.index = index;
    this.home = home;
  }

  /** Opens a session all of whose operations go to one compute server. */
  static <W extends HostedWorker> HostedSession<W> at(HostedIndex<?, W> index, int server) {
    HostedSession<W> session = new HostedSession<>(index, server);
    session.worker(0);
    return session;
  }

  /** Opens a session whose operations go to the compute server that owns the key. */
  static <W extends HostedWorker> HostedSession<W> partitioned(HostedIndex<?, W> index) {
    return new HostedSession<>(index, NO_HOME);
  }

  @Override
  protected boolean operate(Request wanted) {
    W worker = enter(wanted.key());
    try {
      boolean found = worker.operate(wanted);
      setEntry(wanted.key(), worker.value());
      return found;
    } finally {
      worker.exit();
    }
  }

  @Override
  protected void operate(KeyGroups wanted) {
    long next = wanted.next();
    W worker = enter(next);
    try {
      wanted.take(lowOfServer(next), highOfServer(next));
      worker.operate(wanted);
    } finally {
      worker.exit();
    }
  }

  @Override
  protected boolean neighbour(long wanted, boolean down) {
    W worker = enter(wanted);
    try {
      Outcome outcome = take(worker.neighbours(), worker.neighbours().look(wanted, down));
      return (outcome == Outcome.FURTHER ? findUnderLocks(worker, wanted, down) : outcome)
          == Outcome.FOUND;
    } catch (Throwable e) {
      forEach(each -> each.abandonAll(e));
      throw e;
    } finally {
      worker.exit();
    }
  }

  /**
   * Locks leaf after leaf until one has an entry, so that all leaves are one snapshot. No
   * hold-and-wait: if a lock is taken, unlocks all, waits for that lock, and restarts with it held.
   */
  private Outcome findUnderLocks(W worker, long wanted, boolean down) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      Outcome outcome = walkUnderLocks(wanted, down);
      forEach(each -> each.neighbours().unlock());
      if (outcome != Outcome.BUSY) {
        return outcome;
      }
      worker.backoff().pauseBriefly(attempt);
      worker(reached).neighbours().awaitBusy();
    }
    throw new StalledException(
        "what lies between a key and its neighbour stayed locked: key=%s, attempts=%s"
            .formatted(wanted, ATTEMPTS_MAX));
  }

  private Outcome walkUnderLocks(long wanted, boolean down) {
    reached = wanted;
    while (true) {
      NeighbourSearch search = worker(reached).neighbours();
      Outcome outcome = take(search, search.lookAndLock(reached, down));
      if (outcome != Outcome.FURTHER) {
        return outcome;
      }
      reached = search.bound();
    }
  }

  private Outcome take(NeighbourSearch search, Outcome outcome) {
    if (outcome == Outcome.FOUND) {
      setEntry(search.key(), search.value());
    }
    return outcome;
  }

  @Override
  protected long visit(long from, long to, boolean down, long limit, EntryVisitor visitor) {
    long visited = 0;
    long next = from;
    while (visited < limit) {
      long end = down ? Math.max(to, lowOfServer(next)) : Math.min(to, highOfServer(next));
      W worker = worker(next);
      visited += worker.scan(next, end, down, limit - visited, visitor);
      if (end == to || worker.wasScanEnded()) {
        return visited;
      }
      next = down ? end - 1 : end + 1;
    }
    return visited;
  }

  @Override
  protected double estimateSize(long low) {
    W worker = enter(low);
    try {
      return worker.sizeOf(low, highOfServer(low));
    } finally {
      worker.exit();
    }
  }

  @Override
  protected long highOfRange(long wanted) {
    return highOfServer(wanted);
  }

  @Override
  protected void runAlone(Runnable action) {
    index.checkSoleChanger();
    int server = home != NO_HOME ? home : index.members.servers().getFirst().number;
    W worker = opened(server);
    (worker != null ? worker : open(server, 0)).alone(action);
  }

  private long lowOfServer(long wanted) {
    Partitioning partitioning = index.partitioning();
    return home != NO_HOME
        ? Long.MIN_VALUE
        : partitioning.lowOfServer(partitioning.ownerOfKey(wanted));
  }

  private long highOfServer(long wanted) {
    Partitioning partitioning = index.partitioning();
    return home != NO_HOME
        ? Long.MAX_VALUE
        : partitioning.highOfServer(partitioning.ownerOfKey(wanted));
  }

  /**
   * Begins an operation with the worker that serves a key. The partitioning does not change until
   * the operation ends.
   */
  private W enter(long wanted) {
    while (true) {
      Partitioning seen = index.partitioning();
      W worker = worker(wanted);
      worker.enter();
      if (index.partitioning() == seen) {
        return worker;
      }
      worker.exit();
    }
  }

  private W worker(long wanted) {
    int server = home != NO_HOME ? home : index.partitioning().ownerOfKey(wanted);
    W worker = opened(server);
    return worker != null ? worker : open(server, wanted);
  }

  private W open(int server, long wanted) {
    W worker = index.openWorker(server);
    if (worker == null) {
      throw new NotServedHereException(wanted, server);
    }
    setWorker(server, worker);
    return worker;
  }

  @Override
  protected void checkIndexOpen() {
    index.members.checkOpen();
  }

  @Override
  protected void retire(W worker) {
    index.members.retire(worker);
  }
}
