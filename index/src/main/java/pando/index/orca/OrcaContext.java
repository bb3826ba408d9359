package pando.index.orca;

import java.util.ArrayList;
import java.util.List;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.pool.Losses;
import pando.index.CorruptNodeException;
import pando.index.host.LocalMemory;
import pando.index.host.WorkerContext;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.images.ImageCache;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.records.RecordCache;
import pando.index.pool.NodePlaces;
import pando.index.session.Failures;
import pando.index.session.KeyRange;

/** The verbs and the local memory of one worker, shared by its parts. */
final class OrcaContext extends WorkerContext {
  /** Records that are cleaned together. */
  static final int CLEANED_MAX = 32;

  /** Leaves that a merge writes together. */
  static final int IMAGES = 4;

  /** Pages that a merge writes together: one for each level, and halves. */
  static final int PAGES = 16;

  /** Pauses between two looks at the clock. */
  private static final int LOOK_EVERY = 64;

  /** Leaves that a scan READs together. */
  static final int SCANNED = 8;

  /** Of so many scans that find little in images, one may evict others for what it has READ. */
  private static final int LAZINESS = 16;

  /** Segments that are READ together. */
  static final int SEGMENTS = 32;

  final int number;
  final KeyRange range;
  final OrcaSettings<?> options;
  final NodePlaces places;
  final Directory directory;
  final RecordCache records;
  final Deltas deltas;
  final ImageCache images;
  final LeafSpace space;
  final OrcaRoot root;
  final CacheUse use;
  final MergeRelief relief;

  private final long lookups;
  private final int lookupBytes;

  /** Local offset of a segment in which a record's slot is looked for, as {@link #lookup}. */
  final long slots;

  /** Local offset of values to WRITE, 8 bytes each. */
  final long values;

  /** Local offset of a whole leaf that was READ. */
  final long leaf;

  /** Local offset of leaves to WRITE. */
  private final long leaves;

  /** Local offset of pages to WRITE. */
  final long pages;

  /** What gives up what the session may have claimed, or hold. */
  final List<Runnable> ends = new ArrayList<>();

  /** Absent keys that a filter has found, since they were noted. */
  long filtered;

  /** Absent keys whose segment was READ for lack of a filter, since they were noted. */
  long unfiltered;

  private final long scanned;
  private long waitNanosMax;
  private long waitStart;

  OrcaContext(OrcaStore store) {
    OrcaSettings<?> options = store.options;
    this.number = store.number;
    this.range = store.range;
    this.options = options;
    this.places = store.places;
    this.directory = store.directory;
    this.records = store.records;
    this.deltas = store.deltas;
    this.images = store.images;
    this.space = store.space;
    this.root = store.root;
    this.use = store.use;
    this.relief = store.relief;
    LocalMemory local = new LocalMemory();
    boolean readsLeaves = options.cacheUnit() == CacheUnit.LEAVES;
    int bytesRead = readsLeaves ? options.nodeBytes() : LeafLayout.SEGMENT_BYTES;
    this.lookups = local.region((long) SEGMENTS * bytesRead);
    this.lookupBytes = bytesRead;
    this.slots = local.region(bytesRead);
    this.values = local.region((long) CLEANED_MAX * Long.BYTES);
    this.leaf = local.region(options.nodeBytes());
    this.leaves = local.region((long) IMAGES * options.nodeBytes());
    this.pages = local.region((long) PAGES * DirectoryPage.BYTES);
    this.scanned = local.region((long) SCANNED * options.nodeBytes());
    this.waitNanosMax = options.lockWaitNanos();
    super(store.fabric, local);
  }

  /**
   * Waits once more for what another session has.
   *
   * @param attempt number of pauses before in this wait, from 0: the wait begins with the first
   * @param what is waited for, for the message
   * @param key that the operation needs, for the message
   * @throws StalledException if the session has waited too long
   */
  void pause(int attempt, String what, long key) {
    if (attempt == 0) {
      waitStart = worker.nanoTime();
    } else if (attempt % LOOK_EVERY == 0) {
      long waited = worker.nanoTime() - waitStart;
      if (waited >= waitNanosMax) {
        throw new StalledException(
            "%s: key=%s, waitedNanos=%s, attempts=%s, computeServer=%s"
                .formatted(what, key, waited, attempt, number));
      }
    }
    worker.backoff().pauseBriefly(attempt);
  }

  /**
   * Takes a step while no operation is under way. It waits for nothing: what is latched was left so
   * by a change that stopped half-way. That counts as lost, and so does what is damaged.
   */
  void defer(Losses losses, Runnable step) {
    waitForNothing();
    losses.defer(() -> {
      try {
        step.run();
      } catch (StalledException | CorruptNodeException e) {
        throw new MemoryServerLostException(
            "what a change that stopped half-way keeps latched, or what is damaged, is not written"
                + " back: "
                + e.getMessage());
      }
    });
  }

  /** Lets all that follows fail rather than wait, as no operation is under way. */
  void waitForNothing() {
    waitNanosMax = 0;
  }

  /**
   * Posts READs; if there are none, as the bytes are looked at in the pool, counts a trip for them.
   */
  void scatter(VerbList list, boolean areViewed) {
    if (list.size() > 0) {
      worker.scatter(list);
    } else if (areViewed) {
      worker.counters().roundTrips++;
    }
  }

  /**
   * Returns whether images may be evicted for segments that were READ. A scan that has found half
   * of its segments or more is popular, and READs what it lacks the next time, too; others are
   * taken for popular once in some times. So what is asked for once hardly evicts anything, and the
   * images of a scan come together.
   */
  boolean mayEvictImages(int segments, int segmentsRead) {
    return segmentsRead > 0
        && images.isOn()
        && (2 * segmentsRead <= segments || worker.random().nextInt(LAZINESS) == 0);
  }

  /** Returns the local offset of what a lookup READs. */
  long lookup(int number) {
    return lookups + (long) number * lookupBytes;
  }

  /** Returns the local offset of a leaf to WRITE. */
  long image(int number) {
    return leaves + (long) number * options.nodeBytes();
  }

  /** Returns the local offset of a page to WRITE. */
  long page(int number) {
    return pages + (long) number * DirectoryPage.BYTES;
  }

  /** Returns the local offset of the segments of a leaf that a scan READs. */
  long scanned(int leaf) {
    return scanned + (long) leaf * options.nodeBytes();
  }

  @Override
  public void abandon(Throwable failure) {
    Failures failures = new Failures();
    ends.forEach(failures::collect);
    failures.join(failure);
  }
}
