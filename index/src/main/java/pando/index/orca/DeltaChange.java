package pando.index.orca;

import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.PoolFullException;
import pando.index.bugs.PlantedBug;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafView;
import pando.index.orca.records.RecordCache;
import pando.index.session.Request;

/**
 * Adds a key to the index, or removes one: a change of the delta of its leaf and of its record in
 * the cache, under the leaf's latch and then the locks of the key's buckets.
 */
final class DeltaChange {
  /** Result: done. */
  private static final int DONE = 0;

  /** Result: the leaf is latched or merging, or the record is not as it was. */
  private static final int AGAIN = 1;

  /** Result: the delta has no room. */
  private static final int FULL = 2;

  /** No delta has this name. Other negative numbers name deltas above 32 GiB of the memory. */
  private static final int NO_ROOM = -1;

  private final Directory directory;
  private final LeafEntries entries;
  private final Deltas deltas;
  private final CacheUse use;
  private final OrcaMerges merges;
  private final Backoff backoff;
  private final LeafView view;
  private final RecordWay record;
  private final int changesMax;

  /** Changes that a delta may have before one more is added. */
  private int changesLimit;

  private Request wanted = new Request();
  private long before;
  private boolean done;

  DeltaChange(OrcaContext context, OrcaMerges merges) {
    this.directory = context.directory;
    this.entries = directory.entries();
    this.deltas = context.deltas;
    this.use = context.use;
    this.merges = merges;
    this.backoff = context.worker.backoff();
    this.view = new LeafView(directory, backoff);
    this.record = new RecordWay(context);
    this.changesMax = Math.min(context.options.deltaChanges(), context.options.recordsMax());
  }

  /** Begins an operation. */
  void begin(Request operation) {
    wanted = operation;
    done = false;
  }

  /** Returns whether the operation has changed a delta. */
  boolean isDone() {
    return done;
  }

  /** Returns the value that the key had before it was removed. */
  long before() {
    return before;
  }

  /** Adds the key, which is cached as ABSENT; returns {@code false} if it is not by now. */
  boolean addCached() {
    return change(true, true, 1 << RecordCache.ABSENT, null);
  }

  /**
   * Removes the key, which is cached; returns {@code false} if it is not by now, or has another
   * value than is expected.
   */
  boolean removeCached() {
    return change(false, true, RecordWay.KINDS_PRESENT, null);
  }

  /**
   * Adds or removes the key, which the session has claimed, and ends the claim; returns {@code
   * false} if the leaf is merging.
   *
   * @param known whether the session has looked: the key is then absent if it is added
   */
  boolean changeClaimed(RecordClaim claim, boolean adds, boolean known) {
    return change(adds, known, 1 << RecordCache.BUSY, claim);
  }

  private boolean change(boolean adds, boolean known, int kinds, @Nullable RecordClaim claim) {
    merges.relieve();
    if (adds) {
      merges.ensureRoom();
    }
    changesLimit = changesMax;
    int result = tryChange(adds, known, kinds, claim);
    if (result != FULL) {
      return result == DONE;
    }
    try {
      merges.makeRoom(wanted.key(), changesMax);
      return false;
    } catch (PoolFullException e) {
      // The leaf finds no gap. A removal goes into its delta anyway, while that has room.
      changesLimit = Deltas.RECORDS_MAX;
      int again = adds ? FULL : tryChange(false, known, kinds, claim);
      if (again == FULL) {
        throw e;
      }
      return again == DONE;
    }
  }

  private int tryChange(boolean adds, boolean known, int kinds, @Nullable RecordClaim claim) {
    long key = wanted.key();
    directory.find(key, view);
    int entry = view.entry;
    if (view.isMerging() || !entries.tryLatch(entry)) {
      return AGAIN;
    }
    int delta = LeafEntries.delta(entries.version(entry));
    int after = delta;
    try {
      if (view.node.isReplaced()) {
        return AGAIN;
      }
      record.lock(key);
      try {
        int kind = record.kind();
        boolean unclaimed = PlantedBug.UNCLAIMED && adds && RecordWay.isPresent(kind);
        if ((kinds >>> kind & 1) == 0 && !unclaimed) {
          return AGAIN;
        }
        // The value of a claimed key has been compared by the look.
        if (claim == null && !adds && !wanted.removes(true, record.value())) {
          return AGAIN;
        }
        int changed = adds ? added(delta, known) : removed(delta);
        if (changed == NO_ROOM) {
          return FULL;
        }
        after = changed;
        before = record.value();
        record.setValue(adds ? wanted.stored() : 0);
        record.setKind(adds ? RecordCache.DELTA : RecordCache.ABSENT, 0);
        if (kind == RecordCache.DIRTY || kind == RecordCache.DELTA_NEWER) {
          entries.removeDirty(entry);
        }
        if (claim != null) {
          claim.end();
        }
        done = true;
        return DONE;
      } finally {
        record.unlock();
      }
    } finally {
      entries.unlatch(entry, after);
      if (after != delta && delta != 0) {
        deltas.free(delta);
      }
    }
  }

  /** Adds the key to a delta; returns the delta that has it, or {@link #NO_ROOM}. */
  private int added(int delta, boolean known) {
    int index = delta == 0 ? -1 : deltas.find(delta, wanted.key());
    if (index < 0) {
      return inserted(delta, wanted.stored(), known ? Deltas.PUT : Deltas.PUT_OVER);
    }
    deltas.setValue(delta, index, wanted.stored());
    if (deltas.kind(delta, index) == Deltas.TOMBSTONE) {
      // The leaf may still have the key.
      deltas.setKind(delta, index, Deltas.PUT_OVER);
    }
    return delta;
  }

  /**
   * Removes the key from a delta, or hides that of the leaf; returns the delta, or {@link
   * #NO_ROOM}.
   */
  private int removed(int delta) {
    int index = delta == 0 ? -1 : deltas.find(delta, wanted.key());
    if (index < 0) {
      return inserted(delta, 0, Deltas.TOMBSTONE);
    }
    if (deltas.kind(delta, index) == Deltas.PUT) {
      deltas.remove(delta, index);
      return deltas.count(delta) == 0 ? 0 : delta;
    }
    deltas.setKind(delta, index, Deltas.TOMBSTONE);
    return delta;
  }

  private int inserted(int delta, long value, int kind) {
    if (delta != 0 && deltas.count(delta) >= changesLimit) {
      return NO_ROOM;
    }
    int from = delta == 0 ? deltas.create() : delta;
    if (from == 0) {
      return NO_ROOM;
    }
    int after = deltas.insert(from, wanted.key(), value, kind);
    if (after == 0) {
      return NO_ROOM;
    }
    use.countChange();
    return after;
  }
}
