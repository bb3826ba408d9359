package pando.index.host;

/** How the descents of one worker have gone. Counted by its thread alone. */
public final class DescentCounters {
  /** Leaves that a cached copy led to. */
  public long leafHits;

  /** Leaves that no copy led to. */
  public long leafMisses;

  /** Inner nodes that were READ. */
  public long innerReads;

  /** Descents that had led astray. */
  public long restarts;

  /** Creates counters at zero. */
  public DescentCounters() {}

  /** Adds others. */
  void add(DescentCounters other) {
    leafHits += other.leafHits;
    leafMisses += other.leafMisses;
    innerReads += other.innerReads;
    restarts += other.restarts;
  }
}
