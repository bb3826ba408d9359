package pando.index.orca;

/**
 * What it costs to go to the pool for lack of memory, in nanoseconds: over a network, of a memory
 * server's card and of waiting sessions; in mapped memory, of the processor.
 *
 * @param segment a READ of a segment
 * @param pair a READ of a pair of segments by a scan, which waits once for many
 * @param merge a READ and a WRITE of a leaf, and what is between them
 */
record PoolCosts(double segment, double pair, double merge) {
  /**
   * Estimates. A scan that READs mapped memory reads bytes in a row, which is faster than to find
   * the same bytes in images that lie anywhere.
   */
  private static final PoolCosts MAPPED = new PoolCosts(150, 0, 10_000);

  /** The share of a trip that counts: while one session waits, about 32 others run. */
  private static final double WAITING = 0.03;

  /** Returns the costs where a session waits so long for a verb, in nanoseconds. */
  static PoolCosts of(long tripNanos) {
    if (tripNanos == 0) {
      return MAPPED;
    }
    double trip = WAITING * tripNanos;
    return new PoolCosts(18 + trip, 25, 640 + 3 * trip);
  }

  /** Returns whether the pool is behind a network; if not, filters save nothing. */
  boolean isBehindNetwork() {
    return pair > 0;
  }
}
