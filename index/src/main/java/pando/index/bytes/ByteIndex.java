package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.fabric.memory.KeyOrder;
import pando.fabric.memory.StackRoom;
import pando.index.Meters;
import pando.index.MovablePartitions;
import pando.index.Partitioning;
import pando.index.PoolSpace;
import pando.index.Session;
import pando.index.Unwritten;
import pando.index.blob.BlobSpace;
import pando.index.blob.Blobs;
import pando.index.orca.OrcaIndex;
import pando.index.orca.OrcaOptions;
import pando.index.pool.Arguments;
import pando.index.session.Failures;
import pando.index.session.Gate;
import pando.index.session.WriteBack;

/**
 * An ordered map from byte strings to byte strings in a memory pool. Keys have 0 to {@value
 * #KEY_BYTES_MAX} bytes and order byte by byte, as unsigned numbers. One process serves all keys
 * ({@link #create}, {@link #open}), or several serve a range each ({@link #createAt}, {@link
 * #joinAt}): operations on keys of others end in {@link pando.index.NotServedHereException}.
 *
 * <p>Thread-safe; each thread works through a {@link ByteSession} of its own.
 */
public final class ByteIndex implements ByteStrings {
  /*
   * Blocks are blobs, which never change. An index of ORCA has the word of each block under a
   * label, a number without a meaning: another process finds the blocks by it. A process has a
   * directory of the blocks of its keys in its memory, and so needs that index only to record
   * changes. How ranges of keys go from one process to another: ByteRanges and BlockGiving.
   *
   * A block is cut into segments, and the directory knows what separates them: a lookup READs one
   * segment. The sum of a segment is made with the version of its block, which never comes again.
   * Records that were found go into a cache of single records. Whole blocks, which changes and
   * scans need, have a cache of their own.
   *
   * A change of a record waits in local memory, beside others of its block; a lookup sees them
   * first. They are merged when their block has many, by a background task when memory is nearly
   * short, by sessions when it is short all the same, and when the index closes. A
   * merge makes a new block: the block is stored, its word goes to the block's label, then to the
   * directory. The old block is freed later, as the labels in the pool lag behind (Superseded). So
   * one reference publishes a new block without its changes, or one more change, and the cache of
   * records changes at the same moment. A session that changes a block holds its latch. A reader
   * takes the block that the directory names; if its blob is gone meanwhile, it asks the directory
   * again.
   *
   * A change that waits was acknowledged, so there must be room for it in the pool. It waits only if
   * the block with all its changes fits the place that the block has: in a full pool it goes there
   * by way of the spare blob. Any other change makes a new block at once, and is refused if there is
   * no room. The sizes are estimates: a block that is larger nevertheless stays whole, in the spare
   * blob. Only a removal may keep that blob, as changes of other blocks wait for it, too.
   *
   * A split stores the right part under a new label; the old label follows later. The directory
   * says first that there is another block, which is not known yet: readers that find it wait. Then
   * both parts become known at the same moment. A reader that had come to the left part before sees
   * that the directory has changed. A block that becomes small absorbs the one behind it: that one
   * is gone first, and readers that find it wait until the directory has dropped it.
   *
   * A process that ended in the middle, or could not undo a step, leaves blocks in the range of
   * another one. They do not count: that other one begins before them, or has a later version.
   */

  /** Greatest length of a key. */
  public static final int KEY_BYTES_MAX = 65_535;

  /** Blocks that the sweeper merges at most while it keeps the index from changing as a whole. */
  private static final int MERGED_AT_ONCE = 4;

  /** The label of no block. */
  static final long NO_LABEL = Long.MIN_VALUE;

  /**
   * Bytes of the cache of labels for each block of the greatest size that what is used of the pool
   * has room for, where an index is opened: a cache that is too small for the directory is refused.
   * A directory has 0.6 to 1.3 bytes for a block, and most blocks are smaller.
   */
  private static final int LABEL_BYTES = 8;

  final ByteOptions options;
  final OrcaIndex labels;
  final BlobSpace space;
  final ByteRanges ranges;
  final ByteRecordCache records;
  final BlockDeltas deltas;
  final BlockCache cache;
  final BlockDirectory directory = new BlockDirectory();
  final FreshLabels freshLabels = new FreshLabels();
  final Versions versions;
  final Gate gate = new Gate();

  final Superseded superseded;
  final Unsettled unsettled;
  final Spare spare;

  /** Blocks with changes that wait. The holder of a block's latch adds it, or takes it out. */
  final Set<BlockEntry> unwritten = ConcurrentHashMap.newKeySet();

  final WriteBack writeBack;

  /** Writes back, and merges blocks before memory for changes is short. */
  private final BackgroundTask sweeper;

  /** Of the sweeper, once it has begun. */
  private volatile @Nullable BlockSession sweeping;

  /** Whether the sweeper has been woken to merge, and need not be woken again. */
  private volatile boolean merging;

  private final List<BlockSession> sessions = new ArrayList<>();
  private final BlockReader own;

  /** For one thread at a time: the one that has shut the gate. */
  final BlockChanges changes;

  private final AtomicBoolean closing = new AtomicBoolean();
  private volatile boolean ended;

  private ByteIndex(ByteOptions options, OrcaIndex labels, BlobSpace space, ByteRanges ranges) {
    this.options = options;
    this.labels = labels;
    this.space = space;
    this.ranges = ranges;
    this.deltas =
        new BlockDeltas(
            directory, options.deltaChanges(), options.deltaSizeMax(), options.deltaBytes());
    this.cache = new BlockCache(options.cacheBytes() - options.recordBytes(), deltas);
    this.superseded = new Superseded(this, labels.fabric());
    this.unsettled = new Unsettled(superseded);
    this.spare = new Spare(this);
    this.records = new ByteRecordCache(options.recordBytes());
    List<Runnable> undo = new ArrayList<>(List.of(records::close));
    try {
      this.own = new BlockReader(this);
      undo.addFirst(own::close);
      this.versions = new Versions(own.blobs.worker().random());
      this.changes = new BlockChanges(this, own);
      undo.addFirst(changes::close);
      spare.ensure(own.blobs);
      this.sweeper = labels.fabric().background("pando-sweeper-bytes", this::sweep);
      this.writeBack =
          new WriteBack(
              labels.fabric().capabilities().keepsPool(),
              options.labels().writeBackNanos(),
              sweeper::wake,
              sweeper::wakeAfter,
              this::openSweep);
    } catch (Throwable e) {
      Closing.after(e, undo.toArray(Runnable[]::new));
      throw e;
    }
  }

  /**
   * Makes an empty index in a pool that has none, for this process alone.
   *
   * @throws pando.fabric.PoolFullException if the pool has less room than an index needs
   * @throws IllegalStateException if the pool holds an index already
   */
  public static ByteIndex create(Fabric fabric, ByteOptions options) {
    return createAt(fabric, options, 0);
  }

  /**
   * Makes an empty index in a pool that has none, with one compute server, which has all keys and
   * lives in this process. Others get ranges later.
   *
   * @param number of the compute server, 0 to {@link pando.index.IndexOptions#COMPUTE_SERVERS_MAX}
   *     - 1
   * @throws pando.fabric.PoolFullException if the pool has less room than an index needs
   * @throws IllegalStateException if the pool holds an index already
   */
  public static ByteIndex createAt(Fabric fabric, ByteOptions options, int number) {
    StackRoom.STRINGS.check();
    options.check();
    OrcaOptions labels = labels(options);
    return opened(
        options,
        fabric,
        number,
        true,
        ranges -> OrcaIndex.createAt(fabric, labels, number, ranges));
  }

  /**
   * Opens an index that another process has made and closed, and that no other process serves.
   *
   * @throws IllegalStateException if the pool holds no such index
   */
  public static ByteIndex open(Fabric fabric, ByteOptions options) {
    ByteIndex opened = joinAt(fabric, options, 0);
    if (!opened.directory.served().isAll()) {
      IllegalStateException e =
          new IllegalStateException(
              "several compute servers serve the index: open it as one of them (ByteIndex.joinAt)");
      Closing.after(e, opened::close);
      throw e;
    }
    return opened;
  }

  /**
   * Joins an index that another process has made, with one compute server, which serves the range
   * that the pool's table gives it; with none it waits for one. A compute server may live in one
   * process at a time; the caller must see to that.
   *
   * @param number of the compute server, 0 to {@link pando.index.IndexOptions#COMPUTE_SERVERS_MAX}
   *     - 1
   * @throws IllegalStateException if the pool holds no such index
   */
  public static ByteIndex joinAt(Fabric fabric, ByteOptions options, int number) {
    StackRoom.STRINGS.check();
    options.check();
    OrcaOptions labels = labels(options);
    long most = usedBytes(fabric) / options.blockBytes() * LABEL_BYTES;
    OrcaOptions itsLabels = labels.withCacheBytes(Math.max(labels.cacheBytes(), most));
    return opened(
        options,
        fabric,
        number,
        false,
        ranges -> OrcaIndex.joinAt(fabric, itsLabels, number, ranges));
  }

  /** Returns the settings of the labels, which are written back together with the blocks. */
  private static OrcaOptions labels(ByteOptions options) {
    return options.labels().withWriteBackNanos(0);
  }

  private static long usedBytes(Fabric fabric) {
    return IntStream.range(0, fabric.memoryServers())
        .mapToLong(server -> fabric.usage(server).usedBytes())
        .sum();
  }

  private static ByteIndex opened(
      ByteOptions options,
      Fabric fabric,
      int number,
      boolean isNew,
      Function<ByteRanges, OrcaIndex> opener) {
    BlobSpace space = new BlobSpace(fabric);
    try {
      ByteRanges ranges = new ByteRanges(space, number);
      OrcaIndex labels = opener.apply(ranges);
      try {
        return started(options, labels, space, ranges, isNew);
      } catch (Throwable e) {
        Closing.after(e, labels::close);
        throw e;
      }
    } catch (Throwable e) {
      Closing.after(e, space::close);
      throw e;
    }
  }

  private static ByteIndex started(
      ByteOptions options, OrcaIndex labels, BlobSpace space, ByteRanges ranges, boolean isNew) {
    ByteIndex index = new ByteIndex(options, labels, space, ranges);
    ranges.setIndex(index);
    try {
      if (isNew) {
        index.begin();
      } else {
        ranges.follow();
      }
      return index;
    } catch (Throwable e) {
      Closing.after(e, index::abandon);
      throw e;
    }
  }

  /** Makes the first block, which has all keys. */
  private void begin() {
    try (Session session = labels.session()) {
      directory.extend(OpenedBlocks.first(session, own.blobs).entries(), ranges.given());
    }
    labels.flush();
    restartLabels();
  }

  /** Has new blocks get labels that none of the others has. The gate is shut, or nothing begun. */
  void restartLabels() {
    ServedKeys served = directory.served();
    if (!served.isNone()) {
      long[] used =
          LongStream.concat(
                  Arrays.stream(directory.all()).mapToLong(BlockEntry::label), unsettled.strays())
              .sorted()
              .toArray();
      freshLabels.restart(used, served.lowLabel(), served.highLabel());
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>All of its operations are linearizable, those that find neighbours, too.
   */
  @Override
  public ByteSession session() {
    synchronized (sessions) {
      if (gate.isClosed()) {
        throw new IllegalStateException("the index is closed");
      }
      BlockSession session = new BlockSession(this);
      sessions.add(session);
      return session;
    }
  }

  /** Ends a session, unless the index has closed and ended it. */
  void end(BlockSession session) {
    boolean open;
    synchronized (sessions) {
      open = sessions.remove(session);
    }
    if (open) {
      session.release();
    }
  }

  /**
   * Loads entries into an empty index, packed into blocks in their order: less to WRITE than by
   * {@link ByteSession#put}, and fuller blocks. Operations of this process wait until it has ended.
   *
   * @param entries in ascending order of their keys
   * @param fill share of each block that is filled, above 0 and at most 1
   * @return the number of entries
   * @throws IllegalArgumentException if keys do not ascend, or a key or value is too long; nothing
   *     is loaded then, nor where the source or a verb fails
   * @throws IllegalStateException if the index has entries, or is closed
   * @throws pando.fabric.PoolFullException if the pool has too little room
   */
  public long load(ByteSource entries, double fill) {
    StackRoom.STRINGS.check();
    Arguments.checkFill(fill);
    if (!gate.shut(own.blobs.worker())) {
      throw new IllegalStateException("the index is closed");
    }
    try {
      changes.settleAll();
      return new BlockLoader(this, changes.labels, own.blobs, fill).load(entries);
    } finally {
      gate.open();
    }
  }

  /** Compares two strings as keys are ordered: byte by byte, as unsigned numbers. */
  public static int compare(MemorySegment one, MemorySegment other) {
    return KeyOrder.compare(one, other);
  }

  @Override
  public Partitioning partitioning() {
    return labels.partitioning();
  }

  /** Returns the ranges, which can move to compute servers of other processes. */
  @Override
  public Optional<MovablePartitions> partitions() {
    return Optional.of(new StringPartitions(this));
  }

  /** Returns {@value #KEY_BYTES_MAX}. */
  @Override
  public int keyBytesMax() {
    return KEY_BYTES_MAX;
  }

  /** Returns 16 MiB, less in a pool of small chunks. */
  @Override
  public int valueBytesMax() {
    return space.lengthMax();
  }

  /** Returns {@code byte-strings}. */
  @Override
  public String name() {
    return ByteOptions.SYSTEM;
  }

  @Override
  public Fabric fabric() {
    return labels.fabric();
  }

  /** Returns the verbs of all sessions, open or closed, and of the index itself. */
  @Override
  public VerbCounters verbs() {
    VerbCounters all = labels.verbs();
    all.add(space.verbs());
    return all;
  }

  @Override
  public void meters(Meters to) {
    to.gauge("pando.blocks", "Blocks of records.", this::blocks);
    to.gauge(
        "pando.index.bytes",
        "Bytes of the pool that blocks, values and the index of the blocks take.",
        this::poolBytes);
    to.slowGauge(
        "pando.changes.waiting",
        "Changes that wait in local memory to be merged into their blocks.",
        directory::changesWaiting);
    to.slowGauge("pando.cache.bytes", "What the caches of this process hold.", this::cachedBytes);
    Unwritten.meters(to, this::unwritten);
    share(to, "records", records::usedBytes);
    share(to, "deltas", deltas::bytes);
    share(to, "blocks", cache::bytes);
    share(to, "labels", labels::cachedBytes);
    share(to, "directory", this::directoryBytes);
  }

  private static void share(Meters to, String of, DoubleSupplier bytes) {
    to.slowGauge(
        "pando.cache.share.bytes",
        "Local memory that a cache, or the directory, has.",
        bytes,
        "of",
        of);
  }

  /**
   * Returns the bytes of the pool that blocks, values and the index of the blocks take, also those
   * that were replaced and are not free yet: at most a sixteenth of the pool, and 64 MiB. Changes
   * that wait in local memory are not among them.
   */
  public long poolBytes() {
    return labels.poolBytes() + space.bytesInUse();
  }

  /**
   * Returns where every byte of the pool is. Writes changes that wait, and READs the whole index;
   * operations wait meanwhile.
   *
   * @throws IllegalStateException if the index is closed
   * @throws pando.fabric.PandoException if a memory server is lost or does not answer
   */
  public PoolSpace space() {
    StackRoom.STRINGS.check();
    checkNotAlone();
    if (isClosed()) {
      throw new IllegalStateException("the index is closed");
    }
    return labels.space(
        its -> whileNothingRuns(blobs -> new ByteSpace(this, blobs).count(its.get())));
  }

  /**
   * Writes changes that wait, empties the caches of records and blocks, and gives places of the
   * pool that nothing is in back to the memory servers: for a time in which little is asked for.
   * Operations wait meanwhile; the first ones after it READ what was cached.
   *
   * @throws IllegalStateException if the index is closed
   * @throws pando.fabric.PandoException if a memory server is lost or does not answer
   */
  public void giveMemoryBack() {
    whileNothingRuns(blobs -> {
      cache.clear();
      records.clear(blobs.worker().backoff());
      space.giveBack();
      return true;
    });
  }

  /**
   * As {@link #giveMemoryBack}, but the caches stay.
   *
   * @throws IllegalStateException if the index is closed
   * @throws pando.fabric.PandoException if a memory server is lost or does not answer
   */
  public void giveFreePlacesBack() {
    whileNothingRuns(_ -> {
      space.giveBack();
      return true;
    });
  }

  /**
   * Checks that this thread does not keep others out: one that changes ranges would wait for it.
   *
   * @throws IllegalStateException if it does
   */
  void checkNotAlone() {
    if (gate.isAlone()) {
      throw new IllegalStateException("this thread keeps others out of the index");
    }
  }

  private <T> T whileNothingRuns(Function<Blobs, T> action) {
    StackRoom.STRINGS.check();
    try (Blobs blobs = new Blobs(space)) {
      if (!gate.shut(blobs.worker())) {
        throw new IllegalStateException("the index is closed");
      }
      try {
        changes.settleAll();
        freeWaiting();
        return action.apply(blobs);
      } finally {
        gate.open();
      }
    }
  }

  /**
   * Frees what waits for it, while no operation runs: of a long value, only its blob knows all.
   * Sessions keep what they have found.
   */
  private void freeWaiting() {
    synchronized (sessions) {
      sessions.forEach(this::takeWaiting);
    }
    BlockSession session = sweeping;
    if (session != null) {
      takeWaiting(session);
    }
    own.blobs.freeWaiting();
  }

  private void takeWaiting(BlockSession from) {
    own.blobs.takeWaiting(from.reader.blobs);
  }

  /**
   * Returns the bytes of local memory that the caches of records and blocks, changes that wait, the
   * directory and the index of the blocks take.
   */
  public long cachedBytes() {
    return labels.cachedBytes()
        + records.usedBytes()
        + cache.bytes()
        + deltas.bytes()
        + directoryBytes();
  }

  /**
   * Returns the bytes of local memory that the directory of the blocks takes: all objects, in a
   * heap of less than 32 GB. It looks at each block.
   */
  public long directoryBytes() {
    return directory.localBytes();
  }

  /** Has the sweeper merge blocks: memory for changes is going to be short. */
  void wakeMerging() {
    if (!merging) {
      merging = true;
      sweeper.wake();
    }
  }

  private boolean sweep() {
    boolean sweeps = false;
    try {
      sweeps = writeBack.step();
      return mergeSome() || sweeps;
    } catch (PandoException | VirtualMachineError _) {
      // Sessions meet the cause, too; what is left is swept, or merged, again.
      merging = false;
      return sweeps;
    }
  }

  /** Merges some blocks if memory for changes is nearly short; returns whether to go on. */
  private boolean mergeSome() {
    boolean goesOn = merging && mergeSomeOf(ofSweeper());
    if (!goesOn) {
      merging = false;
    }
    return goesOn;
  }

  private boolean mergeSomeOf(BlockSession session) {
    if (!session.reader.pass.tryEnter()) {
      return false;
    }
    try {
      boolean merged = true;
      for (int i = 0; i < MERGED_AT_ONCE && merged && !deltas.isEased(); i++) {
        BlockEntry fullest = deltas.fullest(session.reader.blobs.worker().random());
        merged = fullest != null && session.changes.tryMerge(fullest);
      }
      return merged && !deltas.isEased();
    } finally {
      session.reader.pass.exit();
    }
  }

  private BlockSession ofSweeper() {
    BlockSession session = sweeping;
    if (session == null) {
      session = new BlockSession(this);
      sweeping = session;
    }
    return session;
  }

  private BlockSweep openSweep() {
    return new BlockSweep(this, ofSweeper());
  }

  @Override
  public void flush() {
    try (BlockSession session = (BlockSession) session()) {
      new BlockSweep(this, session).writeAll();
    }
  }

  @Override
  public Unwritten unwritten() {
    long bytes = labels.unwritten().bytes();
    for (BlockEntry entry : unwritten) {
      bytes += entry.state().delta().size();
    }
    return writeBack.unwritten(bytes);
  }

  /**
   * Returns about how many entries there are: those of 32 blocks or more that are drawn at random,
   * until the standard error is 2.5 %, stand for all. Up to 32 blocks are counted. READs those that
   * are not cached.
   */
  @Override
  public long sizeEstimate(MemorySegment from, @Nullable MemorySegment to) {
    try (BlockSession session = (BlockSession) session()) {
      return session.sizeEstimate(from, to);
    }
  }

  /** Returns the number of blocks. */
  public int blocks() {
    return directory.size();
  }

  /** Returns whether the index is closed. */
  @Override
  public boolean isClosed() {
    return gate.isClosed();
  }

  @Override
  public void close() {
    StackRoom.STRINGS.check();
    if (ended || !closing.compareAndSet(false, true)) {
      return;
    }
    try {
      Failures failures = new Failures();
      for (BlockSession session : shut(failures)) {
        failures.collect(session::release);
      }
      failures.collect(sweeper::close);
      failures.collect(this::endSweep);
      failures.collect(changes::close);
      failures.collect(own::close);
      failures.collect(labels::close);
      ended = labels.isClosed();
      failures.collect(this::closeSpace);
      failures.collect(records::close);
      failures.rethrow();
    } finally {
      closing.set(false);
    }
  }

  /** Closes the space for values; the index has not ended if that can be done again. */
  private void closeSpace() {
    try {
      space.close();
    } catch (MemoryServerLostException | FencedException | IllegalStateException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      ended = false;
      throw e;
    }
  }

  /** Closes what has begun to open. */
  private void abandon() {
    Closing.all(
        () -> spare.close(own.blobs), sweeper::close, changes::close, own::close, records::close);
  }

  private void endSweep() {
    BlockSession session = sweeping;
    if (session != null) {
      sweeping = null;
      session.release();
    }
  }

  /** Lets no operation begin any more; returns the sessions to end. */
  private List<BlockSession> shut(Failures failures) {
    if (gate.isClosed() || !gate.shut(own.blobs.worker())) {
      return List.of();
    }
    try {
      settle(failures);
      spare.close(own.blobs);
      synchronized (sessions) {
        gate.close();
        List<BlockSession> open = List.copyOf(sessions);
        sessions.clear();
        return open;
      }
    } finally {
      gate.open();
    }
  }

  /** Writes what waits, unless that can never be done any more. */
  private void settle(Failures failures) {
    try {
      changes.settleAll();
    } catch (MemoryServerLostException | FencedException | IllegalStateException e) {
      // Of these the last one says that the fabric is closed.
      failures.add(e);
    }
  }
}
