package pando.index.orca;

import java.lang.foreign.MemorySegment;
import pando.fabric.Backoff;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.memory.Words;
import pando.fabric.pool.Losses;
import pando.index.CorruptNodeException;
import pando.index.bugs.PlantedBug;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafView;
import pando.index.orca.images.ImageCache;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.records.RecordCache;
import pando.index.session.Marks;

/**
 * Writes cached values that are newer than the leaf to the leaf, and those that are newer than the
 * delta to the delta, so that their records can be evicted.
 */
final class Cleaner {
  /*
   * A value goes to its slot by a WRITE of 8 bytes. No lock is held across it. In this order:
   *
   *   under the bucket's lock: pin the leaf, which fails while it merges; find the address of the
   *     slot; copy the value; the record becomes CLEANING
   *   the WRITE; 32 records go together
   *   put the value into the image, if the slot is in one, and move the leaf's version: a scan that
   *     READ the old value reads again
   *   under the bucket's lock: the record becomes CLEAN if it still has the value that was written,
   *     else DIRTY
   *   unpin the leaf
   *
   * A merge may have left a record the slot that it had before, which its generation says. Then the
   * slot is first looked for in the leaf.
   *
   * An update of a CLEANING record changes the value and leaves the kind, so only the cleaner that
   * posted the WRITE ends it, and no slot has two WRITEs under way. A merge waits until no pin is
   * left: so while a leaf is pinned its extent stays, and a slot's address with it.
   */

  private static final int BUCKETS = 16;

  /** Buckets whose records fit one list of WRITEs. */
  private static final int TOGETHER = OrcaContext.CLEANED_MAX / RecordCache.WAYS;

  private static final Due ALL = (bucket, way) -> true;

  private final RecordCache records;
  private final Directory directory;
  private final LeafEntries entries;
  private final Deltas deltas;
  private final ImageCache images;
  private final OrcaContext context;
  private final Backoff backoff;
  private final MemorySegment memory;
  private final VerbList list = new VerbList();
  private final LeafView view;
  private final RecordWay record;

  private final long[] keys = new long[OrcaContext.CLEANED_MAX];
  private final long[] written = new long[OrcaContext.CLEANED_MAX];
  private final int[] pinned = new int[OrcaContext.CLEANED_MAX];
  private final int[] places = new int[OrcaContext.CLEANED_MAX];
  private int count;

  /** Newer records of the bucket that was prepared last that could not be prepared. */
  private int missed;

  private long nextMarked;

  private final Due cold;
  private final long[] newer = new long[RecordCache.WAYS];
  private int newerCount;

  /** Keys of the bucket that was prepared last whose records have slots of older generations. */
  private final long[] old = new long[2 * RecordCache.WAYS];

  private int oldCount;
  private final LeafLookup lookup;

  Cleaner(OrcaContext context) {
    this.context = context;
    this.records = context.records;
    this.directory = context.directory;
    this.entries = directory.entries();
    this.deltas = context.deltas;
    this.images = context.images;
    this.backoff = context.worker.backoff();
    this.memory = context.memory;
    this.view = new LeafView(directory, backoff);
    this.record = new RecordWay(context);
    this.lookup = new LeafLookup(context, context.slots);
    this.cold = (bucket, way) -> records.count(bucket, way) == 0;
  }

  /** Decides which ways of buckets are to be cleaned. */
  @FunctionalInterface
  interface Due {
    boolean isDue(long bucket, int way);
  }

  /**
   * Cleans records with count 0 of a bucket and of those behind it. The session holds no lock and
   * no latch.
   *
   * @return number of records that can be evicted now
   */
  int makeRoom(long bucket) {
    return clean(bucket, BUCKETS, cold);
  }

  /**
   * Cleans all records of all buckets while no operation is under way, but those of leaves on lost
   * memory servers, and of leaves that are left latched.
   */
  void cleanAll(Losses losses) {
    records.forEachBucket(bucket -> {
      if (records.waysUsed(bucket) > 0) {
        context.defer(losses, () -> cleanWhole(bucket, ALL));
      }
    });
  }

  /**
   * Cleans the records of a range of keys, while no operation is under way.
   *
   * @throws StalledException if one cannot be cleaned
   */
  void cleanRange(long low, long high) {
    Due due = (bucket, way) -> low <= records.key(bucket, way) && records.key(bucket, way) <= high;
    for (int part : records.homes().inUse()) {
      long at = records.first(part);
      while (at < records.end(part)) {
        at = cleanSome(at, records.end(part), due);
      }
    }
    records.forEachBucket(bucket -> {
      if (records.waysUsed(bucket) > 0) {
        cleanWhole(bucket, due);
      }
    });
  }

  /** Cleans buckets from one on, as many as fit a list; returns the one behind them. */
  private long cleanSome(long bucket, long endOfPart, Due due) {
    count = 0;
    list.clear();
    long at = bucket;
    try {
      for (;
          at < endOfPart && count + RecordCache.WAYS <= keys.length;
          at += RecordCache.BUCKET_BYTES) {
        if (records.waysUsed(at) > 0) {
          prepare(at, due);
          fold();
        }
      }
      if (count > 0) {
        context.worker.scatter(list);
      }
    } catch (Throwable e) {
      end(false);
      throw e;
    }
    end(true);
    return at;
  }

  /**
   * Cleans marked buckets from one on, as many as fit a list, and takes their marks. What cannot be
   * cleaned now is marked again, also if this fails.
   *
   * @return whether all of them were cleaned; {@link #nextMarked} is where to go on
   */
  boolean cleanMarked(long from) {
    Marks marks = records.newer();
    boolean all = true;
    count = 0;
    list.clear();
    nextMarked = marks.next(from);
    try {
      while (nextMarked != Marks.NONE && count + RecordCache.WAYS <= keys.length) {
        all &= prepareMarked(marks, nextMarked);
        nextMarked = marks.next(nextMarked);
      }
      if (count > 0) {
        context.worker.scatter(list);
      }
    } catch (Throwable e) {
      end(false);
      throw e;
    }
    end(true);
    return all;
  }

  /**
   * Cleans what {@link #cleanMarked} was to clean, after it has failed: one record at a time.
   *
   * @return whether all were cleaned, but those that are lost with a memory server or a damaged
   *     leaf
   * @throws pando.fabric.PandoException if one fails otherwise
   */
  boolean cleanOneByOne(long from) {
    Marks marks = records.newer();
    boolean all = true;
    long number = marks.next(from);
    while (number != Marks.NONE && (nextMarked == Marks.NONE || number < nextMarked)) {
      long bucket = number * RecordCache.BUCKET_BYTES;
      for (int way = 0; way < RecordCache.WAYS && records.has(bucket); way++) {
        all &= cleanOne(bucket, way);
      }
      number = marks.next(number + 1);
    }
    return all;
  }

  private boolean cleanOne(long bucket, int way) {
    try {
      clean(bucket, 1, (_, each) -> each == way);
      return missed == 0;
    } catch (MemoryServerLostException | CorruptNodeException _) {
      // Its failure has shown before. It cannot be written any more.
      return true;
    }
  }

  /** Returns the marked bucket at which to go on, {@link Marks#NONE} if there is none. */
  long nextMarked() {
    return nextMarked;
  }

  private boolean prepareMarked(Marks marks, long number) {
    long bucket = number * RecordCache.BUCKET_BYTES;
    nextMarked = number + 1;
    marks.clear(number);
    if (!records.has(bucket)) {
      // Its records were cleaned before they moved.
      return true;
    }
    boolean all = false;
    try {
      prepare(bucket, ALL);
      fold();
      all = missed == 0;
    } finally {
      if (!all) {
        marks.set(number);
      }
    }
    return all;
  }

  /** Cleans the records of a part that are due, but those of leaves that merge or are latched. */
  void cleanPart(int part, Due due) {
    for (long at = records.first(part); at < records.end(part); ) {
      int buckets = (int) Math.min(TOGETHER, (records.end(part) - at) / RecordCache.BUCKET_BYTES);
      clean(at, buckets, due);
      at += (long) buckets * RecordCache.BUCKET_BYTES;
    }
  }

  /**
   * Checks that no record of a part is due to be cleaned.
   *
   * @throws StalledException if one is
   */
  void checkClean(int part, Due due) {
    for (long at = records.first(part); at < records.end(part); at += RecordCache.BUCKET_BYTES) {
      if (hasNewer(at, due)) {
        throw new StalledException("records of a part cannot be cleaned: bucket=" + at);
      }
    }
  }

  private void cleanWhole(long bucket, Due due) {
    for (int attempt = 0; hasNewer(bucket, due); attempt++) {
      clean(bucket, 1, due);
      context.pause(attempt, "records cannot be cleaned", bucket);
    }
  }

  private boolean hasNewer(long bucket, Due due) {
    records.lock(bucket, backoff);
    boolean found = false;
    for (int way = 0; way < RecordCache.WAYS; way++) {
      int kind = records.kind(bucket, way);
      boolean newer =
          kind == RecordCache.DIRTY
              || kind == RecordCache.CLEANING
              || kind == RecordCache.DELTA_NEWER;
      found |= newer && due.isDue(bucket, way);
    }
    records.unlock(bucket);
    return found;
  }

  private int clean(long bucket, int buckets, Due due) {
    int folded = 0;
    count = 0;
    list.clear();
    try {
      long at = bucket;
      for (int i = 0; i < buckets && count + RecordCache.WAYS <= keys.length; i++) {
        prepare(at, due);
        folded += fold();
        at = records.next(at);
      }
      if (count > 0) {
        context.worker.scatter(list);
      }
    } catch (Throwable e) {
      end(false);
      throw e;
    }
    return folded + end(true);
  }

  /** Pins and notes what is to be written of a bucket. */
  private void prepare(long bucket, Due due) {
    newerCount = 0;
    oldCount = 0;
    missed = 0;
    records.lock(bucket, backoff);
    try {
      for (int way = 0; way < RecordCache.WAYS; way++) {
        int kind = records.kind(bucket, way);
        if (kind == RecordCache.DIRTY && due.isDue(bucket, way)) {
          prepare(bucket, way);
        } else if (kind == RecordCache.DELTA_NEWER && due.isDue(bucket, way)) {
          newer[newerCount++] = records.key(bucket, way);
        } else if (kind == RecordCache.CLEANING) {
          missed++;
        }
      }
    } finally {
      records.unlock(bucket);
    }
    int wanted = oldCount;
    for (int i = 0; i < wanted; i++) {
      prepareOld(old[i]);
    }
    // Those whose leaf has merged once more meanwhile.
    missed += oldCount - wanted;
  }

  /** Looks for the slot of a record in its leaf, and prepares the record unless that merges. */
  private void prepareOld(long key) {
    int found = lookup.find(key);
    record.lock(key);
    try {
      boolean sets =
          found == LeafLookup.IN_LEAF
              && record.kind() == RecordCache.DIRTY
              && lookup.view.hasSameMerges()
              && !lookup.view.isMerging();
      if (sets) {
        record.setKind(RecordCache.DIRTY, lookup.slot);
        prepare(record.bucket, record.way);
      } else {
        missed++;
      }
    } finally {
      record.unlock();
    }
  }

  private void prepare(long bucket, int way) {
    long key = records.key(bucket, way);
    directory.seek(key, view);
    int entry = view.entry;
    if (!PlantedBug.PIN_SKIPPED && !entries.pin(entry)) {
      missed++;
      return;
    }
    if (view.node.isReplaced()) {
      missed++;
      unpin(entry);
      return;
    }
    view.copyHeld();
    view.seek(key);
    int slot = records.slot(bucket, way);
    if (!view.hasSlot(slot) && !PlantedBug.SLOT_OLD) {
      old[oldCount++] = key;
      unpin(entry);
      return;
    }
    keys[count] = key;
    written[count] = records.value(bucket, way);
    pinned[count] = entry;
    long buffer = context.values + (long) count * Long.BYTES;
    Words.set(memory, buffer, written[count]);
    places[count] = view.segment * LeafLayout.SLOTS + slot % LeafLayout.SLOTS;
    long value = LeafLayout.valuePosition(places[count]);
    list.write(view.address() + value, buffer, Long.BYTES);
    records.setState(bucket, way, RecordCache.CLEANING, slot);
    if (PlantedBug.COUNTED_DOWN_EARLY) {
      entries.removeDirty(entry);
    }
    count++;
  }

  private void unpin(int entry) {
    if (!PlantedBug.PIN_SKIPPED) {
      entries.unpin(entry);
    }
  }

  /** Ends what was prepared; returns the number of records that are CLEAN. */
  private int end(boolean done) {
    int cleaned = 0;
    for (int i = 0; i < count; i++) {
      images.noteWritten(pinned[i], places[i], written[i], done, backoff);
      record.lock(keys[i]);
      if (record.kind() == RecordCache.CLEANING) {
        boolean clean = done && record.value() == written[i];
        record.setKind(clean ? RecordCache.CLEAN : RecordCache.DIRTY, record.slot());
        if (clean) {
          if (!PlantedBug.COUNTED_DOWN_EARLY) {
            entries.removeDirty(pinned[i]);
          }
          cleaned++;
        }
      }
      record.unlock();
      unpin(pinned[i]);
    }
    count = 0;
    return cleaned;
  }

  /** Puts values that are newer than the delta into it; returns the number of records. */
  private int fold() {
    int folded = 0;
    for (int i = 0; i < newerCount; i++) {
      folded += fold(newer[i]) ? 1 : 0;
    }
    missed += newerCount - folded;
    return folded;
  }

  private boolean fold(long key) {
    directory.seek(key, view);
    int entry = view.entry;
    if (!entries.tryLatch(entry)) {
      return false;
    }
    int delta = LeafEntries.delta(entries.version(entry));
    boolean folded = false;
    try {
      folded = !view.node.isReplaced() && delta != 0 && fold(key, entry, delta);
    } finally {
      entries.unlatch(entry, delta);
    }
    return folded;
  }

  private boolean fold(long key, int entry, int delta) {
    record.lock(key);
    try {
      if (record.kind() != RecordCache.DELTA_NEWER) {
        return false;
      }
      if (!PlantedBug.NEWER_DROPPED) {
        deltas.setValue(delta, deltas.find(delta, key), record.value());
      }
      record.setKind(RecordCache.DELTA, 0);
      entries.removeDirty(entry);
      return true;
    } finally {
      record.unlock();
    }
  }
}
