package pando.index.host;

import java.util.Objects;
import pando.fabric.WaitLimit;
import pando.index.EntryVisitor;
import pando.index.session.KeyGroups;
import pando.index.session.NeighbourSearch;
import pando.index.session.NeighbourSearch.Outcome;
import pando.index.session.Request;

/**
 * A session whose workers take numbers as keys, and whose searches for a neighbour lock leaf after
 * leaf.
 */
public final class LockingSession<W extends HostedWorker> extends HostedSession<W> {
  private static final String BUSY = "what lies between a key and its neighbour stayed locked: key";

  /** Where the last walk under locks ended: the key of its last search. */
  private long reached;

  /** Whether it ended as no compute server here has that key. */
  private boolean elsewhere;

  /**
   * Opens a session.
   *
   * @param home the compute server to which all operations go, {@link #NO_HOME} for a key's owner
   */
  public LockingSession(HostedIndex<?, W> index, int home) {
    super(index, home, index.lease());
    if (home != NO_HOME) {
      open(home);
    }
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
   * Two sessions that walk towards each other may so take turns for long; a pause that grows ends
   * that.
   */
  private Outcome findUnderLocks(W worker, long wanted, boolean down) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      Outcome outcome = walkUnderLocks(wanted, down);
      forEach(each -> each.neighbours().unlock());
      if (elsewhere || outcome != Outcome.BUSY) {
        return outcome;
      }
      start = WaitLimit.SHORT.pause(worker.backoff(), attempt, start, BUSY, wanted);
      busy(reached).neighbours().awaitBusy();
    }
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
}
