package pando.index.orca;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.pool.Losses;
import pando.index.CacheCounters;
import pando.index.CorruptNodeException;
import pando.index.Partitioning;
import pando.index.PoolPart;
import pando.index.Unwritten;
import pando.index.host.HostedServer;
import pando.index.host.Totals;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.images.ImageCache;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.parts.CacheParts;
import pando.index.orca.records.RecordCache;
import pando.index.orca.space.ExtentAllocator;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;
import pando.index.pool.PoolChange;
import pando.index.session.Gate;
import pando.index.session.Retry;

/**
 * One compute server of ORCA: the directory of its part of the index, its caches of records and
 * deltas, and its space in the pool. Its sessions share it.
 */
final class OrcaServer extends HostedServer {
  /** Number of the system in the catalogue. */
  static final int SYSTEM = 0x0CA0_0002;

  /**
   * The partition that headers of leaves name: none, as a leaf stays as it is when it goes to
   * another range.
   */
  static final int LEAF_PARTITION = 0;

  private static final int PAGE_UNITS = DirectoryPage.BYTES / LeafLayout.UNIT_BYTES;

  /** Sessions that merge at a time where memory for deltas is nearly out. */
  private static final int RELIEVING_MAX = 32;

  /** Longest time that operations wait for those under way, in nanoseconds. */
  private static final long ALONE_NANOS = 2_000_000;

  private static final int SERVER_SHIFT = 32;
  private static final int INCARNATION_SHIFT = 44;
  private static final int INCARNATION_BITS = 20;

  final OrcaOptions options;
  final NodePlaces places;
  final Directory directory;
  final RecordCache records;
  final Deltas deltas;
  final Shares shares;
  final Mergers mergers;
  final Sweeper sweeper;
  final ImageCache images;
  final ExtentAllocator extents;

  private final Fabric fabric;
  private final CacheParts parts;
  private final int memoryServers;
  private final int regionBytes;
  private final long incarnation;
  private final AtomicInteger stamps = new AtomicInteger();

  /** Sessions that merge a leaf as memory for deltas is short. */
  private final AtomicInteger relieving = new AtomicInteger();

  private final AtomicInteger turn = new AtomicInteger();
  private final LongAdder admitted = new LongAdder();
  private final LongAdder evicted = new LongAdder();
  private final Totals own = new Totals();

  /**
   * The keys that are to leave, {@code null} if none are. It changes while no merge is under way.
   */
  private volatile @Nullable Leaving leaving;

  /** Keys that the pool is ready to give away, {@code null} if there are none. */
  private @Nullable Giving giving;

  /** Whether it takes on keys of a compute server that is lost. */
  boolean inherits;

  /** Bytes of the pool that it has given away, less those that it was given. */
  private final AtomicLong bytesGiven = new AtomicLong();

  /** Address of the table of roots, {@code NULL} before the index is in place. */
  private long table = GlobalAddress.NULL;

  /** Its root word, and the one before: other ones than each other if no one knows which it is. */
  private long rootWord;

  private long rootBefore;

  /** Epoch of the partition table by which it took its range on. */
  private long epoch;

  private boolean closed;

  /** What it had in its caches when it was closed. */
  private long cachedBytes;

  /** Records that found no free way, until the cache is taken for full. */
  private volatile long full;

  OrcaServer(
      int number, Fabric fabric, OrcaOptions options, int regionBytes, RandomGenerator random) {
    super(number, SYSTEM, OrcaOptions.SESSIONS_MAX);
    this.options = options;
    this.fabric = fabric;
    this.memoryServers = fabric.memoryServers();
    this.regionBytes = regionBytes;
    this.places = new NodePlaces(fabric, DirectoryPage.BYTES);
    this.extents = new ExtentAllocator(memoryServers, regionBytes);
    // A later compute server with this number draws another one.
    this.incarnation =
        (long) random.nextInt(1 << INCARNATION_BITS) << INCARNATION_SHIFT
            | (long) number << SERVER_SHIFT;
    this.directory = new Directory(fabric);
    List<Runnable> undo = new ArrayList<>(List.of(directory::close));
    try {
      this.parts = CacheParts.create(fabric, options.cacheBytes());
      undo.add(parts::close);
      this.deltas = new Deltas(parts);
      boolean pairs = options.cacheUnit() != CacheUnit.SEGMENTS;
      this.images = new ImageCache(directory.entries(), parts.memory(), parts.bytesOfPart(), pairs);
      this.records = new RecordCache(parts, 0, parts.count(), options.twin(), options.countBits());
      undo.addFirst(super::stop);
      // Before the mergers, which it pauses: tasks are paused in the order in which they are made.
      this.shares = new Shares(this, fabric, parts);
      this.mergers = new Mergers(this, fabric);
      this.sweeper = new Sweeper(this, fabric);
    } catch (Throwable e) {
      Closing.after(e, undo.toArray(Runnable[]::new));
      throw e;
    }
  }

  // The life of the index. One caller at a time, under the lock of the partition table; no
  // operation is under way.

  /**
   * Reads the directory from the pool, and shares out what it leaves of the cache.
   *
   * @throws CorruptNodeException if it is damaged
   * @throws DirectoryTooLargeException if it leaves less than the caches need
   */
  @Override
  protected void open(Catalogue catalogue, long root) {
    withContext(context -> {
      long[] epoch = new long[1];
      // Again if need be: after a load there is no way back.
      Retry.untilDone(context.worker, () -> epoch[0] = catalogue.readPartitioning().epoch());
      open(context, root, epoch[0]);
    });
  }

  private void open(OrcaContext context, long root, long ofTable) {
    table = Catalogue.rootAddress(root);
    epoch = ofTable;
    OrcaRoots roots = new OrcaRoots(context, table);
    roots.read();
    rootWord = roots.word(number);
    rootBefore = rootWord;
    if (low() <= high()) {
      List<RangeTree> trees = roots.trees(number, low(), high(), epoch, true);
      RangeTree first = trees.getFirst();
      if (trees.size() == 1 && first.gift() == RangeTree.OWN && first.whole()) {
        if (low() == Long.MIN_VALUE) {
          DirectoryOpening.claim(extents, table, RootTable.BYTES);
        }
        new DirectoryOpening(context).open(first);
      } else {
        Adoption adoption = new Adoption(context, roots, table);
        adoption.open(trees);
        adoption.rethrow();
      }
    }
    options.checkDirectory(directory.bytes());
    shares.shareOut(context.worker.backoff());
  }

  /**
   * {@inheritDoc} Ends the giving of keys that were made ready for that, or reads gifts from the
   * pool and makes them part of its tree.
   */
  @Override
  protected void takeOn(PoolChange change, Partitioning partitioning) {
    Giving given = giving;
    epoch = partitioning.epoch();
    if (given != null) {
      giving = null;
      setRange(partitioning);
      withContext(given::end);
    } else if (partitioning.hasServer(number)) {
      withContext(context -> adopt(context, partitioning));
    }
    shares.noteDirectory();
  }

  private void adopt(OrcaContext context, Partitioning partitioning) {
    OrcaRoots roots = new OrcaRoots(context, table);
    roots.read();
    Adoption adoption = new Adoption(context, roots, table);
    adoption.takeOn(partitioning.lowOfServer(number), partitioning.highOfServer(number), epoch);
    setRange(partitioning);
    adoption.rethrow();
  }

  // Keys that leave.

  /**
   * Merges each leaf of a range, while operations go on. Parts of the cache stay where they are
   * meanwhile: they move while no merge is under way.
   */
  void rewrite(long low, long high) {
    withContext(context -> {
      shares.pause(context.worker.backoff());
      try {
        new OrcaMerges(context).rewrite(low, high);
      } finally {
        shares.resume();
      }
    });
  }

  /** Returns the least key of the leaf of a key, while no operation is under way. */
  long fence(long key) {
    long[] fence = {low()};
    directory.forEachLeaf((leafLow, _, _) -> fence[0] = leafLow <= key ? leafLow : fence[0]);
    return fence[0];
  }

  /** Returns the least key of the leaf in the middle, while no operation is under way. */
  long middleFence() {
    List<Long> lows = new ArrayList<>();
    directory.forEachLeaf((leafLow, _, _) -> lows.add(leafLow));
    return lows.get(lows.size() / 2);
  }

  /** Keys that are to leave, and the space in which their leaves are. */
  private record Leaving(long low, long high, ExtentAllocator space) {
    boolean has(long key) {
      return low <= key && key <= high;
    }
  }

  /** Begins to put leaves of some keys where no others are. No merge is under way. */
  ExtentAllocator startLeaving(long fromKey, long toKey) {
    endLeaving();
    ExtentAllocator space = new ExtentAllocator(memoryServers, regionBytes);
    leaving = new Leaving(fromKey, toKey, space);
    return space;
  }

  /** Keeps leaves that were to leave. No merge is under way. */
  void endLeaving() {
    Leaving kept = leaving;
    if (kept != null) {
      extents.absorb(kept.space);
      leaving = null;
    }
  }

  /** Sets what {@link #takeOn} is to end once the partition table is written, or {@code null}. */
  void setGiving(@Nullable Giving ready) {
    giving = ready;
  }

  /** Forgets leaves that have left: their space is another compute server's. */
  void letGo() {
    Leaving gone = leaving;
    leaving = null;
    if (gone == null) {
      bytesGiven.addAndGet(extents.bytesInUse());
      extents.forgetAll();
    } else {
      bytesGiven.addAndGet(gone.space.bytesInUse());
    }
  }

  /** Makes a space its own in which gifts are. */
  void take(ExtentAllocator space, long bytesOfGifts) {
    bytesGiven.addAndGet(inherits ? 0 : -bytesOfGifts);
    extents.absorb(space);
  }

  /** Returns a space that holds nothing yet. */
  ExtentAllocator newSpace() {
    return new ExtentAllocator(memoryServers, regionBytes);
  }

  /** Returns the space for the leaf of a key. */
  ExtentAllocator spaceOf(long key) {
    Leaving some = leaving;
    return some != null && some.has(key) ? some.space : extents;
  }

  /** Returns whether a leaf is to leave, and lies where others stay. */
  boolean isToLeave(long key, long address) {
    Leaving some = leaving;
    return some != null && some.has(key) && !some.space.holds(address);
  }

  /** Frees an extent, wherever it lies. */
  void freeExtent(Worker worker, long message, long address, int units) {
    Leaving some = leaving;
    ExtentAllocator space = some != null && some.space.holds(address) ? some.space : extents;
    space.free(worker, message, address, units);
  }

  /** Returns the global address of the table of roots. */
  long table() {
    return table;
  }

  /**
   * Merges all deltas, and writes all cached values that are newer than the leaves. What needs a
   * lost memory server is left out, which is said at the end.
   */
  void flush() {
    if (table == GlobalAddress.NULL || closed) {
      return;
    }
    Losses losses = new Losses();
    withContext(context -> {
      new Cleaner(context).cleanAll(losses);
      new OrcaMerges(context).mergeAll(losses);
      if (rootBefore != rootWord) {
        losses.defer(() -> settleRoot(context.worker));
      }
    });
    losses.rethrow();
  }

  /** Makes a walk over what is unwritten, for one thread. */
  OrcaSweep sweep(OrcaContext context) {
    return new OrcaSweep(context, pass(context.worker));
  }

  @Override
  protected void writeBack() {
    withContext(context -> {
      Gate.Pass pass = pass(context.worker);
      try {
        new OrcaSweep(context, pass).writeAll();
      } finally {
        forget(pass);
      }
    });
  }

  @Override
  protected synchronized Unwritten unwritten() {
    return closed ? Unwritten.NONE : sweeper.unwritten();
  }

  /** Takes a step with verbs and local memory of its own. */
  void withContext(Consumer<OrcaContext> step) {
    try (OrcaContext context = new OrcaContext(this, fabric)) {
      try {
        step.accept(context);
      } finally {
        own.add(context.worker.counters());
      }
    }
  }

  /** Drops all that it knows of an index that was {@linkplain #flush flushed}, and is another's. */
  @Override
  protected void forget(Backoff backoff) {
    assert deltas.bytesUsed() == 0 : "bytesUsed=" + deltas.bytesUsed();
    table = GlobalAddress.NULL;
    directory.entries().clear();
    records.clear();
    images.clear();
    full = 0;
  }

  @Override
  protected void trim(Worker worker, long message) {
    Losses losses = new Losses();
    endLeaving();
    losses.defer(this::flush);
    losses.defer(() -> extents.trim(worker, message));
    losses.rethrow();
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    cachedBytes = cachedBytes();
    closed = true;
    Closing.all(directory::close, parts::close);
  }

  // Counters.

  @Override
  protected long poolBytes() {
    Leaving some = leaving;
    long leaves = some == null ? 0 : some.space.bytesInUse();
    return extents.bytesInUse() + leaves + bytesGiven.get();
  }

  @Override
  protected List<PoolPart> kept() {
    return extents.kept();
  }

  @Override
  protected synchronized long cachedBytes() {
    return closed
        ? cachedBytes
        : directory.bytes() + records.bytesUsed() + deltas.bytesUsed() + images.bytesUsed();
  }

  @Override
  protected CacheCounters events() {
    return CacheCounters.ofNodes(admissions(), evictions());
  }

  long admissions() {
    return admitted.sum();
  }

  long evictions() {
    return evicted.sum();
  }

  @Override
  protected VerbCounters verbs() {
    VerbCounters sum = super.verbs();
    sum.add(own.verbs());
    return sum;
  }

  /** Counts a record that was cached, and whether another was evicted for it. */
  void countAdmission(boolean evicts) {
    admitted.increment();
    if (evicts) {
      evicted.increment();
    }
  }

  // For its workers.

  /**
   * Replaces the root page. Repeatable: it does not matter whether an earlier attempt took effect.
   *
   * @param address of the new root page, which is written
   * @throws CorruptNodeException if the root word is neither the one before nor the new one
   */
  void replaceRoot(Worker worker, long address) {
    long desired = RootTable.word(epoch, address);
    long at = RootTable.wordAddress(table, number);
    long found = worker.cas(at, rootWord, desired);
    if (found == rootBefore && found != rootWord) {
      found = worker.cas(at, rootBefore, desired);
    }
    if (found != rootWord && found != rootBefore && found != desired) {
      throw new CorruptNodeException(
          at,
          "is not the root word that is expected: found=0x%x, expected=0x%x, before=0x%x, desired=0x%x"
              .formatted(found, rootWord, rootBefore, desired));
    }
    rootWord = desired;
    rootBefore = desired;
  }

  /**
   * Replaces the root page where there is no way back: if the pool cannot be written, the next
   * change of the root, or closing, writes it.
   */
  void replaceRootSurely(Worker worker, long address) {
    try {
      Retry.untilDone(worker, () -> replaceRoot(worker, address));
    } catch (Throwable e) {
      rootWord = RootTable.word(epoch, address);
      throw e;
    }
  }

  private void settleRoot(Worker worker) {
    Retry.untilDone(worker, () -> replaceRoot(worker, RootTable.page(rootWord)));
  }

  /** Returns a stamp that no leaf or page has had before. */
  long nextStamp() {
    return incarnation | Integer.toUnsignedLong(stamps.incrementAndGet());
  }

  /** Returns the memory server for the next leaf, in turn. */
  int nextMemoryServer() {
    return Integer.remainderUnsigned(turn.getAndIncrement(), memoryServers);
  }

  /**
   * Makes sure that the pool has room for the merges of all that the deltas hold.
   *
   * @throws PoolFullException if it has not, so that nothing may be added
   */
  void ensureRoom(Worker worker, long message) {
    extents.ensureRoom(worker, message, number % memoryServers, unitsToMerge(), leastGap());
  }

  /** Returns whether its own regions have room for these merges. */
  boolean hasRoom() {
    return extents.hasRoom(unitsToMerge(), leastGap());
  }

  private int unitsToMerge() {
    double growth = bytesOfRecordMax() * deltas.roomUsed();
    return (int) Math.min(unitsOfMerge() + growth / LeafLayout.UNIT_BYTES, Integer.MAX_VALUE);
  }

  /**
   * Returns how many units a split takes before the old leaf and pages are given back: two leaves,
   * two pages of each level, and a root above.
   */
  private int unitsOfMerge() {
    int pages = 2 * (directory.root().level() + 1) + 1;
    return 2 * LeafLayout.units(options.segmentsMax()) + pages * PAGE_UNITS;
  }

  /**
   * Returns about how many bytes a record takes after splits: in half a leaf, below half a page.
   */
  private double bytesOfRecordMax() {
    int records = options.recordsMax() / 2;
    int segments = Math.max(LeafLayout.SEGMENTS_MIN, records / (LeafLayout.SLOTS - 1) + 1);
    double leaf = (double) LeafLayout.units(segments) * LeafLayout.UNIT_BYTES;
    double page = 2.0 * DirectoryPage.BYTES / options.pageChildren();
    return (leaf + page) / records;
  }

  /** Pages are aligned. */
  private int leastGap() {
    return Math.max(LeafLayout.units(options.segmentsMax()), 2 * PAGE_UNITS - 1);
  }

  /** Allocates the place of a directory page. */
  long allocatePage(Worker worker, long message) {
    return allocatePage(extents, worker, message);
  }

  /** Allocates the place of a directory page in a space. */
  long allocatePage(ExtentAllocator space, Worker worker, long message) {
    return space.allocate(worker, message, nextMemoryServer(), PAGE_UNITS, PAGE_UNITS);
  }

  /** Frees the place of a directory page. */
  void freePage(Worker worker, long message, long address) {
    assert address != GlobalAddress.NULL;
    freeExtent(worker, message, address, PAGE_UNITS);
  }

  /**
   * Returns whether a session may merge a leaf, as memory for deltas is short: the shorter it is,
   * the more sessions merge at a time. If all did, their READs and WRITEs of leaves would meet at
   * the network cards, and wait for each other. If it may, {@link #endRelief} must follow.
   */
  boolean mayRelieve() {
    if (relieving.incrementAndGet() <= 1 + (int) (deltas.shortage() * RELIEVING_MAX)) {
      return true;
    }
    relieving.decrementAndGet();
    return false;
  }

  /** Notes that a session has merged a leaf. */
  void endRelief() {
    relieving.decrementAndGet();
  }

  /**
   * Takes a step while no operation is under way, nor a merge in the background, if that can be had
   * soon; what it moves makes room. Returns whether it was taken.
   */
  boolean alone(Worker worker, Runnable step) {
    mergers.pause(worker.backoff());
    try {
      boolean taken = tryAlone(worker, ALONE_NANOS, step);
      full = taken ? 0 : full;
      return taken;
    } finally {
      mergers.resume();
    }
  }

  /** Returns whether the cache of records is full, so that neighbours find no free way. */
  boolean isFull() {
    return full > records.buckets();
  }

  /** Notes that a record found no free way. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // A lost count does not matter.
  void noteFull() {
    full++;
  }
}
