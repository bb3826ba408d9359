package pando.index.dex;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.CacheCounters;
import pando.index.EntrySource;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.dex.Repartitioning.Quiesced;
import pando.index.load.BulkLoad;
import pando.index.node.NodeLayout;
import pando.index.pool.Arguments;

/**
 * A DEX index: any number of compute servers in this process, joined by a fabric to memory servers
 * that may serve other processes as well.
 *
 * <p>Partitions can be changed while operations run: {@link #moveBoundary}, {@link #split}, {@link
 * #addComputeServer}, {@link #removeComputeServer}. The compute servers concerned write back their
 * caches and start with empty ones, during which their operations wait; others do not notice.
 */
public final class DexIndex implements RangeIndex {
  /** Tells a pool with DEX in it. */
  static final int SYSTEM = 0xDE7A_0001;

  private static final int PAUSE_ATTEMPT = 64;

  private final Fabric fabric;
  private final DexOptions options;
  private final NodeLayout layout;
  private final AtomicReferenceArray<@Nullable ComputeServer> servers =
      new AtomicReferenceArray<>(DexOptions.COMPUTE_SERVERS_MAX);
  private final Members members = new Members();
  private volatile Partitioning partitioning;
  private volatile boolean closed;

  private DexIndex(Fabric fabric, DexOptions options, Partitioning partitioning) {
    this.fabric = fabric;
    this.options = options;
    this.layout = new NodeLayout(options.nodeBytes());
    this.partitioning = partitioning;
  }

  /**
   * Makes an empty index in a pool that has none, with every compute server in this process.
   *
   * @throws IllegalStateException where the pool holds an index already
   */
  public static DexIndex create(Fabric fabric, DexOptions options) {
    return create(fabric, options, 0, options.computeServers());
  }

  /**
   * Makes an empty index in a pool that has none, with some of its compute servers in this process;
   * other processes {@link #join} with the rest.
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @throws IllegalStateException where the pool holds an index already
   */
  public static DexIndex create(Fabric fabric, DexOptions options, int first, int count) {
    Arguments.checkServers(options, first, count);
    Partitioning partitioning = Partitioning.equalWidth(options.computeServers());
    DexIndex index = new DexIndex(fabric, options, partitioning);
    try (Topology topology = index.topology()) {
      topology.lock();
      topology.catalogue().claim(options.nodeBytes());
      try {
        index.start(topology, first, count, partitioning);
      } catch (RuntimeException e) {
        index.locals().forEach(ComputeServer::trim);
        index.members.closeAll();
        topology.catalogue().unclaim(options.nodeBytes());
        throw e;
      }
    }
    return index;
  }

  private void start(Topology topology, int first, int count, Partitioning partitioning) {
    ComputeServer builder = addLocal(first);
    long root = topology.buildEmpty(builder, partitioning);
    topology.catalogue().begin(root, partitioning);
    startLocal(topology, first, count);
  }

  /**
   * Joins an index that another process made in the same pool. A compute server may live in one
   * process at a time; that is up to the caller.
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @throws IllegalStateException where the pool holds no index, or one of another node size
   * @throws IllegalArgumentException where one of the compute servers has no keys
   */
  public static DexIndex join(Fabric fabric, DexOptions options, int first, int count) {
    Arguments.checkServers(options, first, count);
    DexIndex index =
        new DexIndex(fabric, options, Partitioning.equalWidth(options.computeServers()));
    try (Topology topology = index.topology()) {
      topology.lock();
      topology.catalogue().checkClaimed(options.nodeBytes(), index.name());
      index.partitioning = topology.catalogue().readPartitioning();
      for (int number = first; number < first + count; number++) {
        index.partitioning.rangeOfServer(number);
      }
      try {
        index.startLocal(topology, first, count);
      } catch (RuntimeException e) {
        index.members.closeAll();
        throw e;
      }
    }
    return index;
  }

  @Override
  public String name() {
    return "dex";
  }

  @Override
  public Session session() {
    checkOpen();
    return new DexSession(this, layout.capacity());
  }

  /** Returns the partitions as this process knows them. */
  @Override
  public Partitioning partitioning() {
    return partitioning;
  }

  @Override
  public boolean serves(long key) {
    return servers.get(partitioning.ownerOfKey(key)) != null;
  }

  /**
   * {@inheritDoc}
   *
   * <p>To be called before other processes join. Partitions become ranges with about equal numbers
   * of leaves.
   */
  @Override
  public long bulkLoad(EntrySource entries, double fill) {
    Objects.requireNonNull(entries, "entries");
    Arguments.checkFill(fill);
    checkOpen();
    try (Topology topology = topology()) {
      topology.lock();
      Quiesced quiesced = new Quiesced(locals(), topology);
      try {
        return load(topology, quiesced.servers().getFirst(), entries, fill);
      } finally {
        quiesced.resume(partitioning);
      }
    }
  }

  private long load(Topology topology, ComputeServer builder, EntrySource entries, double fill) {
    long before = topology.catalogue().root();
    List<Long> emptied = topology.nodesOfEmptyTree(before);
    BulkLoad.Built built = topology.build(builder, entries, fill, partitioning);
    topology.catalogue().swap(before, built.root(), built.partitioning());
    partitioning = built.partitioning();
    for (long address : emptied) {
      builder.allocator.free(topology.worker(), topology.message(), address);
    }
    return built.entries();
  }

  /**
   * Moves the boundary between a compute server's range and the one below it. The one that loses
   * keys must live in this process.
   *
   * @param server the compute server whose range starts at the boundary
   * @param low the key to move the boundary to; rounded down to a fence between leaves
   * @return the least key of the server from now on, the same as before where no fence lies between
   * @throws IllegalArgumentException where {@code low} lies outside both ranges
   */
  public long moveBoundary(int server, long low) {
    checkOpen();
    try (Topology topology = topology()) {
      topology.lock();
      Repartitioning change = begin(topology);
      int range = change.rangeOfServer(server);
      List<ComputeServer> concerned = concerned(change.giver(range, low));
      addIfLocal(concerned, change.before().ownerOfRange(range - 1));
      addIfLocal(concerned, server);
      return change(topology, concerned, () -> change.moved(range, low)).lowOfRange(range);
    }
  }

  /**
   * Gives the upper part of a compute server's range to a new compute server in this process. The
   * one that is split must live here, too.
   *
   * @param server the compute server to split
   * @param key where the new range starts; rounded down to a fence between leaves
   * @return the new compute server's number, or -1 where no fence lies between
   */
  public int split(int server, long key) {
    return add(
        server,
        (change, range, number) -> {
          change.checkSplit(range, key);
          return () -> change.split(range, key, number);
        });
  }

  /**
   * Adds a compute server to this process, which takes over about half of another's range.
   *
   * @param from the compute server to take from, which must live here, too
   * @return the new compute server's number, or -1 where the range is a single leaf
   */
  public int addComputeServer(int from) {
    return add(from, (change, range, number) -> () -> change.halved(range, number));
  }

  /** Chooses how to divide a range between its compute server and a new one. */
  private interface Division {
    Supplier<Partitioning> of(Repartitioning change, int range, int number);
  }

  private int add(int from, Division division) {
    checkOpen();
    try (Topology topology = topology()) {
      topology.lock();
      Repartitioning change = begin(topology);
      Supplier<Partitioning> divided;
      List<ComputeServer> concerned = concerned(from);
      int number = change.freeNumber();
      divided = division.of(change, change.rangeOfServer(from), number);
      ComputeServer added = addLocal(number);
      concerned.add(added);
      boolean used = false;
      try {
        used = change(topology, concerned, divided).hasServer(number);
      } finally {
        if (!used) {
          dropLocal(added);
        }
      }
      return used ? number : -1;
    }
  }

  /**
   * Removes a compute server of this process. Its range goes to the one below, or, if it is the
   * lowest, to the one above.
   *
   * @throws IllegalArgumentException where it is the only one
   */
  public void removeComputeServer(int server) {
    checkOpen();
    try (Topology topology = topology()) {
      topology.lock();
      Repartitioning change = begin(topology);
      Partitioning after = change.withoutServer(server);
      List<ComputeServer> concerned = concerned(server);
      ComputeServer leaving = concerned.getFirst();
      addIfLocal(concerned, after.ownerOfRange(Math.max(0, change.rangeOfServer(server) - 1)));
      change(topology, concerned, () -> after);
      leaving.trim();
      dropLocal(leaving);
    }
  }

  /** Starts a change of the partitions, after what other processes have changed was followed. */
  private Repartitioning begin(Topology topology) {
    Repartitioning change = new Repartitioning(topology);
    if (change.before().epoch() != partitioning.epoch()) {
      adopt(topology, change.before());
    }
    return change;
  }

  private List<ComputeServer> concerned(int server) {
    List<ComputeServer> concerned = new ArrayList<>();
    concerned.add(local(server));
    return concerned;
  }

  private void addIfLocal(List<ComputeServer> concerned, int number) {
    ComputeServer server = servers.get(number);
    if (server != null && !concerned.contains(server)) {
      concerned.add(server);
    }
  }

  /**
   * Puts new partitions into force: everybody concerned lets go of its cache before anybody starts.
   */
  private Partitioning change(
      Topology topology, List<ComputeServer> concerned, Supplier<Partitioning> choice) {
    Quiesced quiesced = new Quiesced(concerned, topology);
    Partitioning before = partitioning;
    try {
      Partitioning after = choice.get();
      if (after.epoch() != before.epoch()) {
        topology.catalogue().writePartitioning(after);
        partitioning = after;
      }
      return after;
    } finally {
      quiesced.resume(partitioning);
    }
  }

  /** Waits until a key has an owner in this process, or finds out that it has none. */
  void awaitOwner(Partitioning seen, long key, int owner, boolean isLocal, int attempt) {
    checkOpen();
    if (partitioning != seen) {
      return;
    }
    try (Topology topology = topology()) {
      topology.lock();
      if (partitioning != seen) {
        return;
      }
      Partitioning current = topology.catalogue().readPartitioning();
      if (current.epoch() != seen.epoch()) {
        adopt(topology, current);
      } else if (servers.get(owner) == null) {
        throw new NotServedHereException(key, owner);
      } else if (isLocal) {
        topology.worker().backoff().pause(Math.min(attempt, PAUSE_ATTEMPT));
      }
    }
  }

  /** Follows a change that another process made. */
  private void adopt(Topology topology, Partitioning current) {
    List<ComputeServer> concerned = new ArrayList<>();
    for (ComputeServer server : locals()) {
      if (!server.hasRange(current)) {
        concerned.add(server);
      }
    }
    Quiesced quiesced = new Quiesced(concerned, topology);
    partitioning = current;
    quiesced.resume(current);
  }

  private Topology topology() {
    return new Topology(fabric, options, layout, members);
  }

  // Compute servers and workers of this process.

  private void startLocal(Topology topology, int first, int count) {
    long root = topology.catalogue().root();
    for (int number = first; number < first + count; number++) {
      ComputeServer server = servers.get(number);
      (server == null ? addLocal(number) : server).resume(partitioning, root);
    }
  }

  private ComputeServer addLocal(int number) {
    ComputeServer server = new ComputeServer(number, fabric, options, layout);
    members.add(server);
    servers.set(number, server);
    return server;
  }

  private void dropLocal(ComputeServer server) {
    servers.set(server.number, null);
    members.retire(server);
  }

  private ComputeServer local(int number) {
    ComputeServer server =
        number < 0 || number >= DexOptions.COMPUTE_SERVERS_MAX ? null : servers.get(number);
    if (server == null) {
      throw new IllegalArgumentException("compute server does not live here: server=" + number);
    }
    return server;
  }

  private List<ComputeServer> locals() {
    List<ComputeServer> locals = new ArrayList<>();
    for (int number = 0; number < DexOptions.COMPUTE_SERVERS_MAX; number++) {
      ComputeServer server = servers.get(number);
      if (server != null) {
        locals.add(server);
      }
    }
    return locals;
  }

  /** Opens a worker of a compute server, or returns {@code null} where it does not live here. */
  @Nullable PartitionWorker worker(int number) {
    checkOpen();
    ComputeServer server = servers.get(number);
    return server == null ? null : members.worker(server);
  }

  /** Ends a worker. */
  void retire(PartitionWorker worker) {
    members.retire(worker);
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the index is closed");
    }
  }

  @Override
  public VerbCounters verbs() {
    return members.totals().verbs;
  }

  @Override
  public CacheCounters cache() {
    return members.totals().cacheCounters();
  }

  @Override
  public long poolBytes() {
    return members.totals().nodes * layout.nodeBytes();
  }

  @Override
  public long cachedBytes() {
    return members.cachedBytes();
  }

  /**
   * {@inheritDoc}
   *
   * @throws pando.fabric.PandoException where something could not be written back; all else is, and
   *     the index is closed
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    RuntimeException failure = null;
    try (Topology topology = topology()) {
      topology.lock();
      closed = true;
      for (ComputeServer server : locals()) {
        try {
          server.quiesce(topology.worker());
          server.trim();
        } catch (RuntimeException e) {
          failure = e;
        }
      }
    } finally {
      closed = true;
      members.closeAll();
    }
    if (failure != null) {
      throw failure;
    }
  }
}
