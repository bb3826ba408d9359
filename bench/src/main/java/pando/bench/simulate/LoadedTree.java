package pando.bench.simulate;

import java.util.List;
import pando.bench.console.Progress;
import pando.bench.records.Records;
import pando.bench.records.SortedRecords;
import pando.bench.subject.IndexSubject;
import pando.bench.subject.PoolSize;
import pando.index.dex.DexIndex;
import pando.index.dex.DexOptions;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

/**
 * A tree that is built once and that any number of runs start from: each has the pool as it was
 * after the load, and shares its pages until it writes to them.
 */
public final class LoadedTree implements AutoCloseable {
  private final long bytesPerServer;
  private final Cluster cluster;

  private LoadedTree(List<SimPlan> plans) {
    SimPlan plan = plans.getFirst();
    bytesPerServer = plans.stream().mapToLong(LoadedTree::bytesPerServer).max().orElseThrow();
    cluster = new Cluster(withRoom(plan.cluster()));
    try {
      load(plan.index(), plan.records(), plan.fill(), plan.seed());
    } catch (RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  /** Builds the tree for runs that differ in neither servers, records, fill nor nodes. */
  public static LoadedTree of(List<SimPlan> plans) {
    return new LoadedTree(plans);
  }

  private void load(DexOptions options, long records, double fill, long seed) {
    DexIndex index = DexIndex.create(cluster.fabric(0), options, 0, 1);
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

  private static long bytesPerServer(SimPlan plan) {
    // As many inserts as so many clients can do at a microsecond each.
    long insertsMax =
        (long)
            (plan.workload().insertShare() * (plan.warmup() + plan.clients() * plan.nanos() / 1e3));
    return PoolSize.bytesPerServer(
        PoolSize.bytes(plan.records(), insertsMax, plan.fill()),
        plan.cluster().pool().memoryServers(),
        plan.cluster().computeServers());
  }

  @Override
  public void close() {
    cluster.close();
  }
}
