package pando.index.host;

import pando.fabric.VerbCounters;
import pando.index.CacheCounters;

/** Sums of the verbs and the cache events of workers and compute servers. Thread-safe. */
public final class Totals {
  private final VerbCounters verbs = new VerbCounters();
  private CacheCounters cache = CacheCounters.NONE;

  /** Creates sums at zero. */
  public Totals() {}

  /** Adds verbs. */
  public synchronized void add(VerbCounters other) {
    verbs.add(other);
  }

  /** Adds verbs and events. */
  public synchronized void add(VerbCounters other, CacheCounters events) {
    verbs.add(other);
    cache = cache.plus(events);
  }

  /** Adds other totals, which no thread may change meanwhile. */
  public void add(Totals other) {
    add(other.verbs, other.cache);
  }

  /** Returns a copy of the verbs. */
  public synchronized VerbCounters verbs() {
    VerbCounters copy = new VerbCounters();
    copy.add(verbs);
    return copy;
  }

  /** Returns the events. */
  public synchronized CacheCounters cache() {
    return cache;
  }
}
