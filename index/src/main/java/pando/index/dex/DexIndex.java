package pando.index.dex;

import java.util.List;
import java.util.random.RandomGenerator;
import pando.fabric.Fabric;
import pando.index.Meters;
import pando.index.Partitioning;
import pando.index.Session;
import pando.index.bugs.PlantedBug;
import pando.index.dex.node.NodeLayout;
import pando.index.host.HostedIndex;
import pando.index.host.Parting;
import pando.index.host.Replaced;
import pando.index.load.Loader;
import pando.index.pool.Arguments;
import pando.index.pool.PoolChange;

/**
 * A DEX index: compute servers in this process, connected by a fabric to memory servers that other
 * processes may use as well. Where its keys have more than 8 bytes ({@code key-bytes}), a {@link
 * Session} has those of numbers, and a {@link WideSession} all. The partitions divide keys by their
 * first 8 bytes: ranges begin where these change. Where a method here takes or returns a key, it is
 * these bytes, as a big-endian number whose sign bit is turned over.
 *
 * <p>Compute servers that a change of partitions concerns write back their caches and restart with
 * empty ones.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class DexIndex extends HostedIndex<DexServer, PartitionWorker> {
  /** The system's number in the pool's catalogue. */
  static final int SYSTEM = 0xDE7A_0001;

  private final DexOptions options;
  private final NodeLayout layout;

  DexIndex(Fabric fabric, DexOptions options, int first, int count) {
    checkHandlers(fabric, options);
    super(fabric, options, first, count, PartitionWorker::open);
    this.options = options;
    this.layout = options.layout();
  }

  /** Prepares an index with one compute server here, as {@link DexOptions#createAt} says. */
  DexIndex(Fabric fabric, DexOptions options, int number) {
    checkHandlers(fabric, options);
    super(fabric, options, number, PartitionWorker::open);
    this.options = options;
    this.layout = options.layout();
  }

  private static void checkHandlers(Fabric fabric, DexOptions options) {
    if (options.offloading()) {
      Arguments.checkHandlers(fabric, options.system(), DexOffload.FUNCTION);
    }
  }

  /**
   * Makes an empty index in a pool that has none, with every compute server in this process.
   *
   * @throws IllegalStateException if the pool holds an index already
   * @throws IllegalArgumentException if a memory server lacks the handler that offloading needs
   */
  public static DexIndex create(Fabric fabric, DexOptions options) {
    return options.create(fabric, 0, options.computeServers());
  }

  @Override
  protected List<DexServer> servers() {
    return super.servers();
  }

  @Override
  protected Session session(int home) {
    return new DexSession(this, layout, false, lease());
  }

  /**
   * Opens a session for one thread by the bytes of keys, which have {@code key-bytes} each. Else as
   * {@link #session()}.
   */
  public WideSession wideSession() {
    checkOpen();
    DexSession session = new DexSession(this, layout, true, lease());
    return new WideSession(session, layout.keyBytes());
  }

  @Override
  public void meters(Meters to) {
    super.meters(to);
    to.count("pando.cache.coolings", "Picked for eviction.", () -> cache().coolings());
    to.count(
        "pando.cache.second.chances",
        "Nodes picked for eviction that were used again before.",
        () -> cache().secondChances());
    to.count("pando.cache.writebacks", "Dirty nodes written.", () -> cache().writeBacks());
    String meaning = "Operations that a memory server's processor finished, or returned.";
    to.count("pando.offloads", meaning, () -> cache().offloads(), "outcome", "done");
    to.count("pando.offloads", meaning, () -> cache().offloadFallbacks(), "outcome", "returned");
  }

  @Override
  protected int system() {
    return options.systemNumber();
  }

  @Override
  protected String kind() {
    return options.kind();
  }

  @Override
  protected long changeBytes() {
    return Topology.bytes(layout);
  }

  @Override
  protected DexServer server(int number, RandomGenerator random) {
    return new DexServer(number, fabric(), options, layout);
  }

  @Override
  protected Loader loader(DexServer server, double fill) {
    return new DexBuilder(fabric(), layout, server.allocator, options.subtreeLevel(), fill);
  }

  @Override
  protected Replaced replaced(PoolChange change, DexServer server) {
    return new EmptyDexTree(change, topology(change), server);
  }

  private Topology topology(PoolChange change) {
    return new Topology(change, fabric(), layout);
  }

  @Override
  protected Parting part(PoolChange change, DexServer giver, long key, boolean upper) {
    return Parting.at(() -> topology(change).fence(key));
  }

  @Override
  protected Parting partHalf(PoolChange change, DexServer giver) {
    return Parting.at(() -> topology(change).middleFence(giver.low(), giver.high()));
  }

  @Override
  protected Parting partWhole(PoolChange change, DexServer giver) {
    return Parting.at(giver::low);
  }

  @Override
  protected void bury(PoolChange change, int lost) {
    if (PlantedBug.LOCKS_KEPT) {
      return;
    }
    Partitioning table = partitioning();
    new Burial(change, topology(change), layout, lost)
        .unlock(table.lowOfServer(lost), table.highOfServer(lost));
  }

  @Override
  protected Parting partLost(PoolChange change, DexServer heir, int lost) {
    return Parting.at(() -> partitioning().lowOfServer(lost));
  }
}
