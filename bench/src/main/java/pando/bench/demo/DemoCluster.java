package pando.bench.demo;

import java.util.SortedMap;
import pando.bench.records.MapEntries;
import pando.bench.subject.IndexSubject;
import pando.bench.subject.PoolSize;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.Session;

/** A cluster in this process with an index of address ranges, and one session on it. */
final class DemoCluster implements AutoCloseable {
  static final int MEMORY_SERVERS = 4;
  static final int COMPUTE_SERVERS = 4;

  private static final double FILL = 0.7;
  private static final long SEED = 1;

  private final IndexSubject cluster;
  private final IndexOptions options;
  private final Session session;

  private DemoCluster(IndexSubject cluster, IndexOptions options) {
    this.cluster = cluster;
    this.options = options;
    session = cluster.index().session();
  }

  /** Starts a cluster and loads ranges. */
  static DemoCluster load(IndexOptions options, SortedMap<Long, Long> ranges) {
    IndexOptions four = options.withComputeServers(COMPUTE_SERVERS);
    long bytes = PoolSize.of(four, ranges.size(), 0, FILL);
    IndexSubject cluster = IndexSubject.openLocal(four, MEMORY_SERVERS, bytes, SEED);
    cluster.load(new MapEntries(ranges), FILL);
    return new DemoCluster(cluster, four);
  }

  RangeIndex index() {
    return cluster.index();
  }

  Session session() {
    return session;
  }

  /** Returns the bytes of all caches together. */
  long cacheBytes() {
    return options.cacheBytes() * COMPUTE_SERVERS;
  }

  @Override
  public void close() {
    session.close();
    cluster.close();
  }
}
