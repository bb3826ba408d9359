package pando.index.orca;

import pando.index.host.HostedWorker;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.records.Probe;
import pando.index.orca.records.RecordCache;
import pando.index.session.Operation;

/** One session's operations at one compute server of ORCA. */
final class OrcaWorker extends HostedWorker {
  /*
   * A key is in exactly one of: its leaf without a tombstone, its delta, nowhere. The cache of
   * records says which, and has the newest value:
   *
   *   CLEAN        as in the leaf               DELTA        as in the delta
   *   DIRTY        newer than the leaf          DELTA_NEWER  newer than the delta
   *   CLEANING     a WRITE to the leaf runs     ABSENT       nowhere
   *
   * A get of a cached key issues no verb, nor does an update, which makes the record newer. A key
   * that is not cached is claimed first (RecordClaim), then looked for (LeafLookup), then installed
   * under the lock of its bucket, where the leaf's count of merges is compared: if a merge has begun
   * since, the slot that was found may be another key's by now.
   *
   * What changes whether a key is there goes into the delta of its leaf (DeltaChange), under the
   * leaf's latch and then the bucket's lock. Merges (Merges) put deltas into leaves.
   *
   * Locks are taken in this order: a claim, the latch of a leaf, the locks of a key's buckets. No
   * verb is issued under a lock or a latch, but by a merge under the latch of its leaf.
   */

  private static final String CLAIMED = "a key stays claimed by another session";
  private static final String MERGING = "the leaf of a key stays latched";

  private final OrcaServer server;
  private final OrcaContext context;
  private final RecordCache records;
  private final Directory directory;
  private final LeafEntries entries;
  private final Deltas deltas;
  private final Probe probe;
  private final RecordWay record;
  private final RecordClaim claim;
  private final LeafLookup lookup;
  private final DeltaChange change;
  private final boolean admitsNeighbours;

  OrcaWorker(OrcaServer server, OrcaContext context, int session) {
    super(server, session, context, new Neighbours(context), new Scans(context));
    this.server = server;
    this.context = context;
    this.records = server.records;
    this.directory = server.directory;
    this.entries = directory.entries();
    this.deltas = server.deltas;
    this.probe = new Probe(context.worker.backoff());
    this.record = new RecordWay(context);
    this.claim = context.claim;
    this.lookup = new LeafLookup(context);
    this.change = new DeltaChange(context, new Merges(context));
    this.admitsNeighbours = server.options.neighbours();
  }

  @Override
  protected boolean mayHaveWritten() {
    return change.isDone();
  }

  @Override
  protected void complete() {}

  // Reading.

  @Override
  protected boolean get(long wanted) {
    for (int attempt = 0; ; attempt++) {
      if (records.find(wanted, probe)) {
        if (probe.kind != RecordCache.BUSY) {
          context.counters.leafHits++;
          value = probe.value;
          return probe.kind != RecordCache.ABSENT;
        }
        context.pause(attempt, CLAIMED, wanted);
      } else if (claim.claim(wanted)) {
        return load(wanted);
      }
    }
  }

  /** Looks for a claimed key, and caches what is found unless a merge has begun. */
  private boolean load(long wanted) {
    while (true) {
      int found = lookup.find(wanted);
      value = lookup.value;
      claim.lockClaimed();
      if (lookup.view.hasSameMerges() && !lookup.view.isMerging()) {
        claim.install(kindOf(found), Math.max(lookup.slot, 0), value);
        admitNeighbours(wanted);
        return found != LeafLookup.ABSENT;
      }
      if (lookup.view.hasSameExtent()) {
        claim.install(RecordCache.FREE, 0, 0);
        return found != LeafLookup.ABSENT;
      }
      claim.unlock();
    }
  }

  private static int kindOf(int found) {
    return switch (found) {
      case LeafLookup.IN_LEAF -> RecordCache.CLEAN;
      case LeafLookup.IN_DELTA -> RecordCache.DELTA;
      default -> RecordCache.ABSENT;
    };
  }

  /**
   * Fills free room of the cache with the other records of the segment that was READ. Such a record
   * is as the pool has it only if nothing of its leaf has moved, its delta does not have the key,
   * and no bucket has it.
   */
  private void admitNeighbours(long wanted) {
    if (!admitsNeighbours || server.isFull()) {
      return;
    }
    for (int i = 0; i < lookup.records; i++) {
      long key = lookup.key(i);
      if (key != wanted && !admit(key, i)) {
        server.noteFull();
      }
    }
  }

  /** Admits a record at count 0; returns {@code false} if its bucket has no free way. */
  private boolean admit(long key, int slot) {
    int delta = lookup.view.delta();
    if (delta != 0 && deltas.find(delta, key) >= 0) {
      return true;
    }
    boolean found = record.lock(key);
    try {
      int free = found ? RecordCache.NONE : records.free(record.home);
      if (free != RecordCache.NONE && lookup.view.isCurrent()) {
        records.setKey(record.home, free, key);
        records.setValue(record.home, free, lookup.value(slot));
        records.setCount(record.home, free, 0);
        records.setState(record.home, free, RecordCache.CLEAN, slot, 0);
      }
      return found || free != RecordCache.NONE;
    } finally {
      record.unlock();
    }
  }

  // Writing.

  @Override
  protected boolean write(Operation operation, long wanted, long stored) {
    change.reset();
    for (int attempt = 0; ; attempt++) {
      if (records.find(wanted, probe)) {
        if (probe.kind != RecordCache.BUSY && writeCached(operation, wanted, stored)) {
          context.counters.leafHits++;
          return probe.kind != RecordCache.ABSENT;
        }
        context.pause(attempt, CLAIMED, wanted);
      } else if (claim.claim(wanted)) {
        return operation.answers()
            ? writeClaimed(operation, wanted, stored)
            : writeBlindly(operation, wanted, stored);
      }
    }
  }

  /** Writes a key that was found in the cache; returns {@code false} if it is otherwise by now. */
  private boolean writeCached(Operation operation, long wanted, long stored) {
    boolean present = probe.kind != RecordCache.ABSENT;
    value = probe.value;
    if (operation.removes() && present) {
      boolean done = change.removeCached(wanted);
      value = change.before();
      return done;
    }
    if (!operation.stores(present)) {
      return true;
    }
    return present ? updateCached(wanted, stored) : change.addCached(wanted, stored);
  }

  private boolean updateCached(long wanted, long stored) {
    record.lock(wanted);
    try {
      int kind = record.kind();
      if (!RecordWay.isPresent(kind)) {
        return false;
      }
      value = record.value();
      if (kind == RecordCache.CLEAN || kind == RecordCache.DELTA) {
        // Counted before the record is newer, at the leaf that the directory names now.
        entries.addDirty(directory.entryOf(wanted));
        boolean clean = kind == RecordCache.CLEAN;
        record.setKind(
            clean ? RecordCache.DIRTY : RecordCache.DELTA_NEWER, clean ? record.slot() : 0);
      }
      record.setValue(stored);
      return true;
    } finally {
      record.unlock();
    }
  }

  private boolean writeClaimed(Operation operation, long wanted, long stored) {
    for (int attempt = 0; ; attempt++) {
      int found = lookup.find(wanted);
      boolean present = found != LeafLookup.ABSENT;
      value = lookup.value;
      if (present ? operation.removes() : operation.stores(false)) {
        changeClaimed(wanted, stored, !present, true);
        return present;
      }
      if (installWritten(wanted, stored, found, operation.stores(present))) {
        return present;
      }
      context.pause(attempt, MERGING, wanted);
    }
  }

  /** Writes the claimed key into the delta, without a look whether the leaf has it. */
  private boolean writeBlindly(Operation operation, long wanted, long stored) {
    changeClaimed(wanted, stored, operation == Operation.STORE, false);
    return false;
  }

  /** Adds or removes the claimed key, whose presence no other session changes meanwhile. */
  private void changeClaimed(long wanted, long stored, boolean adds, boolean known) {
    for (int attempt = 0; !change.changeClaimed(claim, wanted, stored, adds, known); attempt++) {
      context.pause(attempt, MERGING, wanted);
    }
  }

  /** Installs what was looked up, or the new value; returns {@code false} if a merge has begun. */
  private boolean installWritten(long wanted, long stored, int found, boolean stores) {
    claim.lockClaimed();
    if (!lookup.view.hasSameMerges() || lookup.view.isMerging()) {
      claim.unlock();
      return false;
    }
    int kind = kindOf(found);
    if (stores) {
      entries.addDirty(directory.entryOf(wanted));
      kind = found == LeafLookup.IN_LEAF ? RecordCache.DIRTY : RecordCache.DELTA_NEWER;
    }
    claim.install(kind, Math.max(lookup.slot, 0), stores ? stored : value);
    if (!stores) {
      admitNeighbours(wanted);
    }
    return true;
  }
}
