package pando.index.sherman;

import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.index.EntryVisitor;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.session.Operation;
import pando.index.session.RoutedSession;
import pando.index.sherman.Neighbours.Outcome;

/**
 * Sends each operation of one thread to a compute server: its own, or the one that owns the key.
 */
final class ShermanSession extends RoutedSession<ShermanWorker> {
  private static final int NO_HOME = -1;
  private static final int ATTEMPTS_MAX = 1_000;

  private final ShermanIndex index;
  private final int home;

  /** The key from which on the last walk under locks looked last. */
  private long reached;

  private ShermanSession(ShermanIndex index, int home) {
    super(new @Nullable ShermanWorker[ShermanOptions.COMPUTE_SERVERS_MAX]);
    this.index = index;
    this.home = home;
  }

  /** Opens a session at a compute server, which serves every key. */
  static ShermanSession at(ShermanIndex index, int server) {
    ShermanSession session = new ShermanSession(index, server);
    session.worker(0);
    return session;
  }

  /** Opens a session in which every key goes to its own compute server. */
  static ShermanSession partitioned(ShermanIndex index) {
    return new ShermanSession(index, NO_HOME);
  }

  @Override
  protected boolean operate(Operation operation, long wanted, long stored) {
    ShermanWorker worker = worker(wanted);
    boolean found =
        operation == Operation.GET ? worker.get(wanted) : worker.write(operation, wanted, stored);
    setEntry(wanted, worker.value());
    return found;
  }

  @Override
  protected boolean neighbour(long wanted, boolean down) {
    Neighbours neighbours = worker(wanted).neighbours();
    Outcome outcome = neighbours.look(wanted, down);
    if (outcome == Outcome.FOUND) {
      setEntry(neighbours.key(), neighbours.value());
    }
    return outcome == Outcome.FURTHER
        ? neighbourUnderLocks(wanted, down)
        : outcome == Outcome.FOUND;
  }

  /**
   * Locks leaf after leaf until one has an entry: so all are as they are found at one moment. Where
   * a lock is taken, lets go of all others, waits for that one, and begins anew with it: so nobody
   * waits for a lock who holds one.
   */
  private boolean neighbourUnderLocks(long wanted, boolean down) {
    try {
      for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        Outcome outcome = walkUnderLocks(wanted, down);
        if (outcome != Outcome.BUSY) {
          return outcome == Outcome.FOUND;
        }
        unlockNeighbours();
        worker(wanted).worker().backoff().pauseBriefly(attempt);
        worker(reached).neighbours().awaitBusy();
      }
    } finally {
      unlockNeighbours();
    }
    throw new StalledException(
        "leaves between a key and its neighbour stayed locked: key="
            + wanted
            + ", attempts="
            + ATTEMPTS_MAX);
  }

  private Outcome walkUnderLocks(long wanted, boolean down) {
    reached = wanted;
    while (true) {
      Neighbours neighbours = worker(reached).neighbours();
      Outcome outcome = neighbours.lookAndLock(reached, down);
      if (outcome != Outcome.FURTHER) {
        setEntry(neighbours.key(), neighbours.value());
        return outcome;
      }
      reached = neighbours.bound();
    }
  }

  private void unlockNeighbours() {
    forEach(worker -> worker.neighbours().unlock());
  }

  @Override
  protected long visit(long from, long to, long limit, EntryVisitor visitor) {
    long visited = 0;
    long next = from;
    while (visited < limit) {
      long end = Math.min(to, highOfServer(next));
      ShermanWorker worker = worker(next);
      visited += worker.scans().scan(next, end, limit - visited, visitor);
      if (end == to || worker.scans().wasEnded()) {
        return visited;
      }
      next = end + 1;
    }
    return visited;
  }

  private long highOfServer(long wanted) {
    Partitioning partitioning = index.partitioning();
    return home != NO_HOME
        ? Long.MAX_VALUE
        : partitioning.highOfServer(partitioning.ownerOfKey(wanted));
  }

  private ShermanWorker worker(long wanted) {
    int server = home != NO_HOME ? home : index.partitioning().ownerOfKey(wanted);
    ShermanWorker worker = opened(server);
    return worker != null ? worker : open(server, wanted);
  }

  private ShermanWorker open(int server, long wanted) {
    checkOpen();
    ShermanWorker worker = index.worker(server);
    if (worker == null) {
      throw new NotServedHereException(wanted, server);
    }
    replace(server, worker);
    return worker;
  }

  @Override
  protected void retire(ShermanWorker worker) {
    index.retire(worker);
  }
}
