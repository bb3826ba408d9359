package pando.index.dex;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.CacheCounters;
import pando.index.EntrySource;
import pando.index.Lease;
import pando.index.Meters;
import pando.index.MovablePartitions;
import pando.index.Partitioning;
import pando.index.PoolSpace;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Unwritten;
import pando.index.node.NodeLayout;
import pando.index.pool.Arguments;

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
public final class DexIndex implements RangeIndex {
  /** The system's number in the pool's catalogue. */
  static final int SYSTEM = 0xDE7A_0001;

  private final Fabric fabric;
  private final NodeLayout layout;
  private final boolean isShared;
  final DexMembers members = new DexMembers();
  private final Partitions partitions;

  private DexIndex(Fabric fabric, DexOptions options, boolean isShared) {
    if (options.offloading()) {
      Arguments.checkHandlers(fabric, options.system(), DexOffload.FUNCTION);
    }
    this.fabric = fabric;
    this.layout = options.layout();
    this.isShared = isShared;
    this.partitions = new Partitions(fabric, options, layout, members);
  }

  /**
   * Makes an empty index in a pool that has none, with every compute server in this process.
   *
   * @throws IllegalStateException if the pool holds an index already
   * @throws IllegalArgumentException if a memory server lacks the handler that offloading needs
   */
  public static DexIndex create(Fabric fabric, DexOptions options) {
    return create(fabric, options, 0, options.computeServers());
  }

  /** As {@link DexOptions#create}. */
  static DexIndex create(Fabric fabric, DexOptions options, int first, int count) {
    Arguments.checkServers(options, first, count);
    DexIndex index = new DexIndex(fabric, options, count < options.computeServers());
    Partitioning equal = Partitioning.equalWidth(options.computeServers());
    index.partitions.make(equal, equal, first, count);
    return index;
  }

  /** As {@link DexOptions#createAt}. */
  static DexIndex createAt(Fabric fabric, DexOptions options, int number) {
    Arguments.checkServer(options, number);
    DexIndex index = new DexIndex(fabric, options, true);
    Partitioning leaves = Partitioning.equalWidth(options.computeServers());
    index.partitions.make(Partitioning.undivided(number), leaves, number, 1);
    return index;
  }

  /** As {@link DexOptions#join}. */
  static DexIndex join(Fabric fabric, DexOptions options, int first, int count) {
    Arguments.checkServers(options, first, count);
    DexIndex index = new DexIndex(fabric, options, true);
    index.partitions.join(first, count);
    return index;
  }

  /** As {@link DexOptions#joinAt}. */
  static DexIndex joinAt(Fabric fabric, DexOptions options, int number) {
    Arguments.checkServer(options, number);
    DexIndex index = new DexIndex(fabric, options, true);
    index.partitions.joinAt(number);
    return index;
  }

  @Override
  public String name() {
    return "dex";
  }

  @Override
  public Fabric fabric() {
    return fabric;
  }

  @Override
  public Session session() {
    partitions.checkOpen();
    return new DexSession(partitions, members, layout, false, lease());
  }

  /**
   * Opens a session for one thread by the bytes of keys, which have {@code key-bytes} each. Else as
   * {@link #session()}.
   */
  public WideSession wideSession() {
    return wideSession(lease());
  }

  /** As {@link #wideSession()}; it answers while a lease is held, without one always. */
  WideSession wideSession(@Nullable Lease lease) {
    partitions.checkOpen();
    DexSession session = new DexSession(partitions, members, layout, true, lease);
    return new WideSession(session, layout.keyBytes());
  }

  /** Returns the lease of sessions that are opened now, {@code null} if they need none. */
  @Nullable Lease lease() {
    return partitions.lease();
  }

  /** Returns the length of its keys in bytes. */
  int keyBytes() {
    return layout.keyBytes();
  }

  @Override
  public void meters(Meters to) {
    RangeIndex.super.meters(to);
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

  /** Returns the partitions that this process knows; those in the pool may be newer. */
  @Override
  public Partitioning partitioning() {
    return partitions.current();
  }

  @Override
  public boolean serves(long key) {
    return members.find(partitioning().ownerOfKey(key)) != null;
  }

  @Override
  public boolean isShared() {
    return isShared;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Must be called before other processes join. Changes the partitions to ranges with about
   * equal numbers of leaves.
   */
  @Override
  public long bulkLoad(EntrySource entries, double fill) {
    Objects.requireNonNull(entries, "entries");
    Arguments.checkFill(fill);
    return partitions.load(entries, fill);
  }

  @Override
  public Optional<MovablePartitions> partitions() {
    return Optional.of(partitions);
  }

  @Override
  public VerbCounters verbs() {
    return members.totals().verbs();
  }

  @Override
  public CacheCounters cache() {
    return members.totals().cache();
  }

  @Override
  public long poolBytes() {
    return members.nodes() * layout.nodeBytes();
  }

  /** {@inheritDoc} Writes the caches back before. */
  @Override
  public PoolSpace space() {
    return partitions.space();
  }

  @Override
  public long cachedBytes() {
    return members.cachedBytes();
  }

  @Override
  public void flush() {
    partitions.flush();
  }

  @Override
  public Unwritten unwritten() {
    return isClosed() ? Unwritten.NONE : members.unwritten();
  }

  @Override
  public boolean isClosed() {
    return partitions.isClosed();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Waits for operations that are under way, but not for a change of partitions in another
   * process.
   *
   * @throws IllegalStateException if the fabric is closed; the index is then closed, too, and nodes
   *     that were not written back are lost
   */
  @Override
  public void close() {
    partitions.close();
  }
}
