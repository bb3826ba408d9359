package pando.index.sherman;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.index.CacheCounters;
import pando.index.EntrySource;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.load.BulkLoad;
import pando.index.load.TreeBuilder;
import pando.index.pool.Arguments;

/**
 * A B-link tree as Sherman, FG+ or P-Sherman: any number of compute servers in this process, joined
 * by a fabric to memory servers that may serve other processes as well.
 *
 * <p>Every compute server serves every key, and sessions are dealt to those of this process in
 * turn; with partitions, each key has one compute server, which must live in the process that asks.
 */
public final class ShermanIndex implements RangeIndex {
  private final Fabric fabric;
  private final ShermanOptions options;
  private final Validation validation;
  private final BLinkLayout layout;
  private final List<ShermanServer> servers = new ArrayList<>();
  private final List<ShermanWorker> workers = new ArrayList<>();
  private final Totals gone = new Totals();
  private volatile Partitioning partitioning;
  private volatile boolean closed;
  private int turn;

  private ShermanIndex(Fabric fabric, ShermanOptions options, int first, int count) {
    Arguments.checkServers(options, first, count);
    this.fabric = fabric;
    this.options = options;
    this.layout = new BLinkLayout(options.nodeBytes());
    this.validation = resolve(fabric, options);
    this.partitioning = Partitioning.equalWidth(options.computeServers());
  }

  /** Returns how torn nodes are told, after checking that the fabric has what is needed. */
  static Validation resolve(Fabric fabric, ShermanOptions options) {
    Capabilities capabilities = fabric.capabilities();
    if (!capabilities.maskedAtomics()) {
      throw new IllegalArgumentException(
          "locks need masked atomics: fabric=" + fabric.name() + ", maskedAtomics=false");
    }
    if (options.onChipLocks() && capabilities.onChipBytes() < Long.BYTES) {
      throw new IllegalArgumentException(
          "on-chip locks need an on-chip region: fabric="
              + fabric.name()
              + ", onChipBytes="
              + capabilities.onChipBytes());
    }
    return options.validation().on(fabric, options.isPartitioned());
  }

  /**
   * Makes an empty index in a pool that has none, with every compute server in this process.
   *
   * @throws IllegalStateException where the pool holds an index already
   * @throws IllegalArgumentException where the fabric lacks what the options need
   */
  public static ShermanIndex create(Fabric fabric, ShermanOptions options) {
    return create(fabric, options, 0, options.computeServers());
  }

  /**
   * Makes an empty index in a pool that has none, with some of its compute servers in this process;
   * other processes {@link #join} with the rest.
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @throws IllegalStateException where the pool holds an index already
   * @throws IllegalArgumentException where the fabric lacks what the options need
   */
  public static ShermanIndex create(Fabric fabric, ShermanOptions options, int first, int count) {
    ShermanIndex index = new ShermanIndex(fabric, options, first, count);
    try (Topology topology = index.topology()) {
      topology.lock();
      topology.catalogue().claim(options.nodeBytes());
      try {
        index.start(topology.worker(), first, count);
        Partitioning partitioning = index.partitioning;
        long root = index.build(1, builder -> BulkLoad.empty(builder, partitioning));
        topology.catalogue().begin(root, partitioning);
      } catch (RuntimeException e) {
        index.abandon(topology, e);
        topology.catalogue().unclaim(options.nodeBytes());
        throw e;
      }
    }
    return index;
  }

  /**
   * Joins an index that another process made in the same pool with the same options. A compute
   * server may live in one process at a time; that is up to the caller.
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @throws IllegalStateException where the pool holds no index, or one of other options
   * @throws IllegalArgumentException where the fabric lacks what the options need
   */
  public static ShermanIndex join(Fabric fabric, ShermanOptions options, int first, int count) {
    ShermanIndex index = new ShermanIndex(fabric, options, first, count);
    try (Topology topology = index.topology()) {
      topology.lock();
      String kind = index.name() + " with validation=" + index.validation;
      topology.catalogue().checkClaimed(options.nodeBytes(), kind);
      try {
        index.partitioning = topology.catalogue().readPartitioning();
        index.start(topology.worker(), first, count);
      } catch (RuntimeException e) {
        index.abandon(topology, e);
        throw e;
      }
    }
    return index;
  }

  /** Lets go of what was begun, after a failure; another failure joins the first. */
  private void abandon(Topology topology, RuntimeException failure) {
    try {
      end();
      letGo(topology);
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  private Topology topology() {
    return new Topology(fabric, options, validation, gone);
  }

  private void start(Worker worker, int first, int count) {
    for (int number = first; number < first + count; number++) {
      ShermanServer server =
          new ShermanServer(number, fabric, options, layout, validation, worker.random());
      server.own(partitioning);
      servers.add(server);
    }
  }

  @Override
  public String name() {
    return options.system();
  }

  /** Returns how torn nodes are told, with {@link Validation#AUTO} resolved. */
  public Validation validation() {
    return validation;
  }

  @Override
  public Partitioning partitioning() {
    return partitioning;
  }

  @Override
  public boolean serves(long key) {
    return !options.isPartitioned() || local(partitioning.ownerOfKey(key)) != null;
  }

  private @Nullable ShermanServer local(int number) {
    int place = number - servers.getFirst().number;
    return place < 0 || place >= servers.size() ? null : servers.get(place);
  }

  @Override
  public synchronized Session session() {
    checkOpen();
    return options.isPartitioned()
        ? ShermanSession.partitioned(this)
        : ShermanSession.at(this, servers.get(turn++ % servers.size()).number);
  }

  /** Opens a worker of a compute server, or returns {@code null} where it does not live here. */
  synchronized @Nullable ShermanWorker worker(int number) {
    checkOpen();
    ShermanServer server = local(number);
    if (server == null) {
      return null;
    }
    ShermanWorker worker = new ShermanWorker(server, fabric, validation);
    workers.add(worker);
    return worker;
  }

  /** Ends a worker. Does nothing for one that has ended. */
  synchronized void retire(ShermanWorker worker) {
    if (workers.remove(worker)) {
      gone.add(worker);
      worker.close();
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the index is closed");
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>To be called before other processes join, and while no session is used.
   */
  @Override
  public long bulkLoad(EntrySource entries, double fill) {
    Objects.requireNonNull(entries, "entries");
    Arguments.checkFill(fill);
    checkOpen();
    try (Topology topology = topology()) {
      topology.lock();
      ShermanServer builder = servers.getFirst();
      long before = topology.catalogue().root();
      List<Long> emptied = topology.nodesOfEmptyTree(before, builder);
      BulkLoad.Built built = build(fill, loading -> BulkLoad.run(loading, entries, partitioning));
      topology.catalogue().swap(before, built.root(), built.partitioning());
      partitioning = built.partitioning();
      for (ShermanServer server : servers) {
        server.own(partitioning);
        server.setRoot(0, topology.worker().backoff());
        server.lower.clear(topology.worker().backoff());
      }
      topology.free(emptied, builder);
      return built.entries();
    }
  }

  private <T> T build(double fill, Function<TreeBuilder, T> load) {
    ShermanServer server = servers.getFirst();
    try (TreeBuilder builder = new ShermanBuilder(server, fabric, validation, fill)) {
      try {
        return load.apply(builder);
      } finally {
        gone.add(builder.verbs());
      }
    }
  }

  @Override
  public VerbCounters verbs() {
    return totals().verbs();
  }

  @Override
  public CacheCounters cache() {
    return totals().cacheCounters();
  }

  private synchronized Totals totals() {
    Totals totals = new Totals();
    totals.add(gone);
    workers.forEach(totals::add);
    for (ShermanServer server : servers) {
      totals.add(server.lower);
      totals.add(server.upper);
      totals.add(server.top);
    }
    return totals;
  }

  @Override
  public long poolBytes() {
    return servers.stream().mapToLong(server -> server.allocator.nodesInUse()).sum()
        * layout.nodeBytes();
  }

  @Override
  public void close() {
    if (!end()) {
      return;
    }
    try (Topology topology = topology()) {
      topology.lock();
      letGo(topology);
    } finally {
      servers.forEach(ShermanServer::close);
    }
  }

  /** Ends all workers, and turns new ones away; {@code false} where that was done before. */
  private synchronized boolean end() {
    if (closed) {
      return false;
    }
    closed = true;
    List.copyOf(workers).forEach(this::retire);
    return true;
  }

  /** Gives back what compute servers have allocated and do not use, and ends them. */
  private void letGo(Topology topology) {
    RuntimeException failure = null;
    for (ShermanServer server : servers) {
      try {
        topology.trim(server);
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
      server.close();
    }
    if (failure != null) {
      throw failure;
    }
  }
}
