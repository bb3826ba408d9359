package pando.index.host;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.index.EntryVisitor;
import pando.index.IndexOptions;
import pando.index.Partitioning;
import pando.index.bugs.PlantedBug;
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

  /** Whether it ended as no compute server here has that key. */
  private boolean elsewhere;

  private HostedSession(HostedIndex<?, W> index, int home) {
    super(IndexOptions.COMPUTE_SERVERS_MAX, index.lease());
    this.index = index;
    this.home = home;
  }

  /** Opens a session all of whose operations go to one compute server. */
  static <W extends HostedWorker> HostedSession<W> at(HostedIndex<?, W> index, int server) {
    HostedSession<W> session = new HostedSession<>(index, server);
    session.open(server);
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
    W worker = enter(wanted.next());
    try {
      wanted.take(worker.server().low(), worker.server().high());
      worker.operate(wanted);
    } finally {
      worker.exit();
    }
  }

  @Override
  protected boolean neighbour(long wanted, boolean down) {
    while (true) {
      elsewhere = false;
      W worker = enter(wanted);
      try {
        Outcome outcome = take(worker.neighbours(), worker.neighbours().look(wanted, down));
        outcome = outcome == Outcome.FURTHER ? findUnderLocks(worker, wanted, down) : outcome;
        if (!elsewhere) {
          return outcome == Outcome.FOUND;
        }
      } catch (Throwable e) {
        forEach(each -> each.abandonAll(e));
        throw e;
      } finally {
        worker.exit();
      }
      // Its owner may have come to this process by now; if not, that is thrown.
      enter(reached).exit();
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
      if (elsewhere || outcome != Outcome.BUSY) {
        return outcome;
      }
      worker.backoff().pauseBriefly(attempt);
      busy(reached).neighbours().awaitBusy();
    }
    throw new StalledException(
        "what lies between a key and its neighbour stayed locked: key=%s, attempts=%s"
            .formatted(wanted, ATTEMPTS_MAX));
  }

  private Outcome walkUnderLocks(long wanted, boolean down) {
    reached = wanted;
    while (true) {
      W worker = ownerHere(reached);
      if (worker == null) {
        elsewhere = true;
        return Outcome.BUSY;
      }
      NeighbourSearch search = worker.neighbours();
      Outcome outcome = take(search, search.lookAndLock(reached, down));
      if (outcome != Outcome.FURTHER) {
        return outcome;
      }
      reached = search.bound();
    }
  }

  /** Returns the worker that found a lock taken. */
  private W busy(long key) {
    return Objects.requireNonNull(ownerHere(key));
  }

  /**
   * Returns the worker that serves a key, {@code null} if none here does. Inside the gate, so
   * ranges stay as they are; and no worker is closed, as that enters it, too.
   */
  private @Nullable W ownerHere(long key) {
    int server = home != NO_HOME ? home : index.partitioning().ownerOfKey(key);
    W worker = opened(server);
    worker = worker == null ? open(server) : worker;
    return worker != null && worker.server().owns(key) ? worker : null;
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
    while (true) {
      W worker = enter(next);
      worker.exit();
      visited += worker.scan(next, to, down, limit - visited, visitor);
      if (visited == limit || worker.isScanDone()) {
        return visited;
      }
      next = worker.scanNext();
    }
  }

  @Override
  protected double estimateSize(long low) {
    W worker = enter(low);
    try {
      return worker.sizeOf(low, worker.server().high());
    } finally {
      worker.exit();
    }
  }

  @Override
  protected long highOfRange(long wanted) {
    Partitioning partitioning = index.partitioning();
    return home != NO_HOME
        ? Long.MAX_VALUE
        : partitioning.highOfRange(partitioning.rangeOfKey(wanted));
  }

  @Override
  protected void runAlone(Runnable action) {
    index.checkSoleChanger();
    any().alone(action);
  }

  /** Returns a worker of some compute server. */
  private W any() {
    if (home != NO_HOME) {
      return Objects.requireNonNull(opened(home));
    }
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      int server = index.members.first().number;
      W worker = opened(server);
      if (worker == null || worker.server().isRetired()) {
        worker = open(server);
      }
      if (worker != null) {
        return worker;
      }
    }
    throw new StalledException("the compute servers kept changing: attempts=" + ATTEMPTS_MAX);
  }

  /**
   * Begins an operation with the worker that serves a key. Ranges do not change until the operation
   * ends.
   */
  private W enter(long wanted) {
    for (int attempt = 0; ; attempt++) {
      Partitioning seen = index.partitioning();
      int server = home != NO_HOME ? home : seen.ownerOfKey(wanted);
      W worker = opened(server);
      if (worker != null) {
        worker.enter();
        if (worker.server().owns(wanted) || PlantedBug.OWNER_UNCHECKED) {
          return worker;
        }
        worker.exit();
      }
      seek(seen, wanted, server, attempt);
    }
  }

  /**
   * Opens a worker of a key's owner if it has none that can be used; else waits for another one.
   */
  private void seek(Partitioning seen, long wanted, int server, int attempt) {
    W worker = opened(server);
    boolean usable = worker != null && !worker.server().isRetired();
    if (!usable && open(server) != null) {
      return;
    }
    if (attempt >= ATTEMPTS_MAX) {
      throw new StalledException(
          "the partitions kept changing: key=" + wanted + ", attempts=" + attempt);
    }
    index.awaitOwner(seen, wanted, server, usable, attempt);
  }

  /** Opens a worker of a compute server; returns {@code null} if that is not in this process. */
  private @Nullable W open(int server) {
    // Closes the one of a compute server that was taken out, as their number is limited.
    setWorker(server, null);
    setWorker(server, index.openWorker(server));
    return opened(server);
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
