package pando.index;

/**
 * How compute-side caches have done, summed over sessions.
 *
 * @param leafHits looks at a leaf that found it cached
 * @param leafMisses leaves that had to be fetched, or were left to a memory server
 * @param innerMisses inner nodes that had to be fetched
 * @param admissions nodes taken into a cache
 * @param coolings nodes picked as candidates for eviction
 * @param secondChances cooling nodes that were asked for in time
 * @param evictions nodes dropped to make room
 * @param writeBacks dirty nodes written to the pool
 * @param offloads operations finished by a memory server's processor
 * @param offloadFallbacks offloaded operations that came back undone
 * @param restarts descents begun anew after a conflict
 */
public record CacheCounters(
    long leafHits,
    long leafMisses,
    long innerMisses,
    long admissions,
    long coolings,
    long secondChances,
    long evictions,
    long writeBacks,
    long offloads,
    long offloadFallbacks,
    long restarts) {

  /** Returns the share of leaf accesses served by the cache, 0 to 1; 0 where there were none. */
  public double hitRatio() {
    long accesses = leafHits + leafMisses;
    return accesses == 0 ? 0 : (double) leafHits / accesses;
  }

  /** Returns these counts less earlier ones. */
  public CacheCounters since(CacheCounters earlier) {
    return new CacheCounters(
        leafHits - earlier.leafHits,
        leafMisses - earlier.leafMisses,
        innerMisses - earlier.innerMisses,
        admissions - earlier.admissions,
        coolings - earlier.coolings,
        secondChances - earlier.secondChances,
        evictions - earlier.evictions,
        writeBacks - earlier.writeBacks,
        offloads - earlier.offloads,
        offloadFallbacks - earlier.offloadFallbacks,
        restarts - earlier.restarts);
  }
}
