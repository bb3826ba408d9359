package pando.bench.simulate;

import static java.util.Comparator.comparingLong;

import java.util.Collections;
import java.util.List;
import pando.bench.records.SortedRecords;
import pando.bench.subject.PoolSize;
import pando.cli.text.Progress;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.Systems;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

/**
 * A tree that is built once for any number of runs: each starts with a copy of the pool after the
 * load, and shares its pages until it writes to them.
 */
public final class LoadedTree implements AutoCloseable {
  private final long bytesPerServer;
  private final Cluster cluster;
  private final long poolBytes;

  private LoadedTree(List<IndexPlan> plans) {
    IndexPlan plan = Collections.min(plans, comparingLong(each -> each.index().cacheBytes()));
    SimPlan sim = plan.sim();
    bytesPerServer = plans.stream().mapToLong(LoadedTree::bytesPerServer).max().orElseThrow();
    // Compute servers that draw the numbers of a run's would be taken for those by the run.
    ClusterOptions options = sim.cluster().withSeed(~sim.cluster().seed());
    cluster = new Cluster(withRoom(options));
    try {
      poolBytes = load(plan.index(), sim, plan.fill());
    } catch (RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  /**
   * Builds the tree for runs that differ in neither servers, keys, records, seed, fill nor nodes.
   *
   * @throws IllegalArgumentException if the smallest cache is too small for the index
   */
  public static LoadedTree of(List<IndexPlan> plans) {
    return new LoadedTree(plans);
  }

  /** Loads the tree, and returns the bytes of the pool that it takes. */
  private long load(IndexOptions options, SimPlan sim, double fill) {
    try (RangeIndex index = options.create(cluster.fabric(0), 0, 1);
        Progress progress = Progress.of("load", sim.records())) {
      index.bulkLoad(new SortedRecords(sim.supply(), sim.records(), progress::step), fill);
      return index.poolBytes();
    }
  }

  /** Returns the bytes of the pool that it takes. */
  long poolBytes() {
    return poolBytes;
  }

  /** Returns a cluster at time 0 with the tree in its pool. */
  Cluster fork(ClusterOptions options) {
    return cluster.fork(withRoom(options));
  }

  private ClusterOptions withRoom(ClusterOptions options) {
    return options.withBytesPerServer(bytesPerServer).withHandlers(Systems.handlers());
  }

  private static long bytesPerServer(IndexPlan plan) {
    SimPlan sim = plan.sim();
    // Upper bound of the inserts: each client takes at least a microsecond for one.
    double operations = plan.warmup() + sim.clients() * sim.nanos() / 1e3;
    long insertsMax = (long) (plan.workload().insertShare() * operations);
    return PoolSize.bytesPerServer(
        PoolSize.withKeys(
            PoolSize.of(plan.index(), sim.records(), insertsMax, plan.fill()),
            plan.index().keyBytes()),
        sim.cluster().pool().memoryServers(),
        sim.cluster().computeServers());
  }

  @Override
  public void close() {
    cluster.close();
  }
}
