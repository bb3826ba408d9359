package pando.index.host;

import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.PoolFullException;
import pando.fabric.VerbCounters;
import pando.fabric.pool.NodeAllocator;
import pando.index.CacheCounters;
import pando.index.EntrySource;
import pando.index.IndexOptions;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.load.BulkLoad;
import pando.index.load.Loader;
import pando.index.pool.Arguments;
import pando.index.pool.NodePlaces;
import pando.index.pool.PoolChange;

/**
 * An index over any number of compute servers in this process, joined by a fabric to memory servers
 * that may serve other processes as well. Makes, joins, loads and ends it; a system says how its
 * parts are made.
 *
 * @param <S> a compute server
 * @param <W> one session's part at a compute server
 */
public abstract class HostedIndex<S extends HostedServer, W extends HostedWorker>
    implements RangeIndex {
  private final Fabric fabric;
  private final IndexOptions options;
  private final int first;
  private final int count;
  private final Members<S, W> members;
  private volatile Partitioning partitioning;

  /**
   * Prepares an index, which {@link #make} or {@link #join} is to start.
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @param opener opens a worker of a compute server, for a session of which the number is given
   */
  protected HostedIndex(
      Fabric fabric, IndexOptions options, int first, int count, BiFunction<S, Integer, W> opener) {
    Arguments.checkServers(options, first, count);
    this.fabric = fabric;
    this.options = options;
    this.first = first;
    this.count = count;
    this.members = new Members<>(opener);
    this.partitioning = Partitioning.equalWidth(options.computeServers());
  }

  /** Returns the number, 32 bits, that tells a pool with this kind of index in it. */
  protected abstract int system();

  /** Returns what the number stands for, for messages. */
  protected abstract String kind();

  /**
   * Makes a compute server.
   *
   * @param random draws what tells it from one that had its number before
   */
  protected abstract S server(int number, RandomGenerator random);

  /** Makes a loader, with nodes of a compute server. */
  protected abstract Loader loader(S server, double fill);

  /**
   * Prepares to look at an index that should be empty.
   *
   * @param server to take its nodes back
   */
  protected abstract Replaced replaced(PoolChange change, S server);

  /**
   * Returns the sizes of nodes that every compute server needs: making an index checks that the
   * pool has room for them.
   */
  protected int[] nodeSizes() {
    return new int[] {options.nodeBytes()};
  }

  /**
   * Makes an empty index in a pool that has none.
   *
   * @throws PoolFullException where the pool has less room than an index needs
   * @throws IllegalStateException where the pool holds an index already
   */
  protected final void make() {
    try (PoolChange change = change()) {
      change.lock();
      change.catalogue().checkUnclaimed();
      NodeAllocator.checkRoom(
          change.worker(),
          change.message(),
          fabric.memoryServers(),
          options.computeServers(),
          nodeSizes());
      try {
        start(change);
        build(1, loader -> begin(change, loader));
        change.catalogue().claim(options.nodeBytes());
      } catch (Throwable e) {
        abandon(change, e);
        throw e;
      }
    }
  }

  private long begin(PoolChange change, Loader loader) {
    long root = BulkLoad.empty(loader, partitioning);
    try {
      change.catalogue().begin(root, partitioning);
    } catch (Throwable e) {
      loader.abandon(e);
      throw e;
    }
    return root;
  }

  /**
   * Joins an index that another process has made.
   *
   * @throws IllegalStateException where the pool holds no index, or one of another kind
   */
  protected final void join() {
    try (PoolChange change = change()) {
      change.lock();
      change.catalogue().checkClaimed(options.nodeBytes(), kind());
      try {
        partitioning = change.catalogue().readPartitioning();
        start(change);
      } catch (Throwable e) {
        abandon(change, e);
        throw e;
      }
    }
  }

  private void start(PoolChange change) {
    for (int number = first; number < first + count; number++) {
      S server = server(number, change.worker().random());
      server.own(partitioning);
      members.add(server);
    }
  }

  /** Ends what was begun, after a failure; other failures join it. */
  private void abandon(PoolChange change, Throwable failure) {
    Failures failures = new Failures();
    failures.collect(members::end);
    failures.collect(() -> trim(change));
    failures.join(failure);
  }

  private PoolChange change() {
    int nodeBytes = options.nodeBytes();
    return new PoolChange(
        fabric, nodeBytes, new NodePlaces(fabric, nodeBytes), system(), members::add);
  }

  @Override
  public final String name() {
    return options.system();
  }

  @Override
  public final Partitioning partitioning() {
    return partitioning;
  }

  @Override
  public final boolean serves(long key) {
    return !options.isPartitioned() || members.local(partitioning.ownerOfKey(key)) != null;
  }

  @Override
  public final Session session() {
    members.checkOpen();
    return options.isPartitioned()
        ? HostedSession.partitioned(this)
        : HostedSession.at(this, members.next().number);
  }

  /**
   * Opens a worker of a compute server, or returns {@code null} where it does not live here.
   *
   * @throws IllegalStateException where the index is closed
   */
  protected final @Nullable W openWorker(int number) {
    members.checkOpen();
    S server = members.local(number);
    return server == null ? null : members.worker(server);
  }

  /** Ends a worker. Does nothing for one that has ended. */
  final void retireWorker(W worker) {
    members.retire(worker);
  }

  /**
   * {@inheritDoc}
   *
   * <p>To be called before other processes join. Sessions of this process wait until it has ended.
   */
  @Override
  public final long bulkLoad(EntrySource entries, double fill) {
    Objects.requireNonNull(entries, "entries");
    Arguments.checkFill(fill);
    members.checkOpen();
    try (PoolChange change = change()) {
      change.lock();
      if (!members.gate().shut(change.worker())) {
        members.checkOpen();
      }
      try {
        members.servers().forEach(server -> server.pause(change.worker().backoff()));
        return load(change, entries, fill);
      } finally {
        resume();
      }
    }
  }

  private long load(PoolChange change, EntrySource entries, double fill) {
    long before = change.catalogue().root();
    Replaced replaced = replaced(change, members.servers().getFirst());
    replaced.check(before);
    BulkLoad.Built built = build(fill, loader -> BulkLoad.run(loader, entries, partitioning));
    change.catalogue().swap(before, built.root(), built.partitioning());
    partitioning = built.partitioning();
    for (S server : members.servers()) {
      server.own(partitioning);
      server.forget(change.worker().backoff());
    }
    replaced.free();
    return built.entries();
  }

  /** Goes on with what compute servers do by themselves, and lets operations in again. */
  private void resume() {
    try {
      members.servers().forEach(HostedServer::resume);
    } finally {
      members.gate().open();
    }
  }

  private <T> T build(double fill, Function<Loader, T> load) {
    try (Loader loader = loader(members.servers().getFirst(), fill)) {
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
    return members.totals().cacheCounters();
  }

  @Override
  public final long poolBytes() {
    return members.poolBytes();
  }

  @Override
  public final long cachedBytes() {
    return members.cachedBytes();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Waits for the operations that have begun; later ones throw {@link IllegalStateException}.
   *
   * @throws pando.fabric.StalledException where an operation does not end
   * @throws pando.fabric.PandoException where a memory server cannot be reached; after this, and
   *     after {@link pando.fabric.StalledException}, the index is open and can be closed again
   */
  @Override
  public final void close() {
    if (members.gate().isClosed()) {
      return;
    }
    try (PoolChange change = change()) {
      if (members.gate().shut(change.worker())) {
        close(change);
      }
    }
  }

  private void close(PoolChange change) {
    boolean trimmed = false;
    try {
      members.servers().forEach(server -> server.pause(change.worker().backoff()));
      trim(change);
      trimmed = true;
    } finally {
      if (!trimmed) {
        resume();
      }
    }
    try {
      members.end();
    } finally {
      members.gate().close();
    }
  }

  /** Gives back what compute servers have allocated and do not use. */
  private void trim(PoolChange change) {
    Failures failures = new Failures();
    for (S server : members.servers()) {
      failures.collect(() -> server.trim(change.worker(), change.message()));
    }
    failures.rethrow();
  }
}
