package pando.index.dex;

import pando.fabric.VerbCounters;
import pando.index.CacheCounters;
import pando.index.cache.CacheContext;

/** Sums of the counters of workers and compute servers. */
final class Totals {
  final VerbCounters verbs = new VerbCounters();
  long nodes;
  private long leafHits;
  private long leafMisses;
  private long innerMisses;
  private long admissions;
  private long coolings;
  private long secondChances;
  private long evictions;
  private long writeBacks;
  private long offloads;
  private long offloadFallbacks;
  private long restarts;

  void add(PartitionWorker worker) {
    CacheContext context = worker.context();
    Descent descent = worker.descent();
    verbs.add(context.worker().counters());
    leafHits += descent.leafHits;
    leafMisses += descent.leafMisses;
    innerMisses += descent.innerMisses;
    restarts += descent.restarts;
    offloads += descent.offload.offloads;
    offloadFallbacks += descent.offload.fallbacks;
    admissions += context.admissions;
    coolings += context.coolings;
    secondChances += context.secondChances;
    evictions += context.evictions;
    writeBacks += context.writeBacks;
  }

  void add(ComputeServer server) {
    nodes += server.allocator.nodesInUse();
    verbs.add(server.house.worker().counters());
    writeBacks += server.house.writeBacks;
  }

  void add(Totals other) {
    verbs.add(other.verbs);
    nodes += other.nodes;
    leafHits += other.leafHits;
    leafMisses += other.leafMisses;
    innerMisses += other.innerMisses;
    admissions += other.admissions;
    coolings += other.coolings;
    secondChances += other.secondChances;
    evictions += other.evictions;
    writeBacks += other.writeBacks;
    offloads += other.offloads;
    offloadFallbacks += other.offloadFallbacks;
    restarts += other.restarts;
  }

  CacheCounters cacheCounters() {
    return new CacheCounters(
        leafHits,
        leafMisses,
        innerMisses,
        admissions,
        coolings,
        secondChances,
        evictions,
        writeBacks,
        offloads,
        offloadFallbacks,
        restarts);
  }
}
