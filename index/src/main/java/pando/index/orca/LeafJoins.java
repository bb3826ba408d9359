package pando.index.orca;

import java.util.List;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafView;

/**
 * Takes neighbours along where a leaf that merges has few records: one if both fit one leaf, else
 * the two beside it if all three fit two. The second case is for leaves that stay alone between
 * pairs: where leaves are joined in any order, about an eighth do. Joined leaves may be full: where
 * less is allowed, many stay half full.
 */
final class LeafJoins {
  private final OrcaContext context;
  private final HeldLeaves held;
  private final Directory directory;
  private final LeafEntries entries;
  private final Deltas deltas;
  private final MergedRecords records;
  private final LeafCuts cuts;
  private final DirectoryChange change;
  private final Pieces pieces;
  private final LeafView below;
  private final LeafView above;
  private final int recordsMax;

  /** Creates an object that plans leaves in pieces, which are empty before and after. */
  LeafJoins(
      OrcaContext context,
      HeldLeaves held,
      MergedRecords records,
      LeafCuts cuts,
      Pieces pieces,
      DirectoryChange change) {
    this.context = context;
    this.held = held;
    this.directory = context.directory;
    this.entries = directory.entries();
    this.deltas = context.deltas;
    this.records = records;
    this.cuts = cuts;
    this.pieces = pieces;
    this.change = change;
    this.below = new LeafView(directory, context.worker.backoff());
    this.above = new LeafView(directory, context.worker.backoff());
    this.recordsMax = context.options.recordsMax();
  }

  /**
   * Takes neighbours below the same node along; returns whether it did. Where a leaf is alone in
   * its node, the node is to join its neighbour, so the latch of the structure stays held.
   *
   * @param leaf that merges and whose records have been read
   * @param merged that leaf alone; receives the neighbours, held, in the order of their keys
   */
  boolean join(LeafView leaf, List<LeafView> merged) {
    if (!change.tryLatchToJoin(leaf)) {
      return false;
    }
    boolean joined = false;
    boolean alone = false;
    try {
      directory.seek(leaf.low, leaf);
      alone = leaf.node.size() == 1 && leaf.node != directory.root();
      joined = tryJoin(leaf, merged);
    } finally {
      if (!joined && !alone) {
        change.unlatchStructure();
      }
    }
    return joined;
  }

  private boolean tryJoin(LeafView leaf, List<LeafView> merged) {
    boolean hasBelow =
        leaf.child > 0 && mayJoin(leaf, leaf.low - 1) && tryLatch(leaf.low - 1, below);
    boolean hasAbove = false;
    boolean takesBelow = false;
    boolean takesAbove = false;
    try {
      hasAbove =
          leaf.child < leaf.node.size() - 1
              && mayJoin(leaf, leaf.high + 1)
              && tryLatch(leaf.high + 1, above);
      takesAbove = hasAbove && tryTake(leaf, false, true);
      takesBelow = !takesAbove && hasBelow && tryTake(leaf, true, false);
      if (hasBelow && hasAbove && !takesAbove && !takesBelow) {
        takesAbove = tryTake(leaf, true, true);
        takesBelow = takesAbove;
      }
    } finally {
      settle(below, hasBelow, takesBelow);
      settle(above, hasAbove, takesAbove);
    }
    if (takesBelow) {
      merged.addFirst(below);
    }
    if (takesAbove) {
      merged.add(above);
    }
    return takesBelow || takesAbove;
  }

  /** Returns whether a leaf and that of a key beside it both stay here, or both are to leave. */
  private boolean mayJoin(LeafView leaf, long beside) {
    return context.space.of(leaf.low) == context.space.of(beside);
  }

  /**
   * Latches the leaf of a key beside the leaf that merges, and marks it as merging, so that others
   * go on reading it; returns whether it did.
   */
  private boolean tryLatch(long key, LeafView neighbour) {
    directory.seek(key, neighbour);
    int entry = neighbour.entry;
    if (!entries.tryLatch(entry)) {
      return false;
    }
    boolean isNeighbour = false;
    try {
      // It may have been split before it was latched: then another leaf is beside this one.
      directory.seek(key, neighbour);
      isNeighbour = neighbour.entry == entry;
      if (isNeighbour) {
        entries.startMerge(entry, true);
        neighbour.copyHeld();
      }
    } finally {
      if (!isNeighbour) {
        held.unlatch(entry);
      }
    }
    return isNeighbour;
  }

  private void settle(LeafView neighbour, boolean isLatched, boolean isTaken) {
    if (isLatched && !isTaken) {
      held.unlatch(neighbour.entry);
    }
  }

  /**
   * READs the records of one neighbour or of both if all are sure to fit one leaf fewer: more would
   * be more than the page may have room for. A neighbour that cannot be READ stays where it is.
   */
  private boolean tryTake(LeafView leaf, boolean takesBelow, boolean takesAbove) {
    int leaves = takesBelow && takesAbove ? 2 : 1;
    int expected =
        records.count()
            + (takesBelow ? recordsAfterMerge(below) : 0)
            + (takesAbove ? recordsAfterMerge(above) : 0);
    if (expected > leaves * recordsMax) {
      return false;
    }
    boolean fits = tryRead(takesBelow, takesAbove);
    if (fits) {
      long low = takesBelow ? below.low : leaf.low;
      long high = takesAbove ? above.high : leaf.high;
      cuts.cut(records.keys, 0, records.count(), low, high, pieces);
      fits = pieces.count <= leaves;
      pieces.clear();
    }
    if (!fits) {
      records.keepFirst();
    }
    return fits;
  }

  private boolean tryRead(boolean readsBelow, boolean readsAbove) {
    try {
      if (readsAbove) {
        held.awaitUnpinned(above);
        records.addAbove(above);
      }
      if (readsBelow) {
        held.awaitUnpinned(below);
        records.addBelow(below);
      }
      return true;
    } catch (FencedException e) {
      throw e;
    } catch (PandoException _) {
      return false;
    }
  }

  /** Returns about how many records a latched leaf has once its delta is merged. */
  private int recordsAfterMerge(LeafView leaf) {
    int after = LeafEntries.records(leaf.control);
    int delta = leaf.delta();
    int changes = delta == 0 ? 0 : deltas.count(delta);
    for (int i = 0; i < changes; i++) {
      after += deltas.kind(delta, i) == Deltas.TOMBSTONE ? -1 : 1;
    }
    return Math.max(after, 0);
  }
}
