package pando.index.orca;

import java.util.Arrays;
import pando.fabric.VerbList;
import pando.index.bugs.PlantedBug;
import pando.index.host.HostedServer;
import pando.index.host.HostedWorker;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafView;
import pando.index.orca.records.Probe;
import pando.index.orca.records.RecordCache;
import pando.index.session.KeyGroups;
import pando.index.session.Operation;
import pando.index.session.Request;

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
   * leaf's latch and then the bucket's lock. Merges (OrcaMerges) put deltas into leaves.
   *
   * Locks are taken in this order: a claim, the latch of a leaf, the locks of a key's buckets. No
   * verb is issued under a lock or a latch, but by a merge under the latch of its leaf.
   */

  private static final String CLAIMED = "a key stays claimed by another session";
  private static final String MERGING = "the leaf of a key stays latched";

  private static final int CLAIMS_TO_A_NOTE = 32;

  private final OrcaContext context;
  private final RecordCache records;
  private final Directory directory;
  private final Deltas deltas;
  private final Probe probe;
  private final RecordWay record;
  private final Cleaner cleaner;
  private final RecordClaim claim;
  private final LeafLookup lookup;
  private final DeltaChange change;
  private final boolean cachesRecords;
  private final boolean admitsNeighbours;
  private final VerbList list = new VerbList();
  private final int[] later = new int[OrcaContext.SEGMENTS];

  /** Of keys that are touched, the entries of their leaves, then the deltas. */
  private final int[] leaves = new int[TOUCHED];

  private Wanted[] together = {};
  private int claims;

  /** What was read by {@link #touch}, so that the reads are not left out. */
  @SuppressWarnings("unused")
  private long touched;

  OrcaWorker(HostedServer server, OrcaContext context, int session) {
    super(server, session, context, new OrcaNeighbours(context), new OrcaScans(context));
    this.context = context;
    this.records = context.records;
    this.directory = context.directory;
    this.deltas = context.deltas;
    this.probe = new Probe(context.worker.backoff());
    this.record = new RecordWay(context);
    this.cleaner = new Cleaner(context);
    this.claim = new RecordClaim(context, cleaner);
    this.lookup = new LeafLookup(context, context.lookup(0));
    this.change = new DeltaChange(context, new OrcaMerges(context));
    this.cachesRecords = context.options.cacheUnit() == CacheUnit.RECORDS;
    this.admitsNeighbours = cachesRecords && context.options.neighbours();
  }

  @Override
  protected boolean mayHaveWritten() {
    return change.isDone();
  }

  @Override
  protected void complete() {}

  /** Notes what the cache is worth, now and then. */
  private void noteClaim() {
    if (++claims % CLAIMS_TO_A_NOTE == 0) {
      context.use.noteAbsent(context.filtered, context.unfiltered);
      context.use.note(probe.tailHits);
      context.filtered = 0;
      context.unfiltered = 0;
      probe.tailHits = 0;
    }
  }

  // Reading.

  @Override
  protected boolean get(long wanted) {
    int pauses = 0;
    while (true) {
      if (records.find(wanted, probe)) {
        if (probe.kind != RecordCache.BUSY) {
          context.counters.leafHits++;
          value = probe.value;
          return probe.kind != RecordCache.ABSENT;
        }
        context.pause(pauses++, CLAIMED, wanted);
      } else if (claim.claim(wanted)) {
        noteClaim();
        return load(wanted);
      }
    }
  }

  /** Looks for a claimed key, and caches what is found unless a merge has begun. */
  private boolean load(long wanted) {
    while (true) {
      int found = lookup.find(wanted);
      value = lookup.value;
      if (install(wanted, claim, lookup, found)) {
        return found != LeafLookup.ABSENT;
      }
    }
  }

  /**
   * Ends a claim with what was found, which is cached unless a merge has begun. Keeps the claim and
   * returns {@code false} if a merge has published.
   */
  private boolean install(long wanted, RecordClaim claimed, LeafLookup looked, int found) {
    claimed.lockClaimed();
    if (mayInstall(looked)) {
      claimed.install(kindOf(found), looked.slot, looked.value);
      admitNeighbours(wanted, looked);
      return true;
    }
    if (looked.view.hasSameExtent()) {
      claimed.install(RecordCache.FREE, 0, 0);
      return true;
    }
    claimed.unlock();
    return false;
  }

  /** A key of several that are looked for together. */
  private final class Wanted {
    final RecordClaim claim = new RecordClaim(context, cleaner);
    final LeafLookup lookup;
    int number;
    int found;

    Wanted(int place) {
      lookup = new LeafLookup(context, context.lookup(place));
    }
  }

  /**
   * {@inheritDoc} The segments of keys that are not cached are READ together. Keys that another
   * session has claimed, and those without room in the cache, are looked for afterwards.
   */
  @Override
  protected void getAll(KeyGroups wanted) {
    for (int from = 0; from < wanted.size(); from += OrcaContext.SEGMENTS) {
      getSome(wanted, from, Math.min(wanted.size(), from + OrcaContext.SEGMENTS));
    }
  }

  private void getSome(KeyGroups wanted, int from, int to) {
    int claimed = 0;
    int left = 0;
    list.clear();
    touched = touchRecords(wanted, from, to);
    for (int i = from; i < to; i++) {
      if (findCached(wanted.key(i))) {
        wanted.set(i, probe.kind != RecordCache.ABSENT, probe.value);
      } else if (begin(wanted.key(i), claimed, i)) {
        claimed++;
      } else {
        later[left++] = i;
      }
    }
    if (list.size() > 0) {
      context.worker.scatter(list);
    }
    for (int i = 0; i < claimed; i++) {
      if (!end(wanted, together[i])) {
        later[left++] = together[i].number;
      }
    }
    for (int i = 0; i < left; i++) {
      wanted.set(later[i], get(wanted.key(later[i])), value);
    }
  }

  /** {@inheritDoc} That is the bucket of each key, and the entry and the delta of its leaf. */
  @Override
  protected void touch(KeyGroups wanted, int from, int to) {
    touched = touchRecords(wanted, from, to) + touchLeaves(wanted, from, to);
  }

  private long touchRecords(KeyGroups wanted, int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      sum += records.touch(wanted.key(i));
    }
    return sum;
  }

  /** Takes each step for all keys, as the next one has to wait for what it reads. */
  private long touchLeaves(KeyGroups wanted, int from, int to) {
    LeafEntries entries = directory.entries();
    for (int i = from; i < to; i++) {
      leaves[i - from] = directory.entryOf(wanted.key(i));
    }
    for (int i = from; i < to; i++) {
      leaves[i - from] = LeafEntries.delta(entries.version(leaves[i - from]));
    }
    long sum = 0;
    for (int i = from; i < to; i++) {
      sum += deltas.touch(leaves[i - from]);
    }
    return sum;
  }

  /** Looks for a key in the cache; does not wait for the session that has claimed it. */
  private boolean findCached(long wanted) {
    boolean cached = records.find(wanted, probe) && probe.kind != RecordCache.BUSY;
    context.counters.leafHits += cached ? 1 : 0;
    return cached;
  }

  private boolean begin(long key, int place, int number) {
    Wanted one = wanted(place);
    if (!one.claim.tryClaim(key)) {
      return false;
    }
    one.number = number;
    one.found = one.lookup.begin(key);
    if (one.found == LeafLookup.UNREAD) {
      one.lookup.addRead(list);
    }
    return true;
  }

  private Wanted wanted(int place) {
    if (place == together.length) {
      together = Arrays.copyOf(together, place + 1);
      together[place] = new Wanted(place);
    }
    return together[place];
  }

  /** Ends the lookup of a key; returns {@code false} if its leaf has another extent meanwhile. */
  private boolean end(KeyGroups wanted, Wanted one) {
    long key = wanted.key(one.number);
    if (one.found == LeafLookup.UNREAD) {
      one.found = one.lookup.end(key);
    }
    if (one.found == LeafLookup.MOVED || !install(key, one.claim, one.lookup, one.found)) {
      one.claim.giveUp();
      return false;
    }
    wanted.set(one.number, one.found != LeafLookup.ABSENT, one.lookup.value);
    return true;
  }

  /** Returns whether no merge of the leaf has begun since the look, nor was under way. */
  private static boolean mayInstall(LeafLookup looked) {
    return PlantedBug.MERGES_IGNORED || (looked.view.hasSameMerges() && !looked.view.isMerging());
  }

  /** Returns the kind of a record that was looked up, FREE where records are not cached. */
  private int kindOf(int found) {
    if (!cachesRecords) {
      return RecordCache.FREE;
    }
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
  private void admitNeighbours(long wanted, LeafLookup looked) {
    if (!admitsNeighbours || context.use.isFull()) {
      return;
    }
    for (int i = 0; i < looked.records; i++) {
      long key = looked.key(i);
      if (key != wanted && !admit(key, i, looked)) {
        context.use.noteFull();
      }
    }
  }

  /** Admits a record at count 0; returns {@code false} if its bucket has no free way. */
  private boolean admit(long key, int slot, LeafLookup looked) {
    int delta = looked.view.delta();
    if (delta != 0 && deltas.find(delta, key) >= 0) {
      return true;
    }
    boolean found = record.lock(key);
    try {
      int free = found ? RecordCache.NONE : records.free(record.home);
      if (free != RecordCache.NONE && looked.view.isCurrent()) {
        records.setKey(record.home, free, key);
        records.setValue(record.home, free, looked.value(slot));
        records.setCount(record.home, free, 0);
        records.setState(record.home, free, RecordCache.CLEAN, looked.view.ofGeneration(slot));
      }
      return found || free != RecordCache.NONE;
    } finally {
      record.unlock();
    }
  }

  /** {@inheritDoc} The directory knows the records of leaves, deltas most of what has changed. */
  @Override
  protected double estimateSize(long low, long high) {
    LeafView view = lookup.view;
    long size = 0;
    long next = low;
    while (true) {
      directory.find(next, view);
      size += LeafEntries.records(view.control) + added(view);
      if (view.high >= high) {
        return size;
      }
      next = view.high + 1;
    }
  }

  /** Returns about how many entries a leaf's delta adds, 0 if the leaf changes meanwhile. */
  private int added(LeafView view) {
    int delta = view.delta();
    int changes = delta == 0 ? 0 : deltas.count(delta);
    int added = 0;
    for (int i = 0; i < changes; i++) {
      added += deltas.kind(delta, i) == Deltas.TOMBSTONE ? -1 : 1;
    }
    return view.isCurrent() ? added : 0;
  }

  // Writing.

  @Override
  protected boolean write(Request wanted) {
    long key = wanted.key();
    change.begin(wanted);
    int pauses = 0;
    while (true) {
      if (records.find(key, probe)) {
        if (probe.kind != RecordCache.BUSY && writeCached(wanted)) {
          context.counters.leafHits++;
          return probe.kind != RecordCache.ABSENT;
        }
        context.pause(pauses++, probe.kind == RecordCache.BUSY ? CLAIMED : MERGING, key);
      } else if (claim.claim(key)) {
        noteClaim();
        return wanted.operation().answers() ? writeClaimed(wanted) : writeBlindly(wanted);
      }
    }
  }

  /** Writes a key that was found in the cache; returns {@code false} if it is otherwise by now. */
  private boolean writeCached(Request wanted) {
    boolean present = probe.kind != RecordCache.ABSENT;
    value = probe.value;
    if (wanted.removes(present, value)) {
      boolean done = change.removeCached();
      value = change.before();
      return done;
    }
    if (!wanted.stores(present, value)) {
      return true;
    }
    return present ? updateCached(wanted) : change.addCached();
  }

  private boolean updateCached(Request wanted) {
    record.lock(wanted.key());
    try {
      int kind = record.kind();
      if (!RecordWay.isPresent(kind)) {
        return false;
      }
      value = record.value();
      if (!wanted.stores(true, value)) {
        return true;
      }
      if (kind == RecordCache.CLEAN || kind == RecordCache.DELTA) {
        boolean clean = kind == RecordCache.CLEAN;
        if (clean || !PlantedBug.NEWER_UNCOUNTED) {
          record.dirty();
        }
        record.setKind(
            clean ? RecordCache.DIRTY : RecordCache.DELTA_NEWER, clean ? record.slot() : 0);
      }
      if (PlantedBug.CLEANING_DIRTIED && kind == RecordCache.CLEANING) {
        record.setKind(RecordCache.DIRTY, record.slot());
      }
      record.setValue(wanted.stored());
      return true;
    } finally {
      record.unlock();
    }
  }

  private boolean writeClaimed(Request wanted) {
    long key = wanted.key();
    for (int attempt = 0; ; attempt++) {
      int found = lookup.find(key);
      boolean present = found != LeafLookup.ABSENT;
      value = lookup.value;
      boolean stores = wanted.stores(present, value);
      if (present ? wanted.removes(true, value) : stores) {
        changeClaimed(key, !present, true);
        return present;
      }
      if (installWritten(key, wanted.stored(), found, stores)) {
        return present;
      }
      context.pause(attempt, MERGING, key);
    }
  }

  /** Writes the claimed key into the delta, without a look whether the leaf has it. */
  private boolean writeBlindly(Request wanted) {
    boolean adds = wanted.operation() == Operation.STORE;
    changeClaimed(wanted.key(), adds, false);
    return false;
  }

  /** Adds or removes the claimed key, whose presence no other session changes meanwhile. */
  private void changeClaimed(long key, boolean adds, boolean known) {
    for (int attempt = 0; !change.changeClaimed(claim, adds, known); attempt++) {
      context.pause(attempt, MERGING, key);
    }
  }

  /** Installs what was looked up, or the new value; returns {@code false} if a merge has begun. */
  private boolean installWritten(long wanted, long stored, int found, boolean stores) {
    claim.lockClaimed();
    if (!mayInstall(lookup)) {
      claim.unlock();
      return false;
    }
    int kind = kindOf(found);
    if (stores) {
      claim.dirty();
      kind = found == LeafLookup.IN_LEAF ? RecordCache.DIRTY : RecordCache.DELTA_NEWER;
    }
    claim.install(kind, lookup.slot, stores ? stored : value);
    admitNeighbours(wanted, lookup);
    return true;
  }
}
