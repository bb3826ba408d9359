package pando.index.host;

import pando.fabric.VerbCounters;
import pando.index.CacheCounters;

/** Sums of the counters of workers and compute servers. Thread-safe. */
final class Totals {
  private final VerbCounters verbs = new VerbCounters();
  private final DescentCounters descents = new DescentCounters();
  private long admissions;
  private long evictions;

  Totals() {}

  synchronized void add(VerbCounters other) {
    verbs.add(other);
  }

  synchronized void add(HostedWorker worker) {
    verbs.add(worker.verbs());
    descents.add(worker.descents());
  }

  synchronized void add(HostedServer server) {
    verbs.add(server.verbs());
    admissions += server.admissions();
    evictions += server.evictions();
  }

  /** Adds other totals, which no thread may change meanwhile. */
  synchronized void add(Totals other) {
    verbs.add(other.verbs);
    descents.add(other.descents);
    admissions += other.admissions;
    evictions += other.evictions;
  }

  synchronized VerbCounters verbs() {
    VerbCounters copy = new VerbCounters();
    copy.add(verbs);
    return copy;
  }

  synchronized CacheCounters cacheCounters() {
    return new CacheCounters(
        descents.leafHits,
        descents.leafMisses,
        descents.innerReads,
        admissions,
        0,
        0,
        evictions,
        0,
        0,
        0,
        descents.restarts);
  }
}
