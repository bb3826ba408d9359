package pando.index.host;

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

  /** Adds other counters to these. */
  void add(DescentCounters other) {
    leafHits += other.leafHits;
    leafMisses += other.leafMisses;
    innerReads += other.innerReads;
    restarts += other.restarts;
  }
}
