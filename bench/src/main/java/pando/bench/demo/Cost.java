package pando.bench.demo;

import pando.fabric.VerbCounters;
import pando.index.CacheCounters;

/**
 * What operations took.
 *
 * @param operations how many
 * @param nanos that they took
 * @param verbs that they issued
 * @param cacheHitRatio share of them that found what they needed cached
 */
record Cost(int operations, long nanos, VerbCounters verbs, double cacheHitRatio) {
  /** Measures an action of so many operations. */
  static Cost of(int operations, DemoCluster cluster, Runnable action) {
    VerbCounters verbsBefore = cluster.index().verbs().copy();
    CacheCounters cacheBefore = cluster.index().cache();
    long start = System.nanoTime();
    action.run();
    long nanos = System.nanoTime() - start;
    VerbCounters verbs = cluster.index().verbs().copy();
    verbs.subtract(verbsBefore);
    double hitRatio = cluster.index().cache().since(cacheBefore).hitRatio();
    return new Cost(operations, nanos, verbs, hitRatio);
  }

  double perOperation(long count) {
    return (double) count / operations;
  }

  double perSecond() {
    return operations * 1e9 / nanos;
  }
}
