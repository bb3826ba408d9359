package pando.index.orca;

import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.leaf.LeafLayout;
import pando.index.session.LeafScan;

/** Visits entries in key order; READs the segments of several leaves in one round trip. */
final class Scans extends LeafScan {
  /** Records of a segment to reckon with. */
  private static final double RECORDS_OF_SEGMENT = 7;

  private static final int ATTEMPTS_BEFORE_HOLDING = 2;

  private final OrcaContext context;
  private final Worker worker;
  private final Directory directory;
  private final Deltas deltas;
  private final VerbList list = new VerbList();
  private final LeafRange[] ranges = new LeafRange[OrcaContext.SCANNED];

  Scans(OrcaContext context) {
    super(context::abandon);
    this.context = context;
    this.worker = context.worker;
    this.directory = context.server.directory;
    this.deltas = context.server.deltas;
    for (int i = 0; i < ranges.length; i++) {
      ranges[i] = new LeafRange(context, context.scanned(i));
    }
  }

  @Override
  protected int readLeaves(long from, long to, long limit) {
    for (int attempt = 0; attempt < ATTEMPTS_BEFORE_HOLDING; attempt++) {
      int leaves = read(from, to, limit);
      if (leaves > 0) {
        return leaves;
      }
      context.counters.restarts++;
    }
    return readHeld(from, to, limit);
  }

  /** READs leaves; returns how many of the first have not moved. */
  private int read(long from, long to, long limit) {
    list.clear();
    long next = from;
    long wanted = limit;
    int leaves = 0;
    boolean more = true;
    while (more && leaves < ranges.length) {
      LeafRange range = ranges[leaves++];
      directory.find(next, range.view);
      wanted -= addRead(range, next, to, wanted);
      next = range.high() + 1;
      more = wanted > 0 && range.high() < to && next > from && context.server.owns(next);
    }
    worker.scatter(list);
    context.counters.leafMisses += leaves;
    for (int i = 0; i < leaves; i++) {
      if (!ranges[i].collect(false)) {
        return i;
      }
    }
    return leaves;
  }

  /** Adds the READ of a leaf's segments; returns about how many entries they have. */
  private long addRead(LeafRange range, long from, long to, long wanted) {
    range.view.seek(from);
    int first = range.view.segment;
    int end = range.view.segments() - 1;
    if (to < range.view.high) {
      range.view.seek(to);
      end = range.view.segment;
    }
    long needed = (long) (Math.min(wanted, LeafLayout.RECORDS_MAX) / RECORDS_OF_SEGMENT) + 1;
    int last = (int) Math.min(end, first + needed);
    int segments = range.read(list, first, last);
    int delta = range.view.delta();
    return (long) (segments * RECORDS_OF_SEGMENT) + (delta == 0 ? 0 : deltas.count(delta));
  }

  /** READs one leaf while it is held. */
  private int readHeld(long from, long to, long limit) {
    LeafRange range = ranges[0];
    for (int attempt = 0; ; attempt++) {
      directory.find(from, range.view);
      if (context.heldLeaves.tryHold(range.view)) {
        list.clear();
        addRead(range, from, to, limit);
        worker.scatter(list);
        range.collect(true);
        context.heldLeaves.release(range.view.entry);
        return 1;
      }
      context.pause(attempt, "a leaf stays latched", from);
    }
  }

  @Override
  protected long high(int leaf) {
    return ranges[leaf].high();
  }

  @Override
  protected int entriesMax(int leaf) {
    return ranges[leaf].count();
  }

  @Override
  protected int copySorted(int leaf, long from, long to, long[] keys, long[] values) {
    LeafRange range = ranges[leaf];
    int copied = 0;
    for (int i = 0; i < range.count(); i++) {
      if (range.keys[i] >= from && range.keys[i] <= to) {
        keys[copied] = range.keys[i];
        values[copied++] = range.values[i];
      }
    }
    return copied;
  }
}
