package pando.index.host;

import pando.index.CacheCounters;

/** Counters of one worker's descents. Only its session's thread writes them. */
public final class DescentCounters {
  /** Lookups of a leaf that a cached copy answered. */
  public long leafHits;

  /** Lookups of a leaf that no cached copy answered. */
  public long leafMisses;

  /** READs of inner nodes. */
  public long innerReads;

  /** Restarts of descents that reached a wrong node. */
  public long restarts;

  /** Creates counters at zero. */
  public DescentCounters() {}

  /** Returns the counts as events of a cache. */
  CacheCounters events() {
    return new CacheCounters(leafHits, leafMisses, innerReads, 0, 0, 0, 0, 0, 0, 0, restarts);
  }
}
