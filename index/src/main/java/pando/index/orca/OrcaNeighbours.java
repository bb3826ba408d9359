package pando.index.orca;

import pando.fabric.VerbList;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafView;
import pando.index.session.NeighbourSearch;

/** Searches the entry next to a key: segment by segment of a leaf, then in leaves that are held. */
final class OrcaNeighbours extends NeighbourSearch {
  private static final int ATTEMPTS_MAX = 3;

  private final OrcaContext context;
  private final Directory directory;
  private final LeafRange range;
  private final LeafView view;
  private final HeldLeaves held;
  private final VerbList list = new VerbList();

  OrcaNeighbours(OrcaContext context) {
    this.context = context;
    this.directory = context.directory;
    this.held = new HeldLeaves(context);
    this.range = new LeafRange(context, context.scanned(0));
    this.view = range.view;
  }

  @Override
  public Outcome look(long wanted, boolean down) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      directory.find(wanted, view);
      Outcome outcome = lookInLeaf(wanted, down, false);
      if (outcome != Outcome.BUSY) {
        return outcome;
      }
      context.counters.restarts++;
    }
    return Outcome.FURTHER;
  }

  /** Searches segment after segment; returns {@link Outcome#BUSY} if the leaf has moved. */
  private Outcome lookInLeaf(long wanted, boolean down, boolean isHeld) {
    view.seek(wanted);
    int segment = view.segment;
    int end = down ? -1 : view.segments();
    while (segment != end) {
      list.clear();
      range.choose(segment, segment);
      range.read(list);
      if (range.segmentsRead() == 0) {
        context.counters.leafHits++;
      } else {
        context.scatter(list, range.isViewed());
        context.counters.leafMisses++;
        context.use.notePairs(1);
      }
      if (!range.collect(isHeld)) {
        return Outcome.BUSY;
      }
      range.admit(context.mayEvictImages(1, range.segmentsRead()));
      int index = down ? floor(wanted) : ceiling(wanted);
      if (index >= 0) {
        return found(range.keys[index], range.values[index]);
      }
      segment += down ? -1 : 1;
    }
    return beyond(down ? view.low : view.high, down);
  }

  private int floor(long wanted) {
    int index = range.count() - 1;
    while (index >= 0 && range.keys[index] > wanted) {
      index--;
    }
    return index;
  }

  private int ceiling(long wanted) {
    for (int i = 0; i < range.count(); i++) {
      if (range.keys[i] >= wanted) {
        return i;
      }
    }
    return -1;
  }

  @Override
  protected Outcome lookUnderLock(long wanted, boolean down) {
    directory.seek(wanted, view);
    if (!held.tryHold(view)) {
      return busy(view.entry);
    }
    hold(view.entry);
    return lookInLeaf(wanted, down, true);
  }

  /** {@inheritDoc} Waits until the leaf is unlatched; the next attempt holds it. */
  @Override
  protected boolean lock(long entry) {
    held.await((int) entry, view.low);
    return false;
  }

  @Override
  protected void unlock(long entry) {
    held.release((int) entry);
  }
}
