package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.fabric.memory.StackRoom;
import pando.index.Meters;
import pando.index.Partitioning;
import pando.index.PoolSpace;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Unwritten;
import pando.index.blob.BlobSpace;
import pando.index.blob.Blobs;
import pando.index.orca.OrcaIndex;
import pando.index.orca.OrcaOptions;
import pando.index.pool.Arguments;
import pando.index.session.Failures;
import pando.index.session.Gate;
import pando.index.session.KeyOrder;
import pando.index.session.WriteBack;

/**
 * An ordered map from byte strings to byte strings in a memory pool. Keys have 0 to {@value
 * #KEY_BYTES_MAX} bytes and order byte by byte, as unsigned numbers. One process at a time serves
 * the index; another one can open it after the first has closed it.
 *
 * <p>Thread-safe; each thread works through a {@link ByteSession} of its own.
 */
public final class ByteIndex implements ByteStrings {
  /*
   * Blocks are blobs, which never change. An index of ORCA has the word of each block under a
   * label, a number without a meaning: another process finds the blocks by it. The process that
   * serves the index has a directory of all blocks in its memory, and so needs that index only to
   * record changes.
   *
   * A block is cut into segments, and the directory knows what separates them: a lookup READs one
   * segment. The sum of a segment is made with the version of its block, which never comes again.
   * Records that were found go into a cache of single records. Whole blocks, which changes and
   * scans need, have a cache of their own.
   *
   * A change of a record waits in local memory, beside others of its block; a lookup sees them
   * first. They are merged when there are some, when memory is short, and when the index closes. A
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

  /** The label of no block: its word says what kind of index this is. */
  static final long KIND_LABEL = Long.MIN_VALUE;

  /**
   * Bytes of the cache of labels for each block of the greatest size that what is used of the pool
   * has room for, where an index is opened: a cache that is too small for the directory is refused.
   * A directory has 0.6 to 1.3 bytes for a block, and most blocks are smaller.
   */
  private static final int LABEL_BYTES = 8;

  private static final long KIND = 0x5061_6e64_6f42_7401L;

  final ByteOptions options;
  final RangeIndex labels;
  final BlobSpace space;
  final ByteRecordCache records;
  final BlockDeltas deltas;
  final BlockCache cache;
  final BlockDirectory directory;
  final AtomicLong nextLabel;
  final AtomicLong nextVersion;
  final Gate gate = new Gate();

  final Superseded superseded;
  final Unsettled unsettled;
  final Spare spare;

  /** Blocks with changes that wait. */
  final Queue<BlockEntry> unwritten = new ConcurrentLinkedQueue<>();

  /** How often walks have put a block at the end of the queue again. For one walk at a time. */
  long requeued;

  final WriteBack writeBack;
  private final BackgroundTask sweeper;

  /** Of the sweeper, once it has begun. */
  private volatile @Nullable BlockSession sweeping;

  private final List<BlockSession> sessions = new ArrayList<>();
  private final BlockReader own;
  private final BlockChanges changes;
  private final AtomicBoolean closing = new AtomicBoolean();
  private volatile boolean ended;

  private ByteIndex(ByteOptions options, RangeIndex labels, BlobSpace space, OpenedBlocks blocks) {
    this.options = options;
    this.labels = labels;
    this.space = space;
    this.directory = blocks.directory();
    this.deltas =
        new BlockDeltas(
            directory, options.deltaChanges(), options.deltaSizeMax(), options.deltaBytes());
    this.cache = new BlockCache(options.cacheBytes() - options.recordBytes(), deltas);
    this.nextLabel = new AtomicLong(blocks.labelMax() + 1);
    this.nextVersion = new AtomicLong(blocks.versionMax() + 1);
    this.superseded = new Superseded(this, labels.fabric());
    this.unsettled = new Unsettled(superseded, blocks.strays());
    this.spare = new Spare(this);
    this.records = new ByteRecordCache(options.recordBytes());
    List<Runnable> undo = new ArrayList<>(List.of(records::close));
    try {
      this.own = new BlockReader(this);
      undo.addFirst(own::close);
      this.changes = new BlockChanges(this, own);
      undo.addFirst(changes::close);
      spare.ensure(own.blobs);
      this.sweeper = labels.fabric().background("pando-sweeper-bytes", this::sweep);
      this.writeBack =
          new WriteBack(
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
   * Makes an empty index in a pool that has none.
   *
   * @throws pando.fabric.PoolFullException if the pool has less room than an index needs
   * @throws IllegalStateException if the pool holds an index already
   */
  public static ByteIndex create(Fabric fabric, ByteOptions options) {
    StackRoom.STRINGS.check();
    return started(options, fabric, OrcaIndex.create(fabric, labels(options)), true);
  }

  /**
   * Opens an index that another process has made and closed.
   *
   * @throws IllegalStateException if the pool holds no such index
   */
  public static ByteIndex open(Fabric fabric, ByteOptions options) {
    StackRoom.STRINGS.check();
    OrcaOptions labels = labels(options);
    long most = usedBytes(fabric) / options.blockBytes() * LABEL_BYTES;
    long cacheBytes = Math.max(labels.cacheBytes(), most);
    return started(options, fabric, labels.withCacheBytes(cacheBytes).join(fabric, 0, 1), false);
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

  private static ByteIndex started(
      ByteOptions options, Fabric fabric, RangeIndex labels, boolean isNew) {
    try {
      BlobSpace space = new BlobSpace(fabric);
      try (Session session = labels.session();
          Blobs blobs = new Blobs(space)) {
        if (isNew) {
          session.put(KIND_LABEL, KIND);
        } else if (!session.get(KIND_LABEL) || session.value() != KIND) {
          throw new IllegalStateException("the pool holds no index of byte strings");
        }
        OpenedBlocks blocks =
            isNew ? OpenedBlocks.first(session, blobs) : OpenedBlocks.of(session, blobs);
        if (isNew) {
          labels.flush();
        }
        return new ByteIndex(options, labels, space, blocks);
      } catch (Throwable e) {
        Closing.after(e, space::close);
        throw e;
      }
    } catch (Throwable e) {
      Closing.after(e, labels::close);
      throw e;
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

  /** Returns one range of all keys: this process serves them. */
  @Override
  public Partitioning partitioning() {
    return Partitioning.undivided(0);
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
    return "byte-strings";
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
   * that were replaced since the last write-back. Changes that wait in local memory are not among
   * them.
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
    return whileNothingRuns(blobs -> new ByteSpace(this, blobs).count());
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

  private boolean sweep() {
    try {
      return writeBack.step();
    } catch (PandoException | VirtualMachineError e) {
      // Sessions meet the cause, too; what is left is swept again.
      return false;
    }
  }

  private BlockSweep openSweep() {
    BlockSession session = new BlockSession(this);
    sweeping = session;
    return new BlockSweep(this, session);
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
    return bytes == 0 ? Unwritten.NONE : new Unwritten(bytes, writeBack.ageNanosMax());
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

  /**
   * Waits until each running operation has ended, writes what is not in the pool yet, and frees the
   * local memory. All entries stay in the pool. Sessions that are still open throw {@link
   * IllegalStateException} from then on. A second call does nothing, also while another thread
   * closes the index.
   *
   * @throws pando.fabric.PandoException if a memory server is lost or does not answer; unless one
   *     is lost, the index can be closed again
   */
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
