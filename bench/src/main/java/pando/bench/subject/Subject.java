package pando.bench.subject;

import pando.fabric.Lane;
import pando.fabric.VerbCounters;
import pando.index.CacheCounters;
import pando.index.EntrySource;

/** An ordered map that workloads run against. Thread-safe. */
public interface Subject extends AutoCloseable {
  /** Returns a short name for tables. */
  String name();

  /**
   * Fills the empty map.
   *
   * @param entries in ascending order of keys
   * @param fill share of each node to fill, where the map has nodes
   */
  void load(EntrySource entries, double fill);

  /** Opens an access for the calling thread. */
  Access access();

  /**
   * Opens a lane for threads that open accesses.
   *
   * @throws UnsupportedOperationException for a peer, which has no verbs to wait for
   */
  default Lane lane(String name) {
    throw new UnsupportedOperationException("a peer has no lanes: name=" + name);
  }

  /** Returns the verbs issued so far; none for a peer. */
  default VerbCounters verbs() {
    return new VerbCounters();
  }

  /** Returns the counters of the caches; all 0 for a peer. */
  default CacheCounters cache() {
    return CacheCounters.NONE;
  }

  /** Returns the bytes that hold entries, or 0 where that is unknown. */
  long bytes();

  /** Returns the bytes that compute servers hold in caches now; none for a peer. */
  default long cachedBytes() {
    return 0;
  }

  /** Frees all resources. */
  @Override
  void close();
}
