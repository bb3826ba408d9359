package pando.index.orca;

import pando.fabric.MemoryServerLostException;
import pando.index.CorruptNodeException;
import pando.index.bugs.PlantedBug;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.LeafEntries;
import pando.index.session.Gate;
import pando.index.session.Marks;
import pando.index.session.Sweep;
import pando.index.session.WriteBack;

/**
 * Merges leaves that have deltas, and then writes what cached records have that is newer. In this
 * order, as a merge writes the newer values of its leaf, too.
 */
final class OrcaSweep extends Sweep {
  /** Leaves that a step merges at most. */
  private static final int LEAVES = 4;

  private final OrcaContext context;
  private final Cleaner cleaner;
  private final LeafEntries entries;
  private final Deltas deltas;

  /** After an unknown outcome it refuses all further work, and the next walk has another one. */
  private OrcaMerges merges;

  /** Where to go on: the next leaf, and then the next bucket. */
  private long leaf;

  private long bucket;

  OrcaSweep(OrcaContext context, WriteBack writeBack, Gate.Pass pass) {
    super(writeBack, context.worker, pass);
    this.context = context;
    this.merges = new OrcaMerges(context);
    this.cleaner = new Cleaner(context);
    this.entries = context.directory.entries();
    this.deltas = context.deltas;
  }

  @Override
  protected void rewind() {
    if (!merges.isUsable()) {
      merges = new OrcaMerges(context);
    }
    leaf = 0;
    bucket = 0;
  }

  @Override
  protected boolean write() {
    for (int i = 0; i < LEAVES && leaf != Marks.NONE; i++) {
      leaf = entries.unmerged().next(leaf);
      if (leaf != Marks.NONE) {
        merge((int) leaf++);
      }
    }
    if (leaf == Marks.NONE) {
      clean();
    }
    return bucket != Marks.NONE;
  }

  private void clean() {
    boolean all = true;
    try {
      all = cleaner.cleanMarked(bucket);
    } catch (MemoryServerLostException | CorruptNodeException e) {
      all = cleaner.cleanOneByOne(bucket);
      throw e;
    } finally {
      bucket = cleaner.nextMarked();
      if (!all) {
        leaveOut();
      }
    }
  }

  private void merge(int entry) {
    entries.unmerged().clear(entry);
    long stamp = entries.stamp(entry);
    long version = entries.version(entry);
    int delta = LeafEntries.delta(version);
    boolean latched = LeafEntries.isLatched(version);
    boolean merged = delta == 0 && !latched;
    try {
      if (delta != 0 && !latched) {
        mergeDelta(delta);
      }
      // It changes when a merge publishes the leaf, whichever thread's.
      merged |= entries.stamp(entry) != stamp || PlantedBug.SWEEP_FORGETS;
    } finally {
      if (!merged) {
        entries.unmerged().set(entry);
      }
    }
    if (!merged) {
      leaveOut();
    }
  }

  /** Merges the leaf of a delta that was read without its latch, so it may be another by now. */
  private void mergeDelta(int delta) {
    long key = deltas.key(delta, 0);
    boolean forgotten = PlantedBug.SWEEP_FORGETS && deltas.count(delta) <= 3;
    if (context.range.owns(key) && !forgotten) {
      merges.merge(key);
    }
  }

  @Override
  protected void abandon(Throwable failure) {
    context.abandon(failure);
  }
}
