package pando.index.deft;

import org.jspecify.annotations.Nullable;
import pando.index.EntryVisitor;
import pando.index.session.Operation;
import pando.index.session.RoutedSession;

/** Sends every operation of one thread to its compute server. */
final class DeftSession extends RoutedSession<DeftWorker> {
  private final DeftIndex index;
  private final DeftServer server;

  DeftSession(DeftIndex index, DeftServer server) {
    super(new @Nullable DeftWorker[1]);
    this.index = index;
    this.server = server;
    worker();
  }

  @Override
  protected boolean operate(Operation operation, long wanted, long stored) {
    DeftWorker worker = worker();
    boolean found =
        operation == Operation.GET ? worker.get(wanted) : worker.write(operation, wanted, stored);
    setEntry(wanted, worker.value());
    return found;
  }

  @Override
  protected boolean neighbour(long wanted, boolean down) {
    Neighbours neighbours = worker().neighbours();
    boolean found = neighbours.find(wanted, down);
    if (found) {
      setEntry(neighbours.key(), neighbours.value());
    }
    return found;
  }

  @Override
  protected long visit(long from, long to, long limit, EntryVisitor visitor) {
    return worker().scans().scan(from, to, limit, visitor);
  }

  private DeftWorker worker() {
    DeftWorker worker = opened(0);
    return worker != null ? worker : open();
  }

  private DeftWorker open() {
    checkOpen();
    DeftWorker worker = index.worker(server);
    replace(0, worker);
    return worker;
  }

  @Override
  protected void retire(DeftWorker worker) {
    index.retire(worker);
  }
}
