package pando.index;

import pando.fabric.VerbCounters;

/**
 * An ordered map from 64-bit keys to 64-bit values in a memory pool. Every key and every value is
 * legal; keys order as signed {@code long}s.
 *
 * <p>Thread-safe; each thread works through a {@link Session} of its own.
 */
public interface RangeIndex extends AutoCloseable {
  /** Returns the system's name, such as {@code dex}. */
  String name();

  /**
   * Opens a session for one thread.
   *
   * @throws IllegalStateException after {@link #close()}
   */
  Session session();

  /**
   * Fills the empty index with entries in ascending order of their keys. Operations of sessions in
   * this process wait until the load has ended.
   *
   * @param entries the source, read once
   * @param fill share of each node to fill, above 0 and at most 1
   * @return the number of entries loaded
   * @throws IllegalArgumentException if a key is not above the one before it, or {@code fill} is
   *     out of range; the index is empty and usable afterwards
   * @throws IllegalStateException if the index is not empty
   */
  long bulkLoad(EntrySource entries, double fill);

  /** Returns the verbs issued by all sessions, open or closed, and by the index itself. */
  VerbCounters verbs();

  /** Returns the cache counters of all compute servers in this process, summed. */
  CacheCounters cache();

  /**
   * Returns how the keys are divided among compute servers; each leaf belongs to one. If {@link
   * IndexOptions#isPartitioned()}, the owner of a key serves it; otherwise the division is only
   * informative: parts that were about equal at the time of the load.
   */
  Partitioning partitioning();

  /** Returns whether sessions of this process serve a key. */
  boolean serves(long key);

  /**
   * Returns the bytes of the pool that nodes occupy, not counting freed nodes that wait for reuse.
   */
  long poolBytes();

  /**
   * Returns the bytes that the caches of nodes, models and tables of all compute servers in this
   * process hold now. Counts occupied frames and whole tables; not empty frames, lookup structures,
   * local locks or sessions.
   */
  long cachedBytes();

  /**
   * Waits for operations that have begun, writes dirty nodes back, ends background tasks, and frees
   * the local memory of this process. All entries stay in the pool, and no lock stays behind there.
   * From then on, sessions that are still open throw {@link IllegalStateException}. A second call
   * does nothing; if two threads close concurrently, both return once the index is closed.
   *
   * @throws pando.fabric.PandoException if an operation does not end, or a memory server cannot be
   *     reached; the index can then be closed again
   */
  @Override
  void close();
}
