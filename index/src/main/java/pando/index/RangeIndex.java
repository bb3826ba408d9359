package pando.index;

import pando.fabric.VerbCounters;

/**
 * An ordered map from 64-bit keys to 64-bit values in a memory pool. Every key and every value is
 * legal; keys order as signed {@code long}s.
 *
 * <p>Thread-safe; each thread works through a {@link Session} of its own.
 */
public interface RangeIndex extends Partitioned {
  /**
   * Opens a session for one thread. A compute server can have a limited number of sessions open:
   * {@code sessions-max} in DEX (256 by default), 511 in Sherman, P-Sherman, FG+, DEFT, SMART and
   * P-SMART, 447 in ROLEX and XStore-D, 4,096 in EMT-D. If each key has one compute server ({@link
   * IndexOptions#isPartitioned()}), a session counts at a compute server from its first operation
   * there; that operation throws {@link IllegalStateException} if it is one too many. Otherwise the
   * compute servers of this process get sessions in turn, which count from this call on.
   *
   * @throws IllegalStateException after {@link #close()}, or if it is one too many for its compute
   *     server
   */
  Session session();

  /**
   * Fills the empty index with entries in ascending order of their keys. Operations of sessions in
   * this process wait until the load has ended.
   *
   * <p>ORCA loads the parts of a source that {@linkplain EntrySource#split splits} by several
   * threads, at most one for each processor, the caller's among them. All have ended when this
   * method returns or throws. Other systems, and an index with a data folder, read the source by
   * the caller's thread.
   *
   * @param entries the source, read once; what it throws is thrown here, and nothing is loaded then
   * @param fill share of each node to fill, above 0 and at most 1
   * @return the number of entries loaded
   * @throws IllegalArgumentException if a key is not above the one before it, or {@code fill} is
   *     out of range; the index is empty and usable afterwards
   * @throws IllegalStateException if the index is not empty
   */
  long bulkLoad(EntrySource entries, double fill);

  /** Returns the verbs issued by all sessions, open or closed, and by the index itself. */
  @Override
  VerbCounters verbs();

  /** Returns the cache counters of all compute servers in this process, summed. */
  CacheCounters cache();

  /**
   * Returns how the keys are divided among compute servers; each leaf belongs to one. If {@link
   * IndexOptions#isPartitioned()}, the owner of a key serves it; otherwise the division is only
   * informative: parts that were about equal at the time of the load.
   */
  @Override
  Partitioning partitioning();

  /** Returns whether sessions of this process serve a key. */
  boolean serves(long key);

  /**
   * Ends what a compute server that is lost was doing in the pool: completes or undoes its changes,
   * and unlocks what it had locked. The caller makes sure that nothing of it takes effect any more,
   * by a {@linkplain pando.fabric.Fabric#fence fence} of all its epochs by the fabric of this
   * index, if that has fences; and that no other process starts under its number meanwhile.
   * Sessions that wait for its locks go on afterwards. Can be done again where it fails.
   *
   * <p>A compute server that {@linkplain IndexOptions#join joins} buries earlier ones of its number
   * by itself. The heir of a range buries the compute server that had it. In DEFT all processes do
   * it together, soon after this returns.
   *
   * @throws IllegalArgumentException if the compute server lives in this process
   * @throws IllegalStateException if the index is closed, has no compute server in this process, or
   *     has a fabric with fences that has not fenced the compute server; in DEFT also if its
   *     process lives
   */
  default void bury(int computeServer) {}

  /**
   * Returns whether other processes may have, or may have had, compute servers of the index: {@code
   * false} if this process made it, with all of them. If such a process is lost, entries may go
   * back to earlier values. The answer stays {@code false} if compute servers join later in other
   * processes; make an index that is to grow by {@link IndexOptions#createAt}.
   */
  boolean isShared();

  /**
   * Returns the bytes of the pool that nodes occupy, not counting freed nodes that wait for reuse.
   * A node that the background frees at this moment may be counted.
   */
  long poolBytes();

  /**
   * Returns where every byte of the pool is. READs the whole index; operations of sessions in this
   * process wait meanwhile, as they do during a {@link #bulkLoad}. The answer is exact while no
   * other process changes the pool. Memory that other processes keep for later counts as theirs. In
   * DEX the index may look damaged if they have changed nodes and not written them back yet.
   *
   * @throws IllegalStateException if the index is closed
   * @throws pando.fabric.PandoException if a memory server is lost or does not answer
   */
  PoolSpace space();

  /**
   * Returns the bytes that the caches of nodes, models and tables of all compute servers in this
   * process hold now. Counts occupied frames and whole tables; not empty frames, lookup structures,
   * local locks or sessions.
   */
  long cachedBytes();

  /** Names meters of the caches, of the pool and of the partitions. A system adds its own. */
  @Override
  default void meters(Meters to) {
    to.count(
        "pando.cache.hits",
        "Looks for a leaf that the cache served.",
        () -> cache().leafHits(),
        "level",
        "leaf");
    to.count(
        "pando.cache.misses",
        "Looks for a leaf that it did not serve, and inner nodes fetched.",
        () -> cache().leafMisses(),
        "level",
        "leaf");
    to.count(
        "pando.cache.misses",
        "Looks for a leaf that it did not serve, and inner nodes fetched.",
        () -> cache().innerMisses(),
        "level",
        "inner");
    to.count("pando.cache.admissions", "Taken into a cache.", () -> cache().admissions());
    to.count("pando.cache.evictions", "Dropped to make room.", () -> cache().evictions());
    to.count("pando.restarts", "Descents begun again.", () -> cache().restarts());
    to.gauge(
        "pando.index.bytes",
        "Bytes of the pool that nodes from compute servers of this process occupy.",
        this::poolBytes);
    to.slowGauge("pando.cache.bytes", "What the caches of this process hold.", this::cachedBytes);
    Unwritten.meters(to, this::unwritten);
    to.gauge(
        "pando.partitions",
        "Ranges of keys, each with a compute server.",
        () -> partitioning().servers());
    to.gauge(
        "pando.partitions.epoch",
        "Changes of the ranges since the index was made.",
        () -> partitioning().epoch());
  }
}
