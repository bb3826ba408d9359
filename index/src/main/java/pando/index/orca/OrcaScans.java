package pando.index.orca;

import pando.fabric.VerbList;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafView;
import pando.index.orca.leaf.LeafLayout;
import pando.index.session.LeafScan;

/** Visits entries of leaves; READs what images lack of several leaves in one round trip. */
final class OrcaScans extends LeafScan {
  /**
   * Records beyond those that are needed, as segments do not all have as many: then hardly any scan
   * needs a second round trip.
   */
  private static final double SPARE_RECORDS = 7;

  private static final int ATTEMPTS_BEFORE_HOLDING = 2;

  private final OrcaContext context;
  private final Directory directory;
  private final Deltas deltas;
  private final HeldLeaves held;
  private final VerbList list = new VerbList();
  private final LeafRange[] ranges = new LeafRange[OrcaContext.SCANNED];

  OrcaScans(OrcaContext context) {
    super(context::abandon);
    this.context = context;
    this.directory = context.directory;
    this.deltas = context.deltas;
    this.held = new HeldLeaves(context);
    for (int i = 0; i < ranges.length; i++) {
      ranges[i] = new LeafRange(context, context.scanned(i));
    }
  }

  @Override
  protected int readLeaves(long from, long to, boolean down, long limit) {
    for (int attempt = 0; attempt < ATTEMPTS_BEFORE_HOLDING; attempt++) {
      int leaves = read(from, to, down, limit);
      if (leaves > 0) {
        return leaves;
      }
      context.counters.restarts++;
    }
    return readHeld(from, to, down, limit);
  }

  /** READs leaves; returns how many of the first have not moved. */
  private int read(long from, long to, boolean down, long limit) {
    list.clear();
    long next = from;
    long wanted = limit;
    int leaves = 0;
    boolean more = true;
    while (more && leaves < ranges.length) {
      LeafRange range = ranges[leaves];
      if (leaves == 0) {
        directory.find(next, range.view);
      } else {
        directory.findBeside(ranges[leaves - 1].view, next, down, range.view);
      }
      leaves++;
      wanted -= choose(range, next, to, down, wanted);
      boolean ends = down ? range.low() <= to : range.high() >= to;
      next = down ? range.low() - 1 : range.high() + 1;
      boolean advances = down ? next < from : next > from;
      more = wanted > 0 && !ends && advances && context.range.owns(next);
    }
    for (int i = 0; i < leaves; i++) {
      ranges[i].read(list);
    }
    scatter(leaves);
    boolean evicts = mayEvict(leaves);
    for (int i = 0; i < leaves; i++) {
      if (!ranges[i].collect(false)) {
        return i;
      }
      ranges[i].admit(evicts);
    }
    return leaves;
  }

  private void scatter(int leaves) {
    context.scatter(list, ranges[0].isViewed());
    for (int i = 0; i < leaves; i++) {
      boolean hit = ranges[i].segmentsRead() == 0;
      context.counters.leafHits += hit ? 1 : 0;
      context.counters.leafMisses += hit ? 0 : 1;
    }
  }

  private boolean mayEvict(int leaves) {
    int segments = 0;
    int segmentsRead = 0;
    for (int i = 0; i < leaves; i++) {
      segments += ranges[i].segments();
      segmentsRead += ranges[i].segmentsRead();
    }
    context.use.notePairs((segmentsRead + 1) / 2);
    return context.mayEvictImages(segments, segmentsRead);
  }

  /** Chooses segments of a leaf; returns about how many entries they have. */
  private long choose(LeafRange range, long from, long to, boolean down, long wanted) {
    LeafView view = range.view;
    int delta = view.delta();
    int changes = delta == 0 ? 0 : deltas.count(delta);
    int end = endOf(view, to, down);
    view.seek(from);
    int start = view.segment;
    double perSegment = Math.max(1, (double) LeafEntries.records(view.control) / view.segments());
    double atStart = perSegment * (down ? view.shareTo(from) : view.shareFrom(from));
    double beyond = Math.min(wanted, LeafLayout.RECORDS_MAX) + SPARE_RECORDS - atStart;
    int needed = (int) Math.ceil(Math.max(0, beyond) / perSegment);
    int last = down ? Math.max(end, start - needed) : Math.min(end, start + needed);
    range.choose(Math.min(start, last), Math.max(start, last));
    return (long) (atStart + perSegment * Math.abs(last - start)) + changes;
  }

  /** Returns the last segment of a leaf that a scan needs. */
  private static int endOf(LeafView view, long to, boolean down) {
    if (down ? to <= view.low : to >= view.high) {
      return down ? 0 : view.segments() - 1;
    }
    view.seek(to);
    return view.segment;
  }

  /** READs one leaf while it is held. */
  private int readHeld(long from, long to, boolean down, long limit) {
    LeafRange range = ranges[0];
    for (int attempt = 0; ; attempt++) {
      directory.find(from, range.view);
      if (held.tryHold(range.view)) {
        list.clear();
        choose(range, from, to, down, limit);
        range.read(list);
        scatter(1);
        range.collect(true);
        held.release(range.view.entry);
        return 1;
      }
      context.pause(attempt, "a leaf stays latched", from);
    }
  }

  @Override
  protected long fence(int leaf, boolean down) {
    return down ? ranges[leaf].low() : ranges[leaf].high();
  }

  @Override
  protected int entriesMax(int leaf) {
    return ranges[leaf].count();
  }

  @Override
  protected int copySorted(int leaf, long least, long greatest, long[] keys, long[] values) {
    LeafRange range = ranges[leaf];
    int first = 0;
    while (first < range.count() && range.keys[first] < least) {
      first++;
    }
    int end = range.count();
    while (end > first && range.keys[end - 1] > greatest) {
      end--;
    }
    int copied = end - first;
    System.arraycopy(range.keys, first, keys, 0, copied);
    System.arraycopy(range.values, first, values, 0, copied);
    return copied;
  }
}
