package pando.index;

import java.util.function.LongBinaryOperator;

/**
 * Events in the caches of compute servers, summed over all sessions.
 *
 * @param leafHits accesses to a leaf that found it cached
 * @param leafMisses accesses to a leaf that was not cached: it was fetched, or the operation was
 *     offloaded
 * @param innerMisses inner nodes that had to be fetched
 * @param admissions nodes taken into a cache
 * @param coolings nodes picked as candidates for eviction
 * @param secondChances cooling nodes that were accessed again before they were evicted
 * @param evictions nodes dropped to make room
 * @param writeBacks dirty nodes written to the pool
 * @param offloads operations that a memory server's processor finished
 * @param offloadFallbacks offloaded operations that the memory server returned without an effect
 * @param restarts descents restarted after a conflict
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
  /** No events. */
  public static final CacheCounters NONE = new CacheCounters(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** Returns counts of nodes taken in and dropped. */
  public static CacheCounters ofNodes(long admissions, long evictions) {
    return new CacheCounters(0, 0, 0, admissions, 0, 0, evictions, 0, 0, 0, 0);
  }

  /** Returns counts of nodes written. */
  public static CacheCounters ofWriteBacks(long writeBacks) {
    return new CacheCounters(0, 0, 0, 0, 0, 0, 0, writeBacks, 0, 0, 0);
  }

  /** Returns the share of leaf accesses served by the cache, 0 to 1; 0 if there were none. */
  public double hitRatio() {
    long accesses = leafHits + leafMisses;
    return accesses == 0 ? 0 : (double) leafHits / accesses;
  }

  /** Returns these counts plus others. */
  public CacheCounters plus(CacheCounters other) {
    return combine(other, Long::sum);
  }

  /** Returns these counts minus earlier ones. */
  public CacheCounters since(CacheCounters earlier) {
    return combine(earlier, (now, before) -> now - before);
  }

  private CacheCounters combine(CacheCounters other, LongBinaryOperator of) {
    return new CacheCounters(
        of.applyAsLong(leafHits, other.leafHits),
        of.applyAsLong(leafMisses, other.leafMisses),
        of.applyAsLong(innerMisses, other.innerMisses),
        of.applyAsLong(admissions, other.admissions),
        of.applyAsLong(coolings, other.coolings),
        of.applyAsLong(secondChances, other.secondChances),
        of.applyAsLong(evictions, other.evictions),
        of.applyAsLong(writeBacks, other.writeBacks),
        of.applyAsLong(offloads, other.offloads),
        of.applyAsLong(offloadFallbacks, other.offloadFallbacks),
        of.applyAsLong(restarts, other.restarts));
  }
}
