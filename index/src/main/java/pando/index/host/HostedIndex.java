package pando.index.host;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.PoolFullException;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.pool.Losses;
import pando.fabric.pool.NodeAllocator;
import pando.index.CacheCounters;
import pando.index.EntrySource;
import pando.index.IndexOptions;
import pando.index.Lease;
import pando.index.MovablePartitions;
import pando.index.Partitioning;
import pando.index.PoolSpace;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Unwritten;
import pando.index.load.BulkLoad;
import pando.index.load.Loader;
import pando.index.pool.Arguments;
import pando.index.pool.NodePlaces;
import pando.index.pool.PoolChange;
import pando.index.session.Failures;

/**
 * An index over one or more compute servers in this process. A fabric connects them to memory
 * servers, which may serve other processes, too. This class creates, joins, loads and closes the
 * index; a system implements how its parts are made.
 *
 * @param <S> a compute server
 * @param <W> one session's worker at a compute server
 */
public abstract class HostedIndex<S extends HostedServer, W extends GatedWorker>
    implements RangeIndex {
  private final Fabric fabric;
  private final IndexOptions options;
  private final int first;
  private final int count;

  /** Whether compute servers that join must have a range. */
  private final boolean ranged;

  /** Whether this process made it, with all of its compute servers. */
  private boolean isMadeWhole;

  private final Overlay overlay;
  private final PartitionChanges<S, W> changes;

  /** The compute servers and workers of this process. */
  final Members<S, W> members;

  /**
   * Prepares an index. {@link #made} or {@link #joined} starts it.
   *
   * @param first number of the first compute server in this process
   * @param count number of compute servers in this process, at least 1
   * @param opener opens a worker of a compute server for a session with the given number
   */
  @SuppressWarnings("this-escape") // PartitionChanges only keeps it.
  protected HostedIndex(
      Fabric fabric, IndexOptions options, int first, int count, BiFunction<S, Integer, W> opener) {
    Arguments.checkServers(options, first, count);
    this(fabric, options, first, count, true, Overlay.NONE, opener);
  }

  /** As the next one, with nothing over the index. */
  protected HostedIndex(
      Fabric fabric, IndexOptions options, int number, BiFunction<S, Integer, W> opener) {
    this(fabric, options, number, Overlay.NONE, opener);
  }

  /**
   * Prepares an index with one compute server in this process, which has all keys if the index is
   * {@link #made}, and may have none if it is {@link #joined}.
   *
   * @param number of the compute server
   * @param overlay lies over the index
   * @param opener opens a worker of a compute server for a session with the given number
   */
  @SuppressWarnings("this-escape") // PartitionChanges only keeps it.
  protected HostedIndex(
      Fabric fabric,
      IndexOptions options,
      int number,
      Overlay overlay,
      BiFunction<S, Integer, W> opener) {
    Arguments.checkServer(options, number);
    this(fabric, options, number, 1, false, overlay, opener);
  }

  private HostedIndex(
      Fabric fabric,
      IndexOptions options,
      int first,
      int count,
      boolean ranged,
      Overlay overlay,
      BiFunction<S, Integer, W> opener) {
    this.fabric = fabric;
    this.overlay = overlay;
    this.options = options;
    this.first = first;
    this.count = count;
    this.ranged = ranged;
    this.members = new Members<>(opener);
    this.changes =
        new PartitionChanges<>(
            this,
            members,
            ranged ? Partitioning.equalWidth(options.computeServers()) : overlay.undivided(first));
  }

  /**
   * Returns the system's number (32 bits), which the catalogue of a pool with such an index has.
   */
  protected abstract int system();

  /** Returns the system's name, for messages. */
  protected abstract String kind();

  /**
   * Makes a compute server.
   *
   * @param random draws numbers that distinguish it from an earlier compute server of this number
   */
  protected abstract S server(int number, RandomGenerator random);

  /** Makes a loader that allocates nodes from a compute server. */
  protected abstract Loader loader(S server, double fill);

  /**
   * Returns the index that a bulk load replaces, which must be empty.
   *
   * @param server receives the freed nodes
   */
  protected abstract Replaced replaced(PoolChange change, S server);

  /**
   * Returns the node sizes, in bytes, that every compute server allocates. {@link #made} checks
   * that the pool has room for them.
   */
  protected int[] nodeSizes() {
    return new int[] {options.nodeBytes()};
  }

  /** Returns the bytes of what the catalogue's root points to. Default: those of a node. */
  protected int rootBytes() {
    return options.nodeBytes();
  }

  /** Returns the local memory that a change has for nodes. Default: that of one. */
  protected long changeBytes() {
    return options.nodeBytes();
  }

  /**
   * Opens a session.
   *
   * @param home the compute server to which all operations go, {@link HostedSession#NO_HOME} for a
   *     key's owner
   */
  protected abstract Session session(int home);

  /**
   * Makes an empty index in a pool that has none, and returns it.
   *
   * @throws PoolFullException if the pool has less room than an index needs
   * @throws IllegalStateException if the pool holds an index already
   */
  public static <I extends HostedIndex<?, ?>> I made(I index) {
    index.make();
    return index;
  }

  /**
   * Joins an index that another process has created, and returns it.
   *
   * @throws IllegalStateException if the pool holds no index, or one of another system
   */
  public static <I extends HostedIndex<?, ?>> I joined(I index) {
    index.join();
    return index;
  }

  final void make() {
    isMadeWhole = ranged && count == options.computeServers();
    open(change -> {
      change.catalogue().checkUnclaimed();
      NodeAllocator.checkRoom(
          change.worker(),
          change.message(),
          fabric.memoryServers(),
          partitioning().servers(),
          nodeSizes());
      start(change);
      long root = build(1, loader -> begin(change, loader));
      members.servers().forEach(server -> server.open(change.catalogue(), root));
      change.catalogue().claim(options.nodeBytes());
    });
  }

  private long begin(PoolChange change, Loader loader) {
    // Where one compute server has all keys, others can be given some while there are no entries.
    Partitioning leaves = Partitioning.equalWidth(options.computeServers());
    long root = BulkLoad.empty(loader, leaves, partitioning());
    try {
      change.catalogue().setRoot(root);
      overlay.write(change.catalogue(), partitioning());
    } catch (Throwable e) {
      loader.abandon(e);
      throw e;
    }
    return root;
  }

  final void join() {
    open(change -> {
      change.catalogue().checkClaimed(options.nodeBytes(), kind());
      Partitioning table = overlay.read(change.catalogue());
      for (int number = first; ranged && number < first + count; number++) {
        table.rangeOfServer(number);
      }
      changes.setCurrent(table);
      start(change);
      for (S server : members.servers()) {
        buryServer(change, server.number);
      }
      long root = change.catalogue().root();
      members.servers().forEach(server -> server.open(change.catalogue(), root));
    });
  }

  /**
   * Takes the steps that open the index; closes what they opened if one fails, or the unlocking.
   */
  private void open(Consumer<PoolChange> steps) {
    try (PoolChange change = opened()) {
      change.lock();
      try {
        steps.accept(change);
      } catch (Throwable e) {
        Closing.after(e, members::end, () -> trim(change));
        throw e;
      }
    } catch (Throwable e) {
      Closing.after(e, members::end);
      throw e;
    }
  }

  private void start(PoolChange change) {
    for (int number = first; number < first + count; number++) {
      addLocal(change, number);
    }
  }

  /** Adds a compute server, with the range that the table gives it. */
  private S addLocal(PoolChange change, int number) {
    S server = server(number, change.worker().random());
    setRange(server);
    members.add(server);
    return server;
  }

  private void setRange(S server) {
    if (options.isPartitioned()) {
      server.setRange(partitioning());
    }
  }

  /** Begins a change of the index as a whole, which has no lock yet. */
  final PoolChange opened() {
    NodePlaces places = new NodePlaces(fabric, rootBytes());
    return new PoolChange(fabric, changeBytes(), places, system(), members::add);
  }

  @Override
  public final Fabric fabric() {
    return fabric;
  }

  @Override
  public final String name() {
    return options.system();
  }

  @Override
  public final Partitioning partitioning() {
    return changes.current();
  }

  @Override
  public final boolean serves(long key) {
    return !options.isPartitioned() || members.find(partitioning().ownerOfKey(key)) != null;
  }

  @Override
  public final Session session() {
    members.checkOpen();
    return session(options.isPartitioned() ? HostedSession.NO_HOME : members.next().number);
  }

  @Override
  public final boolean isShared() {
    return !isMadeWhole;
  }

  /**
   * Checks that no other process can change keys that this one serves.
   *
   * @throws IllegalStateException if one can
   */
  final void checkSoleChanger() {
    if (!options.isPartitioned() && count < options.computeServers()) {
      throw new IllegalStateException(
          "other processes could change the same keys: system=%s, computeServersHere=%s, all=%s"
              .formatted(name(), count, options.computeServers()));
    }
  }

  /**
   * Opens a worker of a compute server, or returns {@code null} if that is not in this process.
   *
   * @throws IllegalStateException if the index is closed
   */
  protected final @Nullable W openWorker(int number) {
    members.checkOpen();
    S server = members.find(number);
    return server == null ? null : members.worker(server);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Must be called before other processes join. Sessions of this process wait until the load has
   * ended.
   */
  @Override
  public final long bulkLoad(EntrySource entries, double fill) {
    Objects.requireNonNull(entries, "entries");
    Arguments.checkFill(fill);
    return changes.alone((change, all) -> load(change, all, entries, fill));
  }

  private long load(PoolChange change, Quiet<S> all, EntrySource entries, double fill) {
    all.empty();
    long before = change.catalogue().root();
    Replaced replaced = replaced(change, members.first());
    replaced.check(before);
    BulkLoad.Built built =
        build(
            fill,
            loader ->
                BulkLoad.replace(loader, entries, partitioning(), change.catalogue(), before));
    changes.setCurrent(built.partitioning());
    for (S server : members.servers()) {
      setRange(server);
      server.forget(change.worker().backoff());
      server.open(change.catalogue(), built.root());
    }
    replaced.free();
    return built.entries();
  }

  private <T> T build(double fill, Function<Loader, T> load) {
    try (Loader loader = loader(members.first(), fill)) {
      try {
        return load.apply(loader);
      } finally {
        members.add(loader.verbs());
      }
    }
  }

  @Override
  public final VerbCounters verbs() {
    return members.totals().verbs();
  }

  @Override
  public final CacheCounters cache() {
    return members.totals().cache();
  }

  @Override
  public final long poolBytes() {
    return members.poolBytes();
  }

  @Override
  public final PoolSpace space() {
    return space(Supplier::get);
  }

  /**
   * As {@link #space()}, with a step around it that is taken while this process changes no range.
   */
  public final PoolSpace space(Function<Supplier<PoolSpace>, PoolSpace> step) {
    return changes.change(change -> step.apply(() -> space(change)));
  }

  private PoolSpace space(PoolChange change) {
    try (Quiet<S> all = new Quiet<>(members, members.gates(), change.worker())) {
      all.flush();
      PoolSpace space = options.space(fabric);
      for (S server : members.servers()) {
        space = space.withUnused(server.kept());
      }
      return space;
    }
  }

  @Override
  public final long cachedBytes() {
    return members.cachedBytes();
  }

  @Override
  public final void flush() {
    changes.flush();
  }

  @Override
  public final Unwritten unwritten() {
    return members.servers().stream()
        .map(HostedServer::unwritten)
        .reduce(Unwritten.NONE, Unwritten::plus);
  }

  @Override
  public final boolean isClosed() {
    return members.isClosed();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Waits for operations under way; later ones throw {@link IllegalStateException}.
   *
   * @throws pando.fabric.StalledException if an operation does not end; the index stays open
   */
  @Override
  public final void close() {
    if (isClosed()) {
      return;
    }
    PoolChange change;
    try {
      change = opened();
    } catch (IllegalStateException e) {
      closeAfterFabric(e);
      throw e;
    }
    try (change;
        var _ = changes.turn(change.worker())) {
      if (!isClosed()) {
        close(change);
      }
    }
  }

  /** Closes the index of a closed fabric, where operations under way fail at their next verb. */
  private void closeAfterFabric(IllegalStateException failure) {
    if (members.close()) {
      Closing.after(failure, members::end);
    }
  }

  private void close(PoolChange change) {
    Losses losses = new Losses();
    Quiet<S> all = new Quiet<>(members, members.gates(), change.worker());
    boolean trimmed = false;
    try {
      losses.defer(all::empty);
      losses.defer(() -> trim(change));
      trimmed = true;
    } finally {
      if (!trimmed) {
        all.close();
      }
    }
    try {
      members.end();
    } finally {
      members.close();
    }
    losses.rethrow();
  }

  /** Gives nodes that compute servers have allocated and do not use back to the pool. */
  private void trim(PoolChange change) {
    Losses losses = new Losses();
    for (S server : members.servers()) {
      losses.defer(() -> server.trim(change.worker(), change.message()));
    }
    losses.rethrow();
  }

  /** Returns the compute servers of this process. */
  protected List<S> servers() {
    return members.servers();
  }

  /**
   * Returns one of the compute servers of this process.
   *
   * @throws IllegalStateException if all were taken out
   */
  protected final S anyServer() {
    return members.first();
  }

  final IndexOptions options() {
    return options;
  }

  // Changes of partitions.

  @Override
  public final Optional<MovablePartitions> partitions() {
    return Optional.<MovablePartitions>of(changes).filter(_ -> options.hasMovablePartitions());
  }

  /** Throws {@link IllegalStateException} if the index is closed. */
  protected final void checkOpen() {
    members.checkOpen();
  }

  /** Returns the lease of sessions that are opened now, {@code null} if they need none. */
  protected final @Nullable Lease lease() {
    return changes.lease();
  }

  /** Returns the changes of partitions. */
  public final PartitionChanges<S, W> changes() {
    return changes;
  }

  final Overlay overlay() {
    return overlay;
  }

  /**
   * Runs an action of this thread while no other thread operates on compute servers of this
   * process.
   */
  final void alone(Worker worker, Runnable action) {
    if (servers().stream().allMatch(HostedServer::sharesGate)) {
      members.alone(worker, action);
      return;
    }
    // Only with the turn no flush is under way that waits for one of the gates.
    try (var _ = changes.turn(worker)) {
      members.alone(worker, action);
    }
  }

  final S add(PoolChange change, int number) {
    S server = addLocal(change, number);
    try {
      server.open(change.catalogue(), change.catalogue().root());
    } catch (Throwable e) {
      members.retire(server);
      throw e;
    }
    return server;
  }

  /** Takes a compute server without a range out of the index. */
  final void retire(PoolChange change, S server) {
    Failures failures = new Failures();
    failures.collect(() -> server.trim(change.worker(), change.message()));
    failures.collect(() -> members.retire(server));
    failures.rethrow();
  }

  final boolean hasRange(S server, Partitioning table) {
    return !options.isPartitioned() || server.hasRange(table);
  }

  /**
   * Begins to take keys from a compute server, beside operations. Default: keys do not move.
   *
   * @param key its leaf's least key becomes the bound
   * @param upper whether the keys from the bound on leave, or those below
   */
  protected Parting part(PoolChange change, S giver, long key, boolean upper) {
    throw unmovable();
  }

  /** Begins to take about the upper half of its keys from a compute server, as {@link #part}. */
  protected Parting partHalf(PoolChange change, S giver) {
    throw unmovable();
  }

  /** Begins to take all keys from a compute server, as {@link #part}. */
  protected Parting partWhole(PoolChange change, S giver) {
    throw unmovable();
  }

  /** Begins to take all keys from a compute server that is lost, as {@link #part}. */
  protected Parting partLost(PoolChange change, S heir, int lost) {
    throw unmovable();
  }

  /**
   * Completes what a lost compute server, or an earlier process of this one, had begun in the pool,
   * so that others can go on. The lost one still has its range. Can be repeated. Default: nothing.
   */
  protected void bury(PoolChange change, int lost) {}

  /** Buries a compute server, unless it has no range: the one that took it over has buried it. */
  final void buryServer(PoolChange change, int lost) {
    if (!options.isPartitioned() || partitioning().hasServer(lost)) {
      bury(change, lost);
    }
  }

  @Override
  public final void bury(int lost) {
    changes.bury(lost);
  }

  /** Returns the exception for the case that ranges of this system do not move. */
  private UnsupportedOperationException unmovable() {
    return new UnsupportedOperationException("ranges do not move: system=" + name());
  }

  /** Runs a step while operations and background tasks are kept out of this process. */
  protected final void quietly(PoolChange change, Runnable step) {
    try (var _ = new Quiet<>(members, members.gates(), change.worker())) {
      step.run();
    }
  }
}
