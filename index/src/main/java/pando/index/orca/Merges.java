package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.pool.Losses;
import pando.index.CorruptNodeException;
import pando.index.cache.PlantedBug;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafView;
import pando.index.orca.images.ImageCache;
import pando.index.orca.images.LeafFilter;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.LeafPacker;
import pando.index.orca.leaf.LeafReader;
import pando.index.orca.records.RecordCache;
import pando.index.session.Failures;

/** Merges deltas into their leaves: writes new leaves, out of place, and publishes them. */
final class Merges {
  /*
   * A merge of a leaf, and of a neighbour where removals left both half empty:
   *
   *   1. Latch the leaf's entry, and mark it as merging; wait until no cleaner pins it.
   *   2. READ the leaf, and check it.
   *   3. Merge by key with the delta, and take the newer values of cached records along.
   *   4. Pack: one leaf, or several if the records do not fit one.
   *   5. WRITE the new leaves where nothing was. Drop the images of the old ones.
   *   6. Change the directory in the pool (DirectoryChange): new pages first, then one word.
   *   7. Publish: the entries, the directory, and then each cached record that step 3 found: it is
   *      CLEAN at its new slot if its value is the one that was written, else DIRTY. The new
   *      leaves' filters go where images are.
   *   8. Unlatch, and give the old leaves and the deltas back.
   *
   * Until the word of step 6 is written, nothing in the pool leads to what is new, so a merge that
   * fails gives it back and leaves all as it was. While a leaf merges, its delta does not change,
   * keys that are READ from it are not cached, and cached records go on changing. So step 7 has to
   * look only where step 3 found a record.
   *
   * A full pool: what is in a delta was acknowledged, and has to find room in a leaf. So a key is
   * added to a delta only while the pool has room for the merges of all deltas, in gaps that this
   * compute server has or in regions that it takes for them; else PoolFullException. Merges ask for
   * no leave, nor do removals: once the deltas hold nothing but removals, merges take less than
   * they give back. How much room is enough is an estimate (OrcaServer.ensureRoom); where it falls
   * short, a merge fails, and the delta stays as it was.
   */

  /** Greatest number of leaves that one merge writes. */
  private static final int PIECES_MAX = 32;

  private static final int RECORDS_MAX = 1024;
  private static final int DRAWN = 16;

  /** Leaves that are merged before a full pool refuses a key. */
  private static final int MERGED_MAX = 64;

  private static final double JOINED_SHARE = 0.9;

  private final OrcaContext context;
  private final OrcaServer server;
  private final Worker worker;
  private final MemorySegment memory;
  private final RandomGenerator random;
  private final Directory directory;
  private final LeafEntries entries;
  private final Deltas deltas;
  private final ImageCache images;
  private final Backoff backoff;
  private final RecordWay record;
  private final LeafView view;
  private final LeafView other;
  private final LeafReader reader = new LeafReader();
  private final LeafPacker packer = new LeafPacker();
  private final LeafCuts cuts;
  private final DirectoryChange change;
  private final VerbList list = new VerbList();
  private final int recordsMax;
  private final int recordsMin;

  private final long[] leafKeys = new long[RECORDS_MAX];
  private final long[] leafValues = new long[RECORDS_MAX];
  private final long[] keys = new long[RECORDS_MAX];
  private final long[] values = new long[RECORDS_MAX];
  private final boolean[] cached = new boolean[RECORDS_MAX];
  private int count;

  /** Whether the leaf that merges has fewer records than before. */
  private boolean shrinks;

  /** Whether all changes of the leaf that merges are of keys behind its records. */
  private boolean ascends;

  private final Pieces pieces = new Pieces(PIECES_MAX);
  private final boolean filters;
  private final LeafFilter filter = new LeafFilter();

  Merges(OrcaContext context) {
    this.context = context;
    this.server = context.server;
    this.worker = context.worker;
    this.memory = context.memory;
    this.random = worker.random();
    this.directory = server.directory;
    this.entries = directory.entries();
    this.deltas = server.deltas;
    this.images = server.images;
    this.backoff = worker.backoff();
    this.record = new RecordWay(context);
    this.view = new LeafView(directory, backoff);
    this.other = new LeafView(directory, backoff);
    this.change = new DirectoryChange(context);
    this.recordsMax = server.options.recordsMax();
    this.cuts = new LeafCuts(packer, server.options);
    this.filters = server.options.filters();
    this.recordsMin = (int) (recordsMax * server.options.mergeShare());
  }

  /**
   * Has background tasks merge leaves with large deltas before the memory for deltas is short;
   * merges one itself if it is short all the same.
   */
  void relieve() {
    if (deltas.isNearlyShort()) {
      server.mergers.wake();
    }
    if (deltas.isShort() && server.mayRelieve()) {
      try {
        mergeFullest();
        server.mergers.rest();
      } catch (PoolFullException _) {
        // The change that is to come may find room in its delta all the same; else it says so.
      } finally {
        server.endRelief();
      }
    }
  }

  /**
   * Merges the leaf with the largest delta of some that are drawn and not latched, for want of
   * memory.
   *
   * @return {@code false} if none has a delta
   */
  boolean mergeFullest() {
    int changes = mergeFullest(0);
    server.shares.noteMerge(changes);
    return changes > 0;
  }

  /**
   * Makes sure that the pool has room for the merges of all deltas, and for a key that is to be
   * added. Merges some leaves where it has not, as that gives room back where keys were removed.
   *
   * @throws PoolFullException if the pool has no room for another key
   */
  void ensureRoom() {
    try {
      server.ensureRoom(worker, context.message);
    } catch (PoolFullException _) {
      for (int i = 0; i < MERGED_MAX && deltas.bytesUsed() > 0 && !server.hasRoom(); i++) {
        mergeFullest(0);
      }
      server.ensureRoom(worker, context.message);
    }
  }

  /**
   * Makes room for a change of a key's leaf: by merging that leaf if its delta has as many changes
   * as it may; else, as memory for deltas is short, another with more changes.
   *
   * @throws PoolFullException if the pool has no room for the leaf
   */
  void makeRoom(long key, int changesMax) {
    directory.seek(key, view);
    int delta = LeafEntries.delta(entries.version(view.entry));
    int changes = delta == 0 ? 0 : deltas.count(delta);
    if (changes >= changesMax) {
      merge(key);
      return;
    }
    int merged = mergeFullest(changes);
    server.shares.noteMerge(merged);
    if (merged == 0) {
      merge(key);
    }
    server.mergers.rest();
  }

  /**
   * Merges the leaf with the largest delta of some that are drawn and not latched.
   *
   * @return the changes that it had, 0 if none has more than some
   */
  private int mergeFullest(int than) {
    long largestKey = 0;
    int largest = than;
    int all = entries.end() - 1;
    int start = all == 0 ? 0 : random.nextInt(all);
    int drawn = 0;
    for (int i = 0; i < all && drawn < DRAWN; i++) {
      long version = entries.version(1 + (start + i) % all);
      int delta = LeafEntries.isLatched(version) ? 0 : LeafEntries.delta(version);
      int changes = delta == 0 ? 0 : deltas.count(delta);
      drawn += changes > 0 ? 1 : 0;
      if (changes > largest) {
        // Read without the latch: a wrong key leads to another leaf, at worst one without a delta.
        largest = changes;
        largestKey = deltas.key(delta, 0);
      }
    }
    boolean found = largest > than && server.owns(largestKey);
    if (found) {
      merge(largestKey);
    }
    return found ? largest : 0;
  }

  /** Merges every leaf whose delta is in a part of the memory, but those that are latched. */
  void mergePart(int part) {
    for (int entry = 1; entry < entries.end(); entry++) {
      long version = entries.version(entry);
      int delta = LeafEntries.isLatched(version) ? 0 : LeafEntries.delta(version);
      if (delta != 0 && deltas.partOf(delta) == part) {
        // As in mergeFullest, the key may be a wrong one.
        long key = deltas.key(delta, 0);
        if (server.owns(key)) {
          merge(key);
        }
      }
    }
  }

  /**
   * Merges every leaf that has a delta while no operation is under way, but those that need a lost
   * memory server, or something that is left latched.
   */
  void mergeAll(Losses losses) {
    for (int i = 1; i < entries.end(); i++) {
      int entry = i;
      context.defer(losses, () -> mergeWhole(entry));
    }
  }

  private void mergeWhole(int entry) {
    for (int attempt = 0; ; attempt++) {
      int delta = LeafEntries.delta(entries.version(entry));
      if (delta == 0) {
        return;
      }
      merge(deltas.key(delta, 0));
      context.pause(attempt, "a leaf cannot be merged", entry);
    }
  }

  /**
   * Merges the leaf of a key with its delta. Does nothing if another session has the leaf latched.
   *
   * @throws PoolFullException if the pool has no room for the leaf; all is as before
   * @throws CorruptNodeException if the leaf is damaged
   * @throws StalledException if an earlier change of the session stopped half-way
   */
  void merge(long key) {
    boolean again = merge(key, false);
    while (again) {
      again = joinMore(key);
    }
  }

  /** Joins the leaf with one more neighbour; may as well fail, as its delta has been merged. */
  private boolean joinMore(long key) {
    try {
      return merge(key, true);
    } catch (PandoException e) {
      if (change.isUncertain()) {
        throw e;
      }
      return false;
    }
  }

  /**
   * Merges the leaf of a key.
   *
   * @param onlyToJoin whether the leaf is to be merged without a delta, too, if a neighbour comes
   *     along
   * @return whether it came along, and the leaf still has few records
   */
  private boolean merge(long key, boolean onlyToJoin) {
    change.checkUsable();
    directory.seek(key, view);
    if (!entries.tryLatch(view.entry)) {
      return false;
    }
    boolean due = onlyToJoin || LeafEntries.delta(entries.version(view.entry)) != 0;
    if (view.node.isReplaced() || !due) {
      context.heldLeaves.unlatch(view.entry);
      return false;
    }
    pieces.clear();
    entries.startMerge(view.entry, true);
    boolean joined = false;
    try {
      awaitUnpinned(view);
      count = 0;
      combine(view);
      joined = count < recordsMin && (onlyToJoin || shrinks) && join();
      if (onlyToJoin && !joined && !change.joinsNode()) {
        context.heldLeaves.unlatch(view.entry);
        return false;
      }
      replace(joined);
    } catch (Throwable e) {
      undo(joined, e);
      throw e;
    }
    finish(joined);
    return joined && count < recordsMin;
  }

  private void replace(boolean joined) {
    long low = joined ? Math.min(view.low, other.low) : view.low;
    long high = joined ? Math.max(view.high, other.high) : view.high;
    if (ascends && !joined) {
      cuts.cutFull(keys, 0, count, low, high, pieces);
    } else {
      cuts.cut(keys, 0, count, low, high, pieces);
    }
    if (PlantedBug.GIVEN_BACK_EARLY) {
      freeExtent(view);
    }
    writeLeaves();
    images.drop(view.entry, view.segments(), backoff);
    if (joined) {
      images.drop(other.entry, other.segments(), backoff);
    }
    change.begin(view, joined ? other : null, pieces);
    change.write();
    publish();
  }

  /**
   * Gives the new leaves back and unlatches the old ones, after a failure; other failures are added
   * to it as suppressed. Keeps all if the pool may have the new leaves.
   */
  private void undo(boolean joined, Throwable failure) {
    if (change.isUncertain()) {
      return;
    }
    Failures failures = new Failures();
    failures.collect(change::end);
    context.heldLeaves.unlatch(view.entry);
    if (joined) {
      context.heldLeaves.unlatch(other.entry);
    }
    pieces.free(context, failures);
    failures.join(failure);
  }

  /** Gives the old leaves and deltas back. */
  private void finish(boolean joined) {
    Failures failures = new Failures();
    failures.collect(change::end);
    free(view);
    if (!PlantedBug.GIVEN_BACK_EARLY) {
      failures.collect(() -> freeExtent(view));
    }
    if (joined) {
      free(other);
      failures.collect(() -> freeExtent(other));
    }
    failures.rethrow();
  }

  private void awaitUnpinned(LeafView leaf) {
    context.heldLeaves.awaitUnpinned(leaf);
    leaf.copyHeld();
  }

  // Reading and combining.

  /** READs a leaf that merges, and appends its records, as they are to be, to the others. */
  private void combine(LeafView leaf) {
    int bytes = LeafLayout.bytes(leaf.segments());
    worker.read(leaf.address(), context.leaf, bytes);
    int records =
        reader.read(
            memory,
            context.leaf,
            leaf.address(),
            leaf.segments(),
            leaf.low,
            leaf.high,
            leaf.stamp,
            OrcaServer.LEAF_PARTITION,
            leafKeys,
            leafValues);
    if (records < 0) {
      throw new CorruptNodeException(leaf.address(), String.valueOf(reader.problem()));
    }
    int delta = leaf.delta();
    int changes = delta == 0 ? 0 : deltas.count(delta);
    int change = 0;
    for (int i = 0; i < records; i++) {
      while (change < changes && deltas.key(delta, change) < leafKeys[i]) {
        add(delta, change++);
      }
      if (change < changes && deltas.key(delta, change) == leafKeys[i]) {
        add(delta, change++);
      } else {
        add(leafKeys[i], leafValues[i]);
      }
    }
    while (change < changes) {
      add(delta, change++);
    }
    if (leaf == view) {
      shrinks = count < records;
      ascends = changes > 0 && records > 0 && deltas.key(delta, 0) > leafKeys[records - 1];
    }
  }

  private void add(int delta, int change) {
    if (deltas.kind(delta, change) != Deltas.TOMBSTONE) {
      add(deltas.key(delta, change), deltas.value(delta, change));
    }
  }

  private void add(long key, long value) {
    keys[count] = key;
    record.lock(key);
    int kind = record.kind();
    boolean has = RecordWay.isPresent(kind);
    values[count] = has ? record.value() : value;
    record.unlock();
    cached[count++] = has;
  }

  /**
   * Takes a neighbour below the same node along, if both leaves fit one; returns whether it did. A
   * leaf that is alone in its node has none: there the node is to join its neighbour, so the latch
   * of the structure stays held.
   */
  private boolean join() {
    if (!change.tryLatchToJoin(view)) {
      return false;
    }
    boolean joined = false;
    boolean alone = false;
    try {
      directory.seek(view.low, view);
      alone = view.node.size() == 1 && view.node != directory.root();
      joined = tryJoin(false) || tryJoin(true);
    } finally {
      if (!joined && !alone) {
        change.unlatchStructure();
      }
    }
    return joined;
  }

  /** Takes the neighbour on one side along, if there is one. */
  private boolean tryJoin(boolean left) {
    if (view.child == (left ? 0 : view.node.size() - 1)) {
      return false;
    }
    long beside = left ? view.low - 1 : view.high + 1;
    directory.seek(beside, other);
    int entry = other.entry;
    if (!entries.tryLatch(entry)) {
      return false;
    }
    boolean joined = false;
    try {
      // It may have been split before it was latched: then another leaf is beside this one.
      directory.seek(beside, other);
      other.copyHeld();
      if (other.entry == entry && count + recordsAfterMerge(other) <= recordsMax * JOINED_SHARE) {
        entries.startMerge(other.entry, true);
        joined = tryCombineJoined(left);
      }
    } finally {
      if (!joined) {
        context.heldLeaves.unlatch(entry);
      }
    }
    return joined;
  }

  /** Returns about how many records a latched leaf has once its delta is merged. */
  private int recordsAfterMerge(LeafView leaf) {
    int records = LeafEntries.records(leaf.control);
    int delta = leaf.delta();
    int changes = delta == 0 ? 0 : deltas.count(delta);
    for (int i = 0; i < changes; i++) {
      records += deltas.kind(delta, i) == Deltas.TOMBSTONE ? -1 : 1;
    }
    return Math.max(records, 0);
  }

  /**
   * Takes the records of the neighbour along if all are sure to fit one leaf: more would be more
   * than the page may have room for. A neighbour that cannot be READ stays where it is.
   */
  private boolean tryCombineJoined(boolean left) {
    int own = count;
    try {
      awaitUnpinned(other);
      combineJoined(left);
    } catch (PandoException _) {
      count = own;
      return false;
    }
    long low = Math.min(view.low, other.low);
    long high = Math.max(view.high, other.high);
    cuts.cut(keys, 0, count, low, high, pieces);
    boolean fits = pieces.count == 1;
    pieces.clear();
    if (!fits) {
      int start = left ? count - own : 0;
      System.arraycopy(keys, start, keys, 0, own);
      System.arraycopy(values, start, values, 0, own);
      System.arraycopy(cached, start, cached, 0, own);
      count = own;
    }
    return fits;
  }

  private void combineJoined(boolean left) {
    int own = count;
    combine(other);
    if (left) {
      // What was appended belongs before the leaf's own records.
      rotate(own);
    }
  }

  private void rotate(int own) {
    int added = count - own;
    System.arraycopy(keys, 0, leafKeys, 0, own);
    System.arraycopy(keys, own, keys, 0, added);
    System.arraycopy(leafKeys, 0, keys, added, own);
    System.arraycopy(values, 0, leafValues, 0, own);
    System.arraycopy(values, own, values, 0, added);
    System.arraycopy(leafValues, 0, values, added, own);
    for (int i = 0; i < own; i++) {
      leafKeys[i] = cached[i] ? 1 : 0;
    }
    System.arraycopy(cached, own, cached, 0, added);
    for (int i = 0; i < own; i++) {
      cached[added + i] = leafKeys[i] == 1;
    }
  }

  // Packing and writing.

  /** Allocates places for all pieces, and WRITEs them, some at a time. */
  private void writeLeaves() {
    list.clear();
    for (int i = 0; i < pieces.count; i++) {
      pieces.allocate(i, context);
      plan(i);
      long image = context.image(i % OrcaContext.IMAGES);
      packer.write(
          memory,
          image,
          pieces.address[i],
          pieces.stamp[i],
          OrcaServer.LEAF_PARTITION,
          keys,
          values,
          pieces.from[i]);
      list.write(pieces.address[i], image, LeafLayout.bytes(pieces.segments[i]));
      if (list.size() == OrcaContext.IMAGES || i + 1 == pieces.count) {
        worker.scatter(list);
        list.clear();
      }
    }
  }

  private void plan(int piece) {
    packer.plan(
        keys, pieces.from[piece], pieces.records[piece], pieces.low[piece], pieces.high[piece]);
  }

  // Publishing.

  private void publish() {
    change.startPublish(packer, this::plan);
    for (int i = 0; i < pieces.count; i++) {
      plan(i);
      visit(i);
      if (filters && images.isOn() && pieces.records[i] > 0) {
        putFilter(i);
      }
    }
    change.endPublish();
  }

  private void putFilter(int piece) {
    filter.clear();
    int known = pieces.records[piece] - (PlantedBug.FILTER_SHORT ? 1 : 0);
    for (int i = 0; i < known; i++) {
      filter.add(keys[pieces.from[piece] + i], packer.place(i));
    }
    images.putFilter(pieces.entry[piece], filter);
  }

  /** Gives the cached records of a piece their new places. */
  private void visit(int piece) {
    int entry = pieces.entry[piece];
    for (int i = 0; i < pieces.records[piece]; i++) {
      int at = pieces.from[piece] + i;
      if (cached[at]) {
        backoff.transition();
        visit(entry, keys[at], values[at], packer.place(i));
      }
    }
  }

  private void visit(int entry, long key, long value, int place) {
    record.lock(key);
    int kind = record.kind();
    boolean kept = PlantedBug.SLOT_KEPT && record.way != RecordCache.NONE;
    int slot = kept ? record.slot() : place % LeafLayout.SLOTS;
    assert kind != RecordCache.CLEANING : "key=" + key;
    if (RecordWay.isPresent(kind)) {
      boolean clean = PlantedBug.CLEAN_WHATEVER || record.value() == value;
      if (!clean) {
        entries.addDirty(entry);
      }
      record.setKind(clean ? RecordCache.CLEAN : RecordCache.DIRTY, slot);
    }
    record.unlock();
  }

  /** Gives back the delta that a leaf had before it was merged. */
  private void free(LeafView leaf) {
    if (leaf.delta() != 0) {
      deltas.free(leaf.delta());
    }
  }

  private void freeExtent(LeafView leaf) {
    server.extents.free(worker, context.message, leaf.address(), LeafLayout.units(leaf.segments()));
  }
}
