package pando.baselines.emt;

import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.VerbList;
import pando.fabric.WaitLimit;
import pando.fabric.memory.Words;
import pando.index.host.HostedWorker;
import pando.index.session.Operation;
import pando.index.session.Request;

/** One session's operations at one compute server of EMT-D: each is a CALL. */
final class EmtWorker extends HostedWorker {
  private static final String GIVING = "no session gave a tree the nodes that it needs: key";

  private final EmtContext context;
  private final TreeCalls calls;

  /** Free nodes of a tree from which on a removal takes some, and below which an insert gives. */
  private final int freeMax;

  private final int freeMin;
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
    this.freeMin = server.options.keptNodes() / 2;
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
    long start = 0;
    int waits = 0;
    while (status == EmtMessage.NEEDS_NODES) {
      try {
        if (!context.nodes.tryToGive(tree, calls.get(EmtMessage.DETAIL))) {
          start =
              WaitLimit.SHORT.pauseBriefly(
                  context.worker.backoff(), waits++, start, GIVING, wanted.key());
        }
        status = write(tree);
      } catch (PoolFullException e) {
        // Another compute server may have given the tree the last nodes.
        status = write(tree);
        if (status == EmtMessage.NEEDS_NODES) {
          throw e;
        }
      }
    }
    written = true;
    value = calls.get(EmtMessage.VALUE);
    boolean found = status == EmtMessage.FOUND;
    try {
      keepNodes(tree, found);
    } catch (PandoException _) {
      // The change is done and answered. What is lost, the next operation that needs it finds out.
    }
    return found;
  }

  /** Takes free nodes from a tree after a removal, or gives it some after an insert. */
  private void keepNodes(long tree, boolean found) {
    long free = calls.get(EmtMessage.FREE_NODES);
    if (request.operation().isRemoval()) {
      if (free > freeMax) {
        context.nodes.takeSome(tree, free);
      }
    } else if (!found && free < freeMin) {
      boolean _ = context.nodes.tryToGive(tree, 1);
    }
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
      reads.read(word, context.scratch + (long) i * Long.BYTES, Long.BYTES);
    }
    context.worker.scatter(reads);
    double sum = 0;
    for (int i = 0; i < ranges.count(); i++) {
      sum += Words.get(context.memory, context.scratch + (long) i * Long.BYTES);
    }
    return sum;
  }
}
