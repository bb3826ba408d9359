package pando.bench.simulate;

import java.util.List;
import pando.bench.console.Progress;
import pando.bench.records.Records;
import pando.bench.records.SortedRecords;
import pando.bench.subject.IndexSubject;
import pando.bench.subject.PoolSize;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

/**
 * A tree that is built once and that any number of runs start from: each has the pool as it was
 * after the load, and shares its pages until it writes to them.
 */
public final class LoadedTree implements AutoCloseable {
  private final long bytesPerServer;
  private final Cluster cluster;

  private LoadedTree(List<IndexPlan> plans) {
    IndexPlan plan = plans.getFirst();
    SimPlan sim = plan.sim();
    bytesPerServer = plans.stream().mapToLong(LoadedTree::bytesPerServer).max().orElseThrow();
    cluster = new Cluster(withRoom(sim.cluster()));
    try {
      load(plan.index(), sim.records(), plan.fill(), sim.cluster().seed());
    } catch (RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  /** Builds the tree for runs that differ in neither servers, records, seed, fill nor nodes. */
  public static LoadedTree of(List<IndexPlan> plans) {
    return new LoadedTree(plans);
  }

  private void load(IndexOptions options, long records, double fill, long seed) {
    RangeIndex index = options.create(cluster.fabric(0), 0, 1);
    try (Progress progress = Progress.of("load", records)) {
      index.bulkLoad(new SortedRecords(new Records(seed), records, progress::step), fill);
    } finally {
      index.close();
    }
  }

  /** Returns a cluster at time 0 with the tree in its pool. */
  Cluster fork(ClusterOptions options) {
    return cluster.fork(withRoom(options));
  }

  private ClusterOptions withRoom(ClusterOptions options) {
    return options.withBytesPerServer(bytesPerServer).withHandlers(IndexSubject.handlers());
  }

  private static long bytesPerServer(IndexPlan plan) {
    SimPlan sim = plan.sim();
    // As many inserts as so many clients can do at a microsecond each.
    double operations = plan.warmup() + sim.clients() * sim.nanos() / 1e3;
    long insertsMax = (long) (plan.workload().insertShare() * operations);
    return PoolSize.bytesPerServer(
        PoolSize.bytes(sim.records(), insertsMax, plan.fill()),
        sim.cluster().pool().memoryServers(),
        sim.cluster().computeServers());
  }

  @Override
  public void close() {
    cluster.close();
  }
}
