package pando.index.sherman;

import pando.fabric.VerbCounters;
import pando.index.CacheCounters;

/** Sums of what workers have counted. Thread-safe. */
final class Totals {
  private final VerbCounters verbs = new VerbCounters();
  private long leafHits;
  private long leafMisses;
  private long innerReads;
  private long admissions;
  private long evictions;
  private long restarts;

  synchronized void add(VerbCounters other) {
    verbs.add(other);
  }

  synchronized void add(ShermanWorker worker) {
    Descent descent = worker.descent();
    verbs.add(worker.worker().counters());
    leafHits += descent.leafHits;
    leafMisses += descent.leafMisses;
    innerReads += descent.innerReads;
    restarts += descent.restarts;
  }

  synchronized void add(IndexCache cache) {
    admissions += cache.admissions();
    evictions += cache.evictions();
  }

  /** Adds others, which nobody changes meanwhile. */
  synchronized void add(Totals other) {
    verbs.add(other.verbs);
    leafHits += other.leafHits;
    leafMisses += other.leafMisses;
    innerReads += other.innerReads;
    admissions += other.admissions;
    evictions += other.evictions;
    restarts += other.restarts;
  }

  synchronized VerbCounters verbs() {
    VerbCounters copy = new VerbCounters();
    copy.add(verbs);
    return copy;
  }

  synchronized CacheCounters cacheCounters() {
    return new CacheCounters(
        leafHits, leafMisses, innerReads, admissions, 0, 0, evictions, 0, 0, 0, restarts);
  }
}
