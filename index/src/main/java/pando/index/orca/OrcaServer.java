package pando.index.orca;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.pool.Losses;
import pando.index.CorruptNodeException;
import pando.index.Partitioning;
import pando.index.PoolPart;
import pando.index.host.HostedServer;
import pando.index.host.Totals;
import pando.index.lock.Retry;
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

/**
 * One compute server of ORCA: the directory of its part of the index, its caches of records and
 * deltas, and its space in the pool. Its sessions share it.
 */
final class OrcaServer extends HostedServer {
  /** Number of the system in the catalogue. */
  static final int SYSTEM = 0x0CA0_0001;

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
  private static final int EPOCH_SHIFT = 44;

  final OrcaOptions options;
  final NodePlaces places;
  final Directory directory;
  final RecordCache records;
  final Deltas deltas;
  final Shares shares;
  final Mergers mergers;
  final ImageCache images;
  final ExtentAllocator extents;

  private final Fabric fabric;
  private final CacheParts parts;
  private final int memoryServers;
  private final long incarnation;
  private final AtomicInteger stamps = new AtomicInteger();

  /** Sessions that merge a leaf as memory for deltas is short. */
  private final AtomicInteger relieving = new AtomicInteger();

  private final AtomicInteger turn = new AtomicInteger();
  private final LongAdder admitted = new LongAdder();
  private final LongAdder evicted = new LongAdder();
  private final Totals own = new Totals();
  private long low = Long.MAX_VALUE;
  private long high = Long.MIN_VALUE;
  private int range;

  /** Where its root word is, {@code NULL} before the index is in place. */
  private long rootAddress = GlobalAddress.NULL;

  private long rootWord;
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
    this.places = new NodePlaces(fabric, DirectoryPage.BYTES);
    this.directory = new Directory(fabric);
    this.parts = CacheParts.create(fabric, options.cacheBytes());
    this.deltas = new Deltas(parts);
    boolean pairs = options.cacheUnit() != CacheUnit.SEGMENTS;
    this.images = new ImageCache(directory.entries(), parts.memory(), parts.bytesOfPart(), pairs);
    this.records = new RecordCache(parts, 0, parts.count(), options.twin(), options.countBits());
    this.extents = new ExtentAllocator(memoryServers, regionBytes);
    // A later compute server with this number draws another epoch.
    this.incarnation =
        (long) random.nextInt(1 << RootTable.EPOCH_BITS) << EPOCH_SHIFT
            | (long) number << SERVER_SHIFT;
    // Before the mergers, which it pauses: tasks are paused in the order in which they are made.
    this.shares = new Shares(this, fabric, parts);
    this.mergers = new Mergers(this, fabric);
  }

  // The life of the index. One caller at a time, under the lock of the partition table; no
  // operation is under way.

  @Override
  protected void own(Partitioning partitioning) {
    low = partitioning.lowOfServer(number);
    high = partitioning.highOfServer(number);
    range = partitioning.rangeOfServer(number);
  }

  /**
   * Reads the directory from the pool, and shares out what it leaves of the cache.
   *
   * @throws CorruptNodeException if it is damaged
   * @throws IllegalArgumentException if it leaves less than the caches need
   */
  @Override
  protected void open(Catalogue catalogue) {
    withContext(context -> open(context, root(context, catalogue)));
  }

  /** Reads the root, again if need be: after a load there is no way back. */
  private static long root(OrcaContext context, Catalogue catalogue) {
    long[] root = new long[1];
    Retry.untilDone(context.worker, () -> root[0] = catalogue.root());
    return root[0];
  }

  private void open(OrcaContext context, long root) {
    long table = Catalogue.rootAddress(root);
    rootWord = new DirectoryOpening(context).open(table, range, low, high);
    options.checkDirectory(directory.bytes());
    shares.shareOut(context.worker.backoff());
    rootAddress = RootTable.wordAddress(table, range);
  }

  /**
   * Merges all deltas, and writes all cached values that are newer than the leaves. What needs a
   * lost memory server is left out, which is said at the end.
   */
  void flush() {
    if (rootAddress == GlobalAddress.NULL || closed) {
      return;
    }
    Losses losses = new Losses();
    withContext(context -> {
      new Cleaner(context).cleanAll(losses);
      new Merges(context).mergeAll(losses);
    });
    losses.rethrow();
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

  /** Drops all that it knows of an index that was {@linkplain #flush flushed} and replaced. */
  @Override
  protected void forget(Backoff backoff) {
    assert deltas.bytesUsed() == 0 : "bytesUsed=" + deltas.bytesUsed();
    rootAddress = GlobalAddress.NULL;
    directory.entries().clear();
    records.clear();
    images.clear();
    full = 0;
  }

  @Override
  protected void trim(Worker worker, long message) {
    Losses losses = new Losses();
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
    directory.close();
    parts.close();
  }

  // Counters.

  @Override
  protected long poolBytes() {
    return extents.bytesInUse();
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
  protected long admissions() {
    return admitted.sum();
  }

  @Override
  protected long evictions() {
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
    long desired = RootTable.word(epoch(), address);
    long found = worker.cas(rootAddress, rootWord, desired);
    if (found != rootWord && found != desired) {
      throw new CorruptNodeException(
          rootAddress,
          "is not the root word that is expected: found=0x%x, expected=0x%x, desired=0x%x"
              .formatted(found, rootWord, desired));
    }
    rootWord = desired;
  }

  /** Returns the number that distinguishes it from an earlier compute server of this number. */
  long epoch() {
    return incarnation >>> EPOCH_SHIFT;
  }

  /** Returns a stamp that no leaf or page has had before. */
  long nextStamp() {
    return incarnation | Integer.toUnsignedLong(stamps.incrementAndGet());
  }

  /** Returns the memory server for the next leaf, in turn. */
  int nextMemoryServer() {
    return Integer.remainderUnsigned(turn.getAndIncrement(), memoryServers);
  }

  /** Returns the number of its range of keys among all ranges. */
  int range() {
    return range;
  }

  /** Returns whether it owns a key. */
  boolean owns(long key) {
    return low <= key && key <= high;
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
    return extents.allocate(worker, message, nextMemoryServer(), PAGE_UNITS, PAGE_UNITS);
  }

  /** Frees the place of a directory page. */
  void freePage(Worker worker, long message, long address) {
    assert address != GlobalAddress.NULL;
    extents.free(worker, message, address, PAGE_UNITS);
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
