package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.pool.Losses;
import pando.index.CorruptNodeException;
import pando.index.bugs.PlantedBug;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.directory.LeafView;
import pando.index.orca.images.ImageCache;
import pando.index.orca.images.LeafFilter;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.LeafPacker;
import pando.index.orca.records.RecordCache;
import pando.index.session.Failures;

/** Merges deltas into their leaves: writes new leaves, out of place, and publishes them. */
final class OrcaMerges {
  /*
   * A merge of a leaf, and of neighbours where removals left them half empty:
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
   * they give back. How much room is enough is an estimate (LeafSpace.ensureRoom); where it falls
   * short, a merge fails, and the delta stays as it was.
   */

  /** Greatest number of leaves that one merge writes. */
  private static final int PIECES_MAX = 32;

  private static final int DRAWN = 16;

  /** Leaves that are merged before a full pool refuses a key. */
  private static final int MERGED_MAX = 64;

  /** Whether a merge takes neighbours along. */
  private enum Joining {
    NEVER,

    /** If removals have left the leaf with few records. */
    IF_FEW,

    /** That is all it is for: the leaf may have no delta. */
    ONLY,

    /** Instead the leaf is cut at the key, whether or not it has a delta. */
    CUT
  }

  private final OrcaContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final RandomGenerator random;
  private final Directory directory;
  private final LeafEntries entries;
  private final Deltas deltas;
  private final ImageCache images;
  private final Backoff backoff;
  private final RecordWay record;
  private final HeldLeaves held;
  private final LeafView view;
  private final LeafView rewritten;
  private final LeafPacker packer = new LeafPacker();
  private final LeafCuts cuts;
  private final DirectoryChange change;
  private final MergedRecords records;
  private final LeafJoins joins;

  /** The leaves that merge: one, or more that are joined, in the order of their keys. */
  private final List<LeafView> merged = new ArrayList<>();

  private final VerbList list = new VerbList();
  private final int recordsMin;
  private final Pieces pieces = new Pieces(PIECES_MAX);
  private final boolean filters;
  private final LeafFilter filter = new LeafFilter();

  OrcaMerges(OrcaContext context) {
    this.context = context;
    this.worker = context.worker;
    this.memory = context.memory;
    this.random = worker.random();
    this.directory = context.directory;
    this.entries = directory.entries();
    this.deltas = context.deltas;
    this.images = context.images;
    this.backoff = worker.backoff();
    this.record = new RecordWay(context);
    this.view = new LeafView(directory, backoff);
    this.rewritten = new LeafView(directory, backoff);
    this.held = new HeldLeaves(context);
    this.change = new DirectoryChange(context, held);
    this.records = new MergedRecords(context);
    this.cuts = new LeafCuts(packer, context.options);
    this.joins = new LeafJoins(context, held, records, cuts, pieces, change);
    this.filters = context.options.filters();
    this.recordsMin = (int) (context.options.recordsMax() * context.options.mergeShare());
  }

  /** Returns whether no change of the directory has stopped half-way. */
  boolean isUsable() {
    return !change.isUncertain();
  }

  /**
   * Has background tasks merge leaves with large deltas before the memory for deltas is short;
   * merges one itself if it is still short.
   */
  void relieve() {
    if (deltas.isNearlyShort()) {
      context.relief.wake();
    }
    if (deltas.isShort() && context.relief.mayMerge()) {
      try {
        mergeFullest();
        context.relief.rest();
      } catch (PoolFullException _) {
        // The change that is to come may find room in its delta anyway; else it says so.
      } finally {
        context.relief.end();
      }
    }
  }

  /**
   * Merges the leaf with the largest delta of some that are drawn and not latched, for lack of
   * memory.
   *
   * @return {@code false} if none has a delta
   */
  boolean mergeFullest() {
    int changes = mergeFullest(0);
    context.use.noteMerge(changes);
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
      context.space.ensureRoom(worker, context.message);
    } catch (PoolFullException _) {
      for (int i = 0; i < MERGED_MAX && deltas.bytesUsed() > 0 && !context.space.hasRoom(); i++) {
        mergeFullest(0);
      }
      context.space.ensureRoom(worker, context.message);
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
    context.use.noteMerge(merged);
    if (merged == 0) {
      merge(key);
    }
    context.relief.rest();
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
    boolean found = largest > than && context.range.owns(largestKey);
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
        if (context.range.owns(key)) {
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
   * Rewrites the leaves of a range of keys that have a delta, or that are to leave and lie where
   * those lie that stay; but those that are latched.
   *
   * @return whether there were any
   * @throws PoolFullException if the pool has no room for a leaf; all is as before
   */
  boolean rewrite(long low, long high) {
    boolean found = false;
    long next = low;
    while (true) {
      directory.seek(next, rewritten);
      long end = rewritten.high;
      if (isToRewrite(rewritten)) {
        found = true;
        merge(next, Joining.NEVER);
      }
      if (end >= high) {
        return found;
      }
      next = end + 1;
    }
  }

  private boolean isToRewrite(LeafView leaf) {
    return LeafEntries.delta(entries.version(leaf.entry)) != 0
        || context.space.isToLeave(leaf.low, LeafPointer.address(entries.pointer(leaf.entry)));
  }

  /**
   * Merges the leaf of a key with its delta. Does nothing if another session has the leaf latched.
   *
   * @throws PoolFullException if the pool has no room for the leaf; all is as before
   * @throws CorruptNodeException if the leaf is damaged
   * @throws StalledException if an earlier change of the session stopped half-way
   */
  void merge(long key) {
    boolean again = mergeAndJoin(key);
    while (again) {
      again = joinMore(key);
    }
  }

  /**
   * Cuts the leaf of a key there, so that the key is the least of a leaf. Does nothing if another
   * session has the leaf latched, or if one of its parts would cover a single key.
   *
   * @throws PoolFullException if the pool has no room for the parts; all is as before
   */
  void cut(long key) {
    directory.seek(key, view);
    if (key > view.low + 1 && key < view.high) {
      merge(key, Joining.CUT);
    }
  }

  /** Merges the leaf, with neighbours if the pool has room for what they become. */
  private boolean mergeAndJoin(long key) {
    try {
      return merge(key, Joining.IF_FEW);
    } catch (PoolFullException e) {
      if (!records.shrink()) {
        throw e;
      }
      // Alone it may fit a gap that is too short for more.
      return merge(key, Joining.NEVER);
    }
  }

  /** Joins the leaf with one more neighbour; may as well fail, as its delta has been merged. */
  private boolean joinMore(long key) {
    try {
      return merge(key, Joining.ONLY);
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
   * @return whether a neighbour came along, and the leaf still has few records
   */
  private boolean merge(long key, Joining joining) {
    change.checkUsable();
    directory.seek(key, view);
    if (!entries.tryLatch(view.entry)) {
      return false;
    }
    boolean due = joining == Joining.ONLY || joining == Joining.CUT || isToRewrite(view);
    if (view.node.isReplaced() || !due) {
      held.unlatch(view.entry);
      return false;
    }
    pieces.clear();
    merged.clear();
    merged.add(view);
    entries.startMerge(view.entry, true);
    try {
      held.awaitUnpinned(view);
      view.copyHeld();
      records.start(view);
      boolean joined = mayJoin(joining) && joins.join(view, merged);
      if (joining == Joining.ONLY && !joined && !change.joinsNode()) {
        held.unlatch(view.entry);
        return false;
      }
      replace(joining == Joining.CUT, key);
    } catch (Throwable e) {
      undo(e);
      throw e;
    }
    finish();
    return merged.size() > 1 && hasFew();
  }

  private boolean mayJoin(Joining joining) {
    return switch (joining) {
      case NEVER, CUT -> false;
      case IF_FEW -> hasFew() && records.shrink();
      case ONLY -> hasFew();
    };
  }

  private boolean hasFew() {
    return records.count() < recordsMin;
  }

  private void replace(boolean isCut, long key) {
    long low = merged.getFirst().low;
    long high = merged.getLast().high;
    if (isCut) {
      int middle = records.countBelow(key);
      cuts.cut(records.keys, 0, middle, low, key - 1, pieces);
      cuts.cut(records.keys, middle, records.count(), key, high, pieces);
    } else if (records.ascend() && merged.size() == 1) {
      cuts.cutFull(records.keys, 0, records.count(), low, high, pieces);
    } else {
      cuts.cut(records.keys, 0, records.count(), low, high, pieces);
    }
    pieces.generation = nextGeneration();
    records.takeCached(pieces.generation == 0);
    if (PlantedBug.GIVEN_BACK_EARLY) {
      freeExtent(view);
    }
    writeLeaves();
    merged.forEach(leaf -> images.drop(leaf.entry, leaf.segments(), backoff));
    change.begin(view, merged, pieces);
    change.write();
    publish();
  }

  /**
   * Returns the generation of the new leaves' slots: 0 if all their records are to be looked for in
   * the cache. That need not be if one leaf takes the place of one, and no cached value is newer.
   */
  private int nextGeneration() {
    int generation = LeafEntries.generation(view.control) + 1;
    boolean skips = merged.size() == 1 && pieces.count == 1 && LeafEntries.dirty(view.control) == 0;
    if (PlantedBug.GENERATION_REPEATED) {
      generation = Math.min(generation, LeafEntries.GENERATION_MAX);
    }
    return skips && generation <= LeafEntries.GENERATION_MAX ? generation : 0;
  }

  /**
   * Gives the new leaves back and unlatches the old ones, after a failure; other failures are added
   * to it as suppressed. Keeps all if the pool may have the new leaves.
   */
  private void undo(Throwable failure) {
    if (change.isUncertain()) {
      return;
    }
    Failures failures = new Failures();
    failures.collect(change::end);
    merged.forEach(leaf -> held.unlatch(leaf.entry));
    pieces.free(context, failures);
    failures.join(failure);
  }

  /** Gives the old leaves and deltas back. */
  private void finish() {
    Failures failures = new Failures();
    failures.collect(change::end);
    for (LeafView leaf : merged) {
      free(leaf);
      if (!PlantedBug.GIVEN_BACK_EARLY || leaf != view) {
        failures.collect(() -> freeExtent(leaf));
      }
    }
    failures.rethrow();
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
          records.keys,
          records.values,
          pieces.from[i]);
      list.write(pieces.address[i], image, LeafLayout.bytes(pieces.segments[i]));
      if (list.size() == OrcaContext.IMAGES || i + 1 == pieces.count) {
        worker.scatter(list);
        list.clear();
      }
    }
  }

  /** Plans a piece again, unless it is the only one: then it is what was planned last. */
  private void plan(int piece) {
    if (pieces.count > 1) {
      packer.plan(
          records.keys,
          pieces.from[piece],
          pieces.records[piece],
          pieces.low[piece],
          pieces.high[piece]);
    }
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
      filter.add(records.keys[pieces.from[piece] + i], packer.place(i));
    }
    images.putFilter(pieces.entry[piece], filter);
  }

  /** Gives the cached records of a piece their new places. */
  private void visit(int piece) {
    int entry = pieces.entry[piece];
    for (int i = 0; i < pieces.records[piece]; i++) {
      int at = pieces.from[piece] + i;
      if (records.cached[at]) {
        backoff.transition();
        visit(entry, records.keys[at], records.values[at], packer.place(i));
      }
    }
  }

  private void visit(int entry, long key, long value, int place) {
    record.lock(key);
    int kind = record.kind();
    boolean kept = PlantedBug.SLOT_KEPT && record.way != RecordCache.NONE;
    int slot = (kept ? record.slot() : place) % LeafLayout.SLOTS;
    assert kind != RecordCache.CLEANING : "key=" + key;
    if (RecordWay.isPresent(kind)) {
      boolean clean = PlantedBug.CLEAN_WHATEVER || record.value() == value;
      boolean counted = pieces.generation > 0 && kind == RecordCache.DELTA_NEWER;
      if (clean && counted) {
        entries.removeDirty(entry);
      } else if (!clean && !counted) {
        entries.addDirty(entry);
      }
      record.setKind(
          clean ? RecordCache.CLEAN : RecordCache.DIRTY,
          slot + pieces.generation * LeafLayout.SLOTS);
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
    context.space.free(worker, context.message, leaf.address(), LeafLayout.units(leaf.segments()));
  }
}
