package pando.bench.figure;

import java.util.ArrayList;
import java.util.List;
import pando.bench.simulate.IndexPlan;
import pando.bench.simulate.IndexRun;
import pando.bench.simulate.LoadedTree;
import pando.bench.simulate.SimPlan;
import pando.bench.simulate.SimResult;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexOptions;
import pando.sim.ClusterModel;
import pando.sim.ClusterOptions;

/** A testbed of a paper: a cluster, its clients, its records. Runs systems on it. */
final class Lab {
  private static final double THETA = 0.99;
  private static final int SCAN_LEAVES = 4;

  private final int servers;
  private final int threads;
  private final long records;
  private final double fill;
  private final long seed;
  private final boolean fitted;

  /**
   * Describes a testbed.
   *
   * @param servers compute servers, and as many memory servers, two by two on a card
   * @param threads of each compute server
   * @param fitted whether an operation takes as long as on the testbed of the system's own paper
   */
  Lab(int servers, int threads, long records, double fill, long seed, boolean fitted) {
    this.servers = servers;
    this.threads = threads;
    this.records = records;
    this.fill = fill;
    this.seed = seed;
    this.fitted = fitted;
  }

  /**
   * What is run on a system.
   *
   * @param coroutines of each thread
   * @param nanos virtual time that is measured
   */
  record Load(Workload workload, Distribution distribution, int coroutines, long nanos) {
    Load(Workload workload, Distribution distribution, long nanos) {
      this(workload, distribution, 1, nanos);
    }
  }

  /** Returns what a compute server caches if it caches a share of the records. */
  long cacheBytes(double share) {
    return Math.round(share * records * 2 * Long.BYTES);
  }

  /** Runs loads on one system, on a tree that is built once. */
  List<SimResult> run(IndexOptions options, long warmup, List<Load> loads) {
    List<IndexPlan> plans = loads.stream().map(load -> plan(options, warmup, load)).toList();
    List<SimResult> results = new ArrayList<>();
    try (LoadedTree tree = LoadedTree.of(plans)) {
      plans.forEach(plan -> results.add(IndexRun.run(plan, tree)));
    }
    return results;
  }

  private IndexPlan plan(IndexOptions options, long warmup, Load load) {
    ClusterOptions cluster =
        ClusterOptions.defaults()
            .withServers(servers, servers)
            .withModel(fitted ? IndexPlan.modelOf(options) : ClusterModel.defaults())
            .withSeed(seed);
    SimPlan sim =
        new SimPlan(
            cluster,
            threads,
            load.coroutines(),
            records,
            load.workload().distribution(load.distribution()),
            THETA,
            load.nanos());
    // A scan touches several leaves, and takes as much longer.
    long operations = load.workload().scans() ? warmup / SCAN_LEAVES : warmup;
    return new IndexPlan(
        sim, options.withComputeServers(servers), load.workload(), fill, operations);
  }
}
