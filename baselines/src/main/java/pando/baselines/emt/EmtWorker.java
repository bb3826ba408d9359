package pando.baselines.emt;

import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.memory.Words;
import pando.index.host.HostedWorker;
import pando.index.session.Operation;
import pando.index.session.Request;

/** One session's operations at one compute server of EMT-D: each is a CALL. */
final class EmtWorker extends HostedWorker {
  private static final int ATTEMPTS_MAX = 1_000;

  private final EmtContext context;
  private final TreeCalls calls;
  private final int freeMax;
  private final VerbList reads = new VerbList();
  private final Runnable key = this::setKey;
  private final Runnable change = this::setChange;
  private long wantedKey;
  private Request request = new Request();

  /** Whether the last change is known to be done, or may be done. */
  private boolean written;

  EmtWorker(EmtServer server, EmtContext context, int session) {
    super(server, session, context, new EmtNeighbours(context), new EmtScans(context));
    this.context = context;
    this.calls = context.calls;
    this.freeMax = 2 * server.options.keptNodes();
  }

  @Override
  protected boolean get(long wanted) {
    Ranges ranges = context.ranges();
    wantedKey = wanted;
    long tree = ranges.tree(ranges.find(wanted));
    long status = calls.send(tree, Operation.GET.code, EmtMessage.GET_BYTES, key);
    value = calls.get(EmtMessage.VALUE);
    return status == EmtMessage.FOUND;
  }

  private void setKey() {
    calls.set(EmtMessage.KEY, wantedKey);
  }

  @Override
  protected boolean write(Request wanted) {
    written = false;
    request = wanted;
    Ranges ranges = context.ranges();
    long tree = ranges.tree(ranges.find(wanted.key()));
    long status = write(tree);
    for (int attempt = 0; status == EmtMessage.NEEDS_NODES; attempt++) {
      if (attempt == ATTEMPTS_MAX) {
        throw new StalledException(
            "other sessions took all nodes that a tree was given: key=%s, attempts=%s"
                .formatted(wanted.key(), attempt));
      }
      context.nodes.give(tree, calls.get(EmtMessage.DETAIL));
      status = write(tree);
    }
    written = true;
    value = calls.get(EmtMessage.VALUE);
    long free = calls.get(EmtMessage.FREE_NODES);
    if (free > freeMax) {
      context.nodes.takeSome(tree, free);
    }
    return status == EmtMessage.FOUND;
  }

  private long write(long tree) {
    Operation operation = request.operation();
    try {
      return calls.send(tree, operation.code, EmtMessage.requestBytes(operation), change);
    } finally {
      written = calls.isUncertain();
    }
  }

  private void setChange() {
    calls.set(EmtMessage.CHANGED_KEY, request.key());
    calls.set(EmtMessage.STORED, request.stored());
    calls.set(EmtMessage.EXPECTED, request.expected());
  }

  @Override
  protected boolean mayHaveWritten() {
    return written;
  }

  @Override
  protected void complete() {}

  /** Returns how many entries the trees count, in one round trip. */
  @Override
  protected double estimateSize(long low, long high) {
    Ranges ranges = context.ranges();
    reads.clear();
    for (int i = 0; i < ranges.count(); i++) {
      long word = ranges.tree(i) + EmtHeader.ENTRIES;
      reads.read(word, context.local + (long) i * Long.BYTES, Long.BYTES);
    }
    context.worker.scatter(reads);
    double sum = 0;
    for (int i = 0; i < ranges.count(); i++) {
      sum += Words.get(context.memory, context.local + (long) i * Long.BYTES);
    }
    return sum;
  }
}
