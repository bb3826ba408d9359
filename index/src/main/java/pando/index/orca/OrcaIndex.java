package pando.index.orca;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.pool.NodeAllocator;
import pando.index.Meters;
import pando.index.Partitioning;
import pando.index.Session;
import pando.index.TaskCounts;
import pando.index.host.HostedIndex;
import pando.index.host.LockingSession;
import pando.index.host.Overlay;
import pando.index.host.Parting;
import pando.index.host.Replaced;
import pando.index.load.Loader;
import pando.index.orca.space.ExtentAllocator;
import pando.index.pool.PoolChange;
import pando.index.session.Failures;

/**
 * ORCA: each key is served by one compute server, which caches single records and keeps the
 * directory of its leaves in memory. One or more compute servers are in this process. A fabric
 * connects them to memory servers, which may serve other processes, too.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class OrcaIndex extends HostedIndex<OrcaServer, OrcaWorker> {
  private final Fabric fabric;
  private final OrcaOptions options;
  private final int regionBytes;

  OrcaIndex(Fabric fabric, OrcaOptions options, int first, int count) {
    super(fabric, options, first, count, OrcaIndex::open);
    this.fabric = fabric;
    this.options = options;
    this.regionBytes = regionBytes(fabric);
  }

  /** Prepares an index with one compute server here, as {@link OrcaOptions#createAt} says. */
  OrcaIndex(Fabric fabric, OrcaOptions options, int number, Overlay overlay) {
    super(fabric, options, number, overlay, OrcaIndex::open);
    this.fabric = fabric;
    this.options = options;
    this.regionBytes = regionBytes(fabric);
  }

  private static OrcaWorker open(OrcaServer server, int session) {
    return new OrcaWorker(server, new OrcaContext(server.store), session);
  }

  /** Returns the size of the regions in which extents lie, by asking a memory server. */
  private static int regionBytes(Fabric fabric) {
    try (RegisteredMemory registered = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(registered)) {
      return ExtentAllocator.regionBytes(NodeAllocator.chunkBytes(worker, 0));
    }
  }

  /**
   * Makes an empty index in a pool that has none, with every compute server in this process.
   *
   * @throws pando.fabric.PoolFullException if the pool has less room than an index needs
   * @throws IllegalStateException if the pool holds an index already
   */
  public static OrcaIndex create(Fabric fabric, OrcaOptions options) {
    return options.create(fabric, 0, options.computeServers());
  }

  /** As {@link OrcaOptions#createAt}, with something over it. */
  public static OrcaIndex createAt(
      Fabric fabric, OrcaOptions options, int number, Overlay overlay) {
    return made(new OrcaIndex(fabric, options, number, overlay));
  }

  /** As {@link OrcaOptions#joinAt}, with something over it. */
  public static OrcaIndex joinAt(Fabric fabric, OrcaOptions options, int number, Overlay overlay) {
    return joined(new OrcaIndex(fabric, options, number, overlay));
  }

  /** As {@link #flush}, but does not wait for a change of ranges in this process. */
  public void writeBack() {
    Failures failures = new Failures();
    servers().forEach(server -> failures.collect(server::writeBack));
    failures.rethrow();
  }

  @Override
  protected List<OrcaServer> servers() {
    return super.servers();
  }

  /**
   * Returns in what the directories, leaves, deltas and cached records of this process's compute
   * servers do not agree, and what is left latched, pinned or claimed; nothing if all is well. For
   * tests: no session may be in an operation, and the index must be open.
   */
  public List<String> audit() {
    List<String> problems = new ArrayList<>();
    for (OrcaServer server : servers()) {
      server.withContext(context -> problems.addAll(audit(server, context)));
    }
    return problems;
  }

  /** Memory must not move meanwhile, as records and deltas move with it. */
  private static List<String> audit(OrcaServer server, OrcaContext context) {
    server.pause(context.worker.backoff());
    try {
      return new OrcaAudit(context).problems();
    } finally {
      server.resume();
    }
  }

  /**
   * Returns which caches have the memory of this process's compute servers now, and how much of it
   * is set aside for their directories.
   */
  public CacheShares shares() {
    return servers().stream()
        .map(server -> server.shares.now())
        .reduce(CacheShares.NONE, CacheShares::plus);
  }

  /** Returns how merging in the background has gone at the compute servers of this process. */
  public TaskCounts merges() {
    return servers().stream()
        .map(server -> server.mergers.counts())
        .reduce(TaskCounts.NONE, TaskCounts::plus);
  }

  @Override
  public void meters(Meters to) {
    super.meters(to);
    to.slowGauge("pando.keys", "About how many keys this process serves.", this::servedSize);
    share(to, "records", CacheShares::recordBytes);
    share(to, "deltas", CacheShares::deltaBytes);
    share(to, "images", CacheShares::imageBytes);
    share(to, "directory", CacheShares::directoryBytes);
    to.tasks("merge", this::merges);
    to.tasks("move", () -> shares().moves());
  }

  /** Issues no verb, as directories know it. */
  private long servedSize() {
    try (Session session = session()) {
      return session.servedSizeEstimate();
    }
  }

  private void share(Meters to, String of, ToLongFunction<CacheShares> bytes) {
    to.gauge(
        "pando.cache.share.bytes",
        "Local memory that a cache, or the directory, has.",
        () -> bytes.applyAsLong(shares()),
        "of",
        of);
  }

  @Override
  protected Session session(int home) {
    return new LockingSession<>(this, home);
  }

  @Override
  protected int system() {
    return OrcaServer.SYSTEM;
  }

  @Override
  protected String kind() {
    return name();
  }

  @Override
  protected int[] nodeSizes() {
    return new int[] {regionBytes};
  }

  @Override
  protected int rootBytes() {
    return RootTable.BYTES;
  }

  @Override
  protected OrcaServer server(int number, RandomGenerator random) {
    return new OrcaServer(number, fabric, options, regionBytes, random);
  }

  @Override
  protected Loader loader(OrcaServer server, double fill) {
    return new OrcaLoader(server, servers(), fabric, regionBytes, fill);
  }

  @Override
  protected Replaced replaced(PoolChange change, OrcaServer server) {
    return new OrcaReplaced(change, partitioning(), servers(), fabric.memoryServers(), regionBytes);
  }

  // Ranges that move.

  private Consumer<Runnable> quietly(PoolChange change) {
    return step -> quietly(change, step);
  }

  @Override
  protected Parting part(PoolChange change, OrcaServer giver, long key, boolean upper) {
    return Giving.part(quietly(change), giver, partitioning(), () -> giver.cut(key), upper);
  }

  @Override
  protected Parting partHalf(PoolChange change, OrcaServer giver) {
    return Giving.part(quietly(change), giver, partitioning(), giver::middleFence, true);
  }

  @Override
  protected Parting partWhole(PoolChange change, OrcaServer giver) {
    return Giving.all(quietly(change), giver, partitioning());
  }

  @Override
  protected Parting partLost(PoolChange change, OrcaServer heir, int lost) {
    return new Inheriting(heir, lost, partitioning(), this::partitioning);
  }
}
