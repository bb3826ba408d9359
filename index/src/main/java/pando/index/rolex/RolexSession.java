package pando.index.rolex;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.index.EntryVisitor;
import pando.index.rolex.Neighbours.Outcome;
import pando.index.session.Operation;
import pando.index.session.RoutedSession;

/** Sends each operation of one thread to its compute server, which serves every key. */
final class RolexSession extends RoutedSession<RolexWorker> {
  private static final int ATTEMPTS_MAX = 1_000;

  private final RolexIndex index;

  RolexSession(RolexIndex index, RolexServer home) {
    super(new @Nullable RolexWorker[1]);
    this.index = index;
    replace(0, index.worker(home));
  }

  @Override
  protected boolean operate(Operation operation, long wanted, long stored) {
    RolexWorker worker = worker();
    boolean found =
        operation == Operation.GET ? worker.get(wanted) : worker.write(operation, wanted, stored);
    setEntry(wanted, worker.value());
    return found;
  }

  @Override
  protected boolean neighbour(long wanted, boolean down) {
    Neighbours neighbours = worker().neighbours();
    Outcome outcome = neighbours.look(wanted, down);
    if (outcome == Outcome.FURTHER) {
      outcome = lookUnderLocks(neighbours, wanted, down);
    }
    boolean found = outcome == Outcome.FOUND;
    if (found) {
      setEntry(neighbours.key(), neighbours.value());
    }
    return found;
  }

  /**
   * Locks model after model until one has an entry: so all are as they are found at one moment.
   * Where a lock is taken, lets go of all others, waits for that one, and begins anew with it.
   */
  private Outcome lookUnderLocks(Neighbours neighbours, long wanted, boolean down) {
    try {
      for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        Outcome outcome = neighbours.lookAndLock(wanted, down);
        while (outcome == Outcome.FURTHER) {
          outcome = neighbours.lookAndLock(neighbours.bound(), down);
        }
        if (outcome != Outcome.BUSY) {
          return outcome;
        }
        neighbours.unlock();
        worker().worker().backoff().pauseBriefly(attempt);
        neighbours.awaitBusy();
      }
    } finally {
      neighbours.unlock();
    }
    throw new StalledException(
        "models between a key and its neighbour stayed locked: key="
            + wanted
            + ", attempts="
            + ATTEMPTS_MAX);
  }

  @Override
  protected long visit(long from, long to, long limit, EntryVisitor visitor) {
    return worker().scans().scan(from, to, limit, visitor);
  }

  private RolexWorker worker() {
    checkOpen();
    return Objects.requireNonNull(opened(0));
  }

  @Override
  protected void retire(RolexWorker worker) {
    index.retire(worker);
  }
}
