package pando.index.orca;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import pando.fabric.Backoff;
import pando.index.host.HostedServer;
import pando.index.host.HostedTask;
import pando.index.orca.parts.CacheParts;
import pando.index.orca.records.RecordCache;

/**
 * Shares a compute server's memory out: to the directory, and to the caches. A background task
 * follows the directory as it grows, and moves parts to the cache that saves more by them.
 */
final class Shares extends HostedTask<OrcaContext, List<MeasuredParts>> {
  /*
   * A part more saves a cache about as much as a part less costs it. What that is in a window, in
   * time by PoolCosts:
   *
   *   records   the hits of records that were about to go (those of count 0), each a READ of a
   *             segment, for each part
   *   deltas    the merges for lack of memory, each a READ and a WRITE of a leaf, for each part;
   *             reckoned from the changes that come, as a delta that has room meets none for long
   *   images    the hits of images that were about to go, each a READ of a pair, or
   *             of what a lookup READs to cache it, for each part; and the absent keys of which
   *             filters have found, each a READ of a segment, for each part. A part more gains no
   *             more than the absent keys that were READ for lack of a filter
   *
   * All on the average of some windows. After each window one part goes from the cache that loses
   * least by it to the one that gains most, if that is clearly more. Records are moved, and deltas'
   * blocks merged away, so that the part is empty before the other one has it.
   *
   * Deltas begin with one part. Records have the rest of the deltas' share until a key is added or
   * removed for the first time: many indexes are only read and updated for long.
   *
   * The directory comes first: what it takes is counted in the memory, so as many parts are set
   * aside as it takes. The cache that loses least gives them, but keeps its least; the directory
   * takes what it needs anyway.
   */

  /**
   * A window is this fraction of the records that the memory can hold, in keys that were missed.
   */
  private static final int WINDOWS = 64;

  private static final int WINDOW_MIN = 128;

  /** By how much one cache must gain more than the other loses. */
  private static final double CLEARLY = 1.25;

  /** Buckets of records that are looked at while operations stand still, or one part's. */
  private static final int BUCKETS_MAX = 16_384;

  /** Records keep one part of so many, where lookups cache them. */
  private static final int RECORDS_LEAST = 16;

  /** Places among the holders. */
  private static final int RECORDS = 0;

  private static final int DELTAS = 1;

  private final OrcaStore store;
  private final RecordParts.Alone alone;
  private final CacheParts parts;
  private final int recordPartsMin;
  private final long window;
  private final CacheUse use;
  private final DirectoryParts setAside;
  private boolean wasSharedOut;

  /** Parts of the deltas that records have until there is a change. */
  private int lent;

  /** Creates shares of memory that is not {@linkplain #shareOut shared out} yet. */
  Shares(HostedServer server, OrcaStore store, RecordParts.Alone alone) {
    super(server, store.fabric, "pando-shares-" + store.number, () -> new OrcaContext(store));
    this.store = store;
    this.alone = alone;
    this.parts = store.parts;
    this.use = store.use;
    this.setAside = store.directoryParts;
    boolean cachesRecords = store.options.cacheUnit() == CacheUnit.RECORDS;
    this.recordPartsMin = cachesRecords ? Math.max(1, parts.count() / RECORDS_LEAST) : 1;
    long buckets = parts.count() * parts.bytesOfPart() / RecordCache.BUCKET_BYTES;
    this.window = Math.max(WINDOW_MIN, buckets * RecordCache.WAYS / WINDOWS);
    use.onDue(this::wake);
    if (store.options.sharesMove()) {
      use.setDue(window);
    }
  }

  /**
   * Shares the memory out by the settings: what the directory leaves, which is enough. The caches
   * are empty, no session uses them, and the task is paused or has not been woken.
   */
  void shareOut(Backoff backoff) {
    for (int part = 0; part < parts.count(); part++) {
      takeBack(part, backoff);
    }
    int wanted = (int) setAside.partsWanted();
    int left = parts.count() - wanted;
    int shareOfDeltas = store.options.deltaParts(left);
    int forDeltas = store.options.sharesMove() ? 1 : shareOfDeltas;
    int forImages = store.options.imageParts(left);
    lent = shareOfDeltas - forDeltas;
    use.changes.reset();
    use.setDeltasLend(lent > 0);
    for (int part = 0; part < forDeltas; part++) {
      store.deltas.add(part);
    }
    long[] slabs =
        IntStream.range(forDeltas, forDeltas + forImages).mapToLong(parts::offset).toArray();
    store.images.addSlabs(slabs, backoff);
    store.records.open(forDeltas + forImages, left);
    if (wasSharedOut) { // else all is zero, and the system need not provide it yet
      store.images.clear();
      store.records.clear();
    }
    wasSharedOut = true;
    for (int part = left; part < parts.count(); part++) {
      setAside.receive(part);
    }
  }

  private void takeBack(int part, Backoff backoff) {
    if (store.deltas.has(part)) {
      store.deltas.retire(part);
    }
    if (store.images.hasSlab(parts.offset(part))) {
      store.images.removeSlab(parts.offset(part), backoff);
    }
    setAside.release(part);
  }

  /** Returns which cache has how much. */
  CacheShares now() {
    return new CacheShares(
        store.records.homes().partsInUse() * parts.bytesOfPart(),
        store.deltas.parts().length * parts.bytesOfPart(),
        store.images.slabs().length * parts.bytesOfPart(),
        store.directory.bytes(),
        setAside.bytes(),
        counts());
  }

  // The task.

  @Override
  protected List<MeasuredParts> open(OrcaContext context) {
    PoolCosts costs = PoolCosts.of(store.fabric.tripNanos());
    return List.of(
        new RecordParts(context, costs, alone, recordPartsMin, use.tailHits, BUCKETS_MAX),
        new DeltaParts(context, costs),
        new ImageParts(context, costs, parts));
  }

  /** Where it fails, memory stays where it is. */
  @Override
  protected boolean step() {
    return attempt(this::follow);
  }

  private boolean follow() {
    boolean moved = fitDirectory();
    boolean more = giveBack() || moved;
    if (use.isDue()) {
      use.setDue(use.missed() + window);
      use.setDeltasLend(lent > 0);
      measure();
      movePart();
    }
    return opened().stream().anyMatch(MeasuredParts::balance) || more;
  }

  /**
   * Gives the deltas a part back that they have lent, once there is a change; returns whether they
   * want more. If that fails, it is tried again after the window: operations stand still for it.
   */
  private boolean giveBack() {
    if (!use.wantsBack()) {
      return false;
    }
    use.setDeltasLend(false);
    MeasuredParts records = opened().get(RECORDS);
    if (records.parts() <= records.partsMin()) {
      lent = 0;
    } else if (move(records, opened().get(DELTAS))) {
      lent--;
      use.setDeltasLend(lent > 0);
      return lent > 0;
    }
    return false;
  }

  /**
   * Sets one part more aside for the directory if it has outgrown them, or gives one back that it
   * does not need; returns whether that was done.
   */
  private boolean fitDirectory() {
    if (!setAside.isShort() && !setAside.isAmple()) {
      return false;
    }
    if (!store.options.sharesMove()) {
      // No windows end here: one ends with each part that goes.
      measure();
    }
    if (setAside.isAmple()) {
      return move(setAside, most());
    }
    return least(_ -> true).map(least -> move(least, setAside)).orElse(false);
  }

  /** Asks all caches what they would gain, and lose. */
  private void measure() {
    opened().forEach(MeasuredParts::measure);
  }

  private void movePart() {
    MeasuredParts most = most();
    least(cache -> !cache.equals(most))
        .filter(least -> most.gain() > CLEARLY * least.cost())
        .ifPresent(least -> move(least, most));
  }

  /** Returns the cache that gains most. */
  private MeasuredParts most() {
    return Collections.max(opened(), Comparator.comparingDouble(MeasuredParts::gain));
  }

  /** Returns the cache that loses least of some, of those that can give a part away. */
  private Optional<MeasuredParts> least(Predicate<MeasuredParts> some) {
    return opened().stream()
        .filter(some)
        .filter(cache -> cache.parts() > cache.partsMin())
        .min(Comparator.comparingDouble(MeasuredParts::cost));
  }

  /** Moves a part; returns whether it went. */
  private boolean move(PartHolder from, PartHolder to) {
    int part = from.next();
    try {
      from.empty(part);
      to.expect(part);
      alone.take(context().worker, () -> pass(part, from, to));
    } finally {
      if (!from.has(part) && !to.has(part)) {
        from.takeBack(part);
      }
    }
    return to.has(part);
  }

  /** While no operation is under way. One of the two has the part afterwards, whatever happens. */
  private void pass(int part, PartHolder from, PartHolder to) {
    try {
      if (from.release(part)) {
        to.receive(part);
        countDone();
      }
    } finally {
      if (!from.has(part) && !to.has(part)) {
        from.receive(part);
      }
    }
  }
}
