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
   * this process wait until it has ended.
   *
   * @param entries the source, read once
   * @param fill share of each node to fill, above 0 and at most 1
   * @return the number of entries loaded
   * @throws IllegalArgumentException where a key is not above the one before it, or {@code fill} is
   *     out of range; the index is empty and usable afterwards
   * @throws IllegalStateException where the index is not empty
   */
  long bulkLoad(EntrySource entries, double fill);

  /** Returns the verbs issued by all sessions, open or closed, and by the index itself. */
  VerbCounters verbs();

  /** Returns how the caches of all compute servers in this process have done. */
  CacheCounters cache();

  /**
   * Returns how the keys are divided among compute servers, each leaf to one. With {@link
   * IndexOptions#isPartitioned()} it tells who serves a key; else it is a division into about equal
   * parts at the time of the load.
   */
  Partitioning partitioning();

  /** Tells whether sessions of this process serve a key. */
  boolean serves(long key);

  /** Returns the bytes of the pool that hold nodes, freed ones that wait for reuse not counted. */
  long poolBytes();

  /**
   * Returns the bytes that the compute servers of this process hold at this moment, all together,
   * in caches of nodes, models and tables. Room for nodes that none is in is not counted, a table
   * is as it was made; what finds a node in a cache, local locks and sessions are not counted
   * either.
   */
  long cachedBytes();

  /**
   * Waits for operations that have begun, writes back what caches hold, ends background tasks, and
   * frees the local memory of this process. What is stored stays in the pool, and nothing stays
   * locked there. Sessions still open throw {@link IllegalStateException} from then on. Does
   * nothing the second time; of two threads that close at once, both return when the index is
   * closed.
   *
   * @throws pando.fabric.PandoException where an operation does not end, or a memory server cannot
   *     be reached; the index can then be closed again
   */
  @Override
  void close();
}
