package pando.index.dex;

import java.util.Objects;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.CacheCounters;
import pando.index.EntrySource;
import pando.index.Meters;
import pando.index.Partitioning;
import pando.index.PoolSpace;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.node.NodeLayout;
import pando.index.pool.Arguments;

/**
 * A DEX index: compute servers in this process, connected by a fabric to memory servers that other
 * processes may use as well. Where its keys have more than 8 bytes ({@code key-bytes}), a {@link
 * Session} has those of numbers, and a {@link WideSession} all. The partitions tell keys by their
 * first 8 bytes: ranges begin where these change. Where a method here takes or returns a key, it is
 * these bytes, as a big-endian number whose sign bit is turned over.
 *
 * <p>Partitions can be changed while operations run: {@link #moveBoundary}, {@link #split}, {@link
 * #addComputeServer}, {@link #removeComputeServer}. The compute servers concerned write back their
 * caches and restart with empty ones; their operations wait meanwhile. Other compute servers are
 * not affected.
 */
public final class DexIndex implements RangeIndex {
  /** The system's number in the pool's catalogue. */
  static final int SYSTEM = 0xDE7A_0001;

  private final Fabric fabric;
  private final NodeLayout layout;
  final Members members = new Members();
  private final Partitions partitions;

  private DexIndex(Fabric fabric, DexOptions options, int first, int count) {
    Arguments.checkServers(options, first, count);
    if (options.offloading()) {
      Arguments.checkHandlers(fabric, options.system(), DexOffload.FUNCTION);
    }
    this.fabric = fabric;
    this.layout = options.layout();
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
    DexIndex index = new DexIndex(fabric, options, first, count);
    index.partitions.make(first, count);
    return index;
  }

  /** As {@link DexOptions#join}. */
  static DexIndex join(Fabric fabric, DexOptions options, int first, int count) {
    DexIndex index = new DexIndex(fabric, options, first, count);
    index.partitions.join(first, count);
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
    return new DexSession(partitions, members, layout, false);
  }

  /**
   * Opens a session for one thread by the bytes of keys, which have {@code key-bytes} each. Else as
   * {@link #session()}.
   */
  public WideSession wideSession() {
    partitions.checkOpen();
    return new WideSession(new DexSession(partitions, members, layout, true), layout.keyBytes());
  }

  /** Returns the partitions that this process knows; those in the pool may be newer. */
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

  @Override
  public Partitioning partitioning() {
    return partitions.current();
  }

  @Override
  public boolean serves(long key) {
    return members.find(partitioning().ownerOfKey(key)) != null;
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

  /**
   * Moves the boundary between a compute server's range and the one below it. The compute server
   * that loses keys must live in this process.
   *
   * @param server the compute server whose range starts at the boundary
   * @param low the key to move the boundary to; rounded down to a fence between leaves
   * @return the least key of the server from now on; unchanged if no fence lies between
   * @throws IllegalArgumentException if {@code low} lies outside both ranges
   */
  public long moveBoundary(int server, long low) {
    return partitions.moveBoundary(server, low);
  }

  /**
   * Gives the upper part of a compute server's range to a new compute server in this process. The
   * compute server that is split must live here, too.
   *
   * @param server the compute server to split
   * @param key where the new range starts; rounded down to a fence between leaves
   * @return the new compute server's number, or -1 if no fence lies between
   */
  public int split(int server, long key) {
    return partitions.split(server, key);
  }

  /**
   * Adds a compute server to this process; it gets about half of another's range.
   *
   * @param from the compute server that loses the keys; it must live in this process
   * @return the new compute server's number, or -1 if the range is a single leaf
   */
  public int addComputeServer(int from) {
    return partitions.add(from);
  }

  /**
   * Removes a compute server of this process. Its range goes to the owner of the range below, or,
   * for the lowest range, to the owner of the range above.
   *
   * @throws IllegalArgumentException if it is the only one, or does not live in this process
   */
  public void removeComputeServer(int server) {
    partitions.remove(server);
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
