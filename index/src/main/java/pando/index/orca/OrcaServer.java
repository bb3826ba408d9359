package pando.index.orca;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.PoolFullException;
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
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;
import pando.index.session.Gate;
import pando.index.session.Retry;

/**
 * One compute server of ORCA: its store, from when it is opened until it is closed, and its tasks.
 */
final class OrcaServer extends HostedServer {
  /** Number of the system in the catalogue. */
  static final int SYSTEM = 0x0CA0_0002;

  /** Longest time that operations wait for those under way, in nanoseconds. */
  private static final long ALONE_NANOS = 2_000_000;

  final OrcaStore store;
  final Shares shares;
  final Mergers mergers;
  private final Sweeper sweeper;
  private final Totals own = new Totals();

  /** Ends the giving of keys that are ready to be given away, {@code null} if there are none. */
  private @Nullable Consumer<OrcaContext> givingEnd;

  private boolean closed;

  /** What it had in its caches when it was closed. */
  private long cachedBytes;

  OrcaServer(
      int number, Fabric fabric, OrcaSettings<?> options, int regionBytes, RandomGenerator random) {
    super(number, SYSTEM, OrcaSettings.SESSIONS_MAX);
    this.store = new OrcaStore(number, this, fabric, options, regionBytes, random);
    try {
      // Before the mergers, which it pauses: tasks are paused in the order in which they are made.
      this.shares = new Shares(this, store, this::alone);
      this.mergers = new Mergers(this, store);
      this.sweeper = new Sweeper(this, store, this::pass);
    } catch (Throwable e) {
      Closing.after(e, super::stop, store::close);
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
      open(context, Catalogue.rootAddress(root), epoch[0]);
    });
  }

  private void open(OrcaContext context, long table, long epoch) {
    OrcaRoots roots = new OrcaRoots(context, table);
    roots.read();
    boolean hasRange = low() <= high();
    // A word of a range that it has lost is erased before it gets another one.
    store.root.open(table, epoch, hasRange ? roots.word(number) : 0);
    if (hasRange) {
      List<RangeTree> trees = roots.trees(number, low(), high(), epoch, true);
      RangeTree first = trees.getFirst();
      if (trees.size() == 1 && first.gift() == RangeTree.OWN && first.whole()) {
        if (low() == Long.MIN_VALUE) {
          DirectoryOpening.claim(store.space.extents(), table, RootTable.BYTES);
        }
        new DirectoryOpening(context).open(first);
      } else {
        Adoption adoption = new Adoption(context, roots);
        adoption.open(trees);
        adoption.rethrow();
      }
    }
    store.options.checkDirectory(store.directory.bytes());
    shares.shareOut(context.worker.backoff());
  }

  /**
   * {@inheritDoc} Ends the giving of keys that were made ready for that, or reads gifts from the
   * pool and makes them part of its tree.
   */
  @Override
  protected void takeOn(PoolChange change, Partitioning partitioning) {
    Consumer<OrcaContext> given = givingEnd;
    store.root.setEpoch(partitioning.epoch());
    if (given != null) {
      givingEnd = null;
      setRange(partitioning);
      withContext(given);
    } else if (partitioning.hasServer(number)) {
      withContext(context -> adopt(context, partitioning));
    }
    store.use.noteDirectory();
  }

  private void adopt(OrcaContext context, Partitioning partitioning) {
    OrcaRoots roots = new OrcaRoots(context, store.root.table());
    roots.read();
    Adoption adoption = new Adoption(context, roots);
    adoption.takeOn(
        partitioning.lowOfServer(number), partitioning.highOfServer(number), partitioning.epoch());
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

  /**
   * Cuts the leaf of a key there, while no operation is under way. Returns the key, or the least
   * one of its leaf if that cannot be cut.
   */
  long cut(long key) {
    withContext(context -> {
      try {
        new OrcaMerges(context).cut(key);
      } catch (PoolFullException _) {
        // The range can be cut where the leaf begins.
      }
    });
    return fence(key);
  }

  private long fence(long key) {
    long[] fence = {low()};
    store.directory.forEachLeaf((leafLow, _, _) -> fence[0] = leafLow <= key ? leafLow : fence[0]);
    return fence[0];
  }

  /** Returns the least key of the leaf in the middle, while no operation is under way. */
  long middleFence() {
    List<Long> lows = new ArrayList<>();
    store.directory.forEachLeaf((leafLow, _, _) -> lows.add(leafLow));
    return lows.get(lows.size() / 2);
  }

  /** Sets what {@link #takeOn} is to do once the partition table is written, or {@code null}. */
  void onGiven(@Nullable Consumer<OrcaContext> end) {
    givingEnd = end;
  }

  /**
   * Merges all deltas, and writes all cached values that are newer than the leaves. What needs a
   * lost memory server is left out, which is said at the end.
   */
  void flush() {
    if (!store.root.isOpen() || closed) {
      return;
    }
    Losses losses = new Losses();
    withContext(context -> {
      new Cleaner(context).cleanAll(losses);
      new OrcaMerges(context).mergeAll(losses);
      if (!store.root.isSettled()) {
        losses.defer(() -> store.root.settle(context.worker));
      }
    });
    losses.rethrow();
  }

  @Override
  protected void writeBack() {
    withContext(context -> {
      Gate.Pass pass = pass(context.worker);
      try {
        sweeper.sweep(context, pass).writeAll();
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
    try (OrcaContext context = new OrcaContext(store)) {
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
    store.forget();
  }

  @Override
  protected void trim(Worker worker, long message) {
    Losses losses = new Losses();
    store.space.endLeaving();
    losses.defer(this::flush);
    losses.defer(() -> store.space.extents().trim(worker, message));
    losses.rethrow();
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      cachedBytes = cachedBytes();
      closed = true;
      store.close();
    }
  }

  /**
   * Takes a step while no operation is under way, nor a merge in the background, if that can be had
   * soon; what it moves makes room. Returns whether it was taken.
   */
  boolean alone(Worker worker, Runnable step) {
    mergers.pause(worker.backoff());
    try {
      boolean taken = tryAlone(worker, ALONE_NANOS, step);
      if (taken) {
        store.use.noteRoom();
      }
      return taken;
    } finally {
      mergers.resume();
    }
  }

  // Counters.

  @Override
  protected long poolBytes() {
    return store.space.bytes();
  }

  @Override
  protected List<PoolPart> kept() {
    return store.space.kept();
  }

  @Override
  protected synchronized long cachedBytes() {
    return closed ? cachedBytes : store.bytesUsed();
  }

  @Override
  protected CacheCounters events() {
    return CacheCounters.ofNodes(store.use.admissions(), store.use.evictions());
  }

  @Override
  protected VerbCounters verbs() {
    VerbCounters sum = super.verbs();
    sum.add(own.verbs());
    return sum;
  }
}
