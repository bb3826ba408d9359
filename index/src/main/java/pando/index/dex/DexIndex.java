package pando.index.dex;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.CacheCounters;
import pando.index.EntrySource;
import pando.index.NotServedHereException;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.node.NodeLayout;

/**
 * A DEX index: any number of compute servers in this process, joined by a fabric to memory servers
 * that may serve other processes as well.
 *
 * <p>Partitions can be changed while operations run: {@link #moveBoundary}, {@link #split}, {@link
 * #addComputeServer}, {@link #removeComputeServer}. The compute servers concerned write back their
 * caches and start with empty ones, during which their operations wait; others do not notice.
 */
public final class DexIndex implements RangeIndex {
  private static final int PAUSE_ATTEMPT = 64;

  private final Fabric fabric;
  private final DexOptions options;
  private final NodeLayout layout;
  private final AtomicReferenceArray<@Nullable ComputeServer> servers =
      new AtomicReferenceArray<>(DexOptions.COMPUTE_SERVERS_MAX);
  private final List<ComputeServer> everyServer = new ArrayList<>();
  private final List<PartitionWorker> openWorkers = new ArrayList<>();
  private final Totals retired = new Totals();
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
   */
  public static DexIndex create(Fabric fabric, DexOptions options, int first, int count) {
    checkServers(options, first, count);
    Partitioning partitioning = Partitioning.equalWidth(options.computeServers());
    DexIndex index = new DexIndex(fabric, options, partitioning);
    try (Topology topology = index.topology()) {
      if (!topology.catalogue().claim(options.nodeBytes())) {
        throw new IllegalStateException(
            "the pool holds an index already: join it, or use another pool");
      }
      topology.lock();
      ComputeServer builder = index.addLocal(first);
      long root = topology.buildEmpty(builder, partitioning);
      topology
          .catalogue()
          .replaceRoot(
              topology.catalogue().root(), Catalogue.rootAddress(root), Catalogue.rootLevel(root));
      topology.catalogue().writePartitioning(partitioning);
      index.startLocal(first, count, root, partitioning);
      index.retired.verbs.add(topology.verbs());
    }
    return index;
  }

  /**
   * Joins an index that another process made in the same pool.
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @throws IllegalStateException where the pool holds no index, or one of another node size
   */
  public static DexIndex join(Fabric fabric, DexOptions options, int first, int count) {
    checkServers(options, first, count);
    DexIndex index =
        new DexIndex(fabric, options, Partitioning.equalWidth(options.computeServers()));
    try (Topology topology = index.topology()) {
      int nodeBytes = topology.catalogue().nodeBytes();
      if (nodeBytes != options.nodeBytes()) {
        throw new IllegalStateException(
            "the pool holds no index of this node size: nodeBytes="
                + options.nodeBytes()
                + ", found="
                + nodeBytes);
      }
      topology.lock();
      Partitioning partitioning = topology.catalogue().readPartitioning();
      index.partitioning = partitioning;
      index.startLocal(first, count, topology.catalogue().root(), partitioning);
      index.retired.verbs.add(topology.verbs());
    }
    return index;
  }

  private static void checkServers(DexOptions options, int first, int count) {
    if (first < 0 || count < 1 || first + count > options.computeServers()) {
      throw new IllegalArgumentException(
          "no such compute servers: first="
              + first
              + ", count="
              + count
              + ", compute-servers="
              + options.computeServers());
    }
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
  public Partitioning partitioning() {
    return partitioning;
  }

  /** Returns the options that the index was opened with. */
  public DexOptions options() {
    return options;
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
    if (!(fill > 0 && fill <= 1)) {
      throw new IllegalArgumentException("fill must be above 0 and at most 1: fill=" + fill);
    }
    checkOpen();
    try (Topology topology = topology()) {
      topology.lock();
      List<ComputeServer> locals = locals();
      Quiesced quiesced = new Quiesced(locals, topology);
      try {
        return load(topology, quiesced, entries, fill);
      } finally {
        quiesced.resume();
        addTotals(topology);
      }
    }
  }

  private long load(Topology topology, Quiesced quiesced, EntrySource entries, double fill) {
    ComputeServer builder = quiesced.servers.getFirst();
    long before = topology.catalogue().root();
    List<Long> emptied = topology.nodesOfEmptyTree(before);
    Topology.Built built = topology.build(builder, entries, fill, partitioning);
    topology
        .catalogue()
        .replaceRoot(
            before, Catalogue.rootAddress(built.root()), Catalogue.rootLevel(built.root()));
    topology.catalogue().writePartitioning(built.partitioning());
    quiesced.root = built.root();
    partitioning = built.partitioning();
    for (long address : emptied) {
      builder.allocator.free(topology.worker(), topology.message(), address);
    }
    return built.entries();
  }

  // Live repartitioning (DEX section 4).

  /**
   * Moves the boundary between a compute server's range and the one below it. The one that loses
   * keys must live in this process.
   *
   * @param server the compute server whose range starts at the boundary
   * @param low the key to move the boundary to; rounded down to a fence between leaves
   * @return the least key of the server from now on
   * @throws IllegalArgumentException where {@code low} lies outside both ranges
   */
  public long moveBoundary(int server, long low) {
    checkOpen();
    try (Topology topology = topology()) {
      topology.lock();
      Partitioning before = topology.catalogue().readPartitioning();
      int range = before.range(server);
      if (range == 0 || low <= before.lowOfRange(range - 1) || low > before.highOfRange(range)) {
        throw new IllegalArgumentException(
            "boundary outside the two ranges: server="
                + server
                + ", low="
                + low
                + ", lowBelow="
                + (range == 0 ? "none" : before.lowOfRange(range - 1))
                + ", high="
                + before.highOfRange(range));
      }
      int giver = before.owner(low < before.lowOfRange(range) ? range - 1 : range);
      long fence = fence(local(giver), low);
      if (fence <= before.lowOfRange(range - 1)) {
        return before.lowOfRange(range);
      }
      change(topology, before.withLow(range, fence), giver);
      return fence;
    }
  }

  /**
   * Gives the upper part of a compute server's range to a new compute server in this process. The
   * one that is split must live here, too.
   *
   * @param server the compute server to split
   * @param key where the new range starts; rounded down to a fence between leaves
   * @return the new compute server's number, or -1 where the range is a single leaf below {@code
   *     key}
   */
  public int split(int server, long key) {
    checkOpen();
    try (Topology topology = topology()) {
      topology.lock();
      return split(topology, topology.catalogue().readPartitioning(), server, key);
    }
  }

  private int split(Topology topology, Partitioning before, int server, long key) {
    int range = before.range(server);
    if (key <= before.lowOfRange(range) || key > before.highOfRange(range)) {
      throw new IllegalArgumentException(
          "key does not split the range: server="
              + server
              + ", key="
              + key
              + ", low="
              + before.lowOfRange(range)
              + ", high="
              + before.highOfRange(range));
    }
    int number = freeNumber(before);
    long fence = fence(local(server), key);
    if (fence <= before.lowOfRange(range)) {
      return -1;
    }
    addLocal(number);
    change(topology, before.withSplit(range, fence, number), server);
    return number;
  }

  /**
   * Adds a compute server to this process, which takes over about half of another's range.
   *
   * @param from the compute server to take from, which must live here, too
   * @return the new compute server's number, or -1 where the range is a single leaf
   */
  public int addComputeServer(int from) {
    checkOpen();
    try (Topology topology = topology()) {
      topology.lock();
      Partitioning before = topology.catalogue().readPartitioning();
      long middle = inside(local(from), PartitionWorker::middleFence);
      return middle <= before.lowOfRange(before.range(from))
          ? -1
          : split(topology, before, from, middle);
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
      Partitioning before = topology.catalogue().readPartitioning();
      if (before.servers() == 1) {
        throw new IllegalArgumentException("the last compute server stays: server=" + server);
      }
      ComputeServer leaving = local(server);
      change(topology, before.without(before.range(server)), server);
      leaving.retire(topology.worker(), topology.message());
      servers.set(server, null);
      leaving.gate.open();
    }
  }

  /**
   * Puts new partitions into force: everybody concerned lets go of its cache before anybody starts.
   */
  private void change(Topology topology, Partitioning after, int giver) {
    List<ComputeServer> concerned = new ArrayList<>();
    for (ComputeServer server : locals()) {
      if (!server.hasRange(after)) {
        concerned.add(server);
      }
    }
    if (!concerned.contains(local(giver))) {
      throw new IllegalStateException("compute server loses no keys: server=" + giver);
    }
    Quiesced quiesced = new Quiesced(concerned, topology);
    try {
      topology.catalogue().writePartitioning(after);
      partitioning = after;
    } finally {
      quiesced.resume();
      addTotals(topology);
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
    quiesced.resume();
    addTotals(topology);
  }

  /** Compute servers that are empty and let nobody in. */
  private final class Quiesced {
    final List<ComputeServer> servers;
    long root;

    Quiesced(List<ComputeServer> servers, Topology topology) {
      this.servers = servers;
      this.root = topology.catalogue().root();
      int done = 0;
      try {
        for (ComputeServer server : servers) {
          server.quiesce(topology.worker().backoff());
          done++;
        }
      } finally {
        if (done < servers.size()) {
          servers.subList(0, done).forEach(server -> server.resume(root));
        }
      }
    }

    void resume() {
      for (ComputeServer server : servers) {
        server.resume(partitioning, root);
      }
    }
  }

  private long fence(ComputeServer server, long key) {
    return inside(server, worker -> worker.fence(key));
  }

  private long inside(ComputeServer server, ToLongFunction<PartitionWorker> task) {
    PartitionWorker worker = register(new PartitionWorker(server));
    try {
      worker.enter();
      try {
        return task.applyAsLong(worker);
      } finally {
        worker.exit();
      }
    } finally {
      retire(worker);
    }
  }

  private static int freeNumber(Partitioning partitioning) {
    for (int number = 0; number < DexOptions.COMPUTE_SERVERS_MAX; number++) {
      if (!partitioning.has(number)) {
        return number;
      }
    }
    throw new IllegalStateException(
        "too many compute servers: servers="
            + partitioning.servers()
            + ", max="
            + DexOptions.COMPUTE_SERVERS_MAX);
  }

  // Compute servers and workers of this process.

  private Topology topology() {
    return new Topology(fabric, options, layout);
  }

  private void startLocal(int first, int count, long root, Partitioning current) {
    for (int number = first; number < first + count; number++) {
      ComputeServer server = servers.get(number);
      if (server == null) {
        server = addLocal(number);
      }
      server.resume(current, root);
    }
  }

  private ComputeServer addLocal(int number) {
    ComputeServer server = new ComputeServer(number, fabric, options, layout);
    servers.set(number, server);
    synchronized (everyServer) {
      everyServer.add(server);
    }
    return server;
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
    return server == null ? null : register(new PartitionWorker(server));
  }

  private PartitionWorker register(PartitionWorker worker) {
    synchronized (everyServer) {
      openWorkers.add(worker);
    }
    return worker;
  }

  /** Ends a worker; a retired compute server goes with its last one. */
  void retire(PartitionWorker worker) {
    synchronized (everyServer) {
      if (!openWorkers.remove(worker)) {
        return;
      }
      retired.add(worker);
      ComputeServer server = worker.server();
      worker.close();
      boolean last = openWorkers.stream().noneMatch(open -> open.server() == server);
      if (server.isRetired() && last) {
        retired.add(server);
        everyServer.remove(server);
        server.close();
      }
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the index is closed");
    }
  }

  // Counts.

  private void addTotals(Topology topology) {
    synchronized (everyServer) {
      retired.verbs.add(topology.verbs());
    }
  }

  @Override
  public VerbCounters verbs() {
    return totals().verbs;
  }

  @Override
  public CacheCounters cache() {
    return totals().cacheCounters();
  }

  @Override
  public long poolBytes() {
    return totals().nodes * layout.nodeBytes();
  }

  private Totals totals() {
    Totals totals = new Totals();
    synchronized (everyServer) {
      totals.add(retired);
      openWorkers.forEach(totals::add);
      everyServer.forEach(totals::add);
    }
    return totals;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    try (Topology topology = topology()) {
      topology.lock();
      closed = true;
      for (ComputeServer server : locals()) {
        server.quiesce(topology.worker().backoff());
        server.allocator.trim(topology.worker(), topology.message());
      }
    }
    synchronized (everyServer) {
      openWorkers.forEach(retired::add);
      openWorkers.clear();
      everyServer.forEach(retired::add);
      everyServer.forEach(ComputeServer::close);
      everyServer.clear();
    }
  }
}
