package pando.bench.figure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import pando.bench.simulate.IndexPlan;
import pando.bench.simulate.IndexRun;
import pando.bench.simulate.LoadedTree;
import pando.bench.simulate.SimPlan;
import pando.bench.simulate.SimResult;
import pando.index.IndexOptions;
import pando.index.sherman.ShermanOptions;
import pando.sim.ClusterModel;
import pando.sim.ClusterOptions;

/**
 * A testbed of a paper: a cluster, its clients, its records. Runs indexes on it.
 *
 * @param threads of each compute server
 * @param fill share of each node that the load fills
 * @param model of the cluster, which may depend on the index
 */
record Lab(
    int computeServers,
    int memoryServers,
    int threads,
    double fill,
    Function<IndexOptions, ClusterModel> model,
    long records,
    long seed) {
  private static final double THETA = 0.99;

  /** Share of the records that each compute server caches. */
  private static final double CACHE = 0.08;

  /** Operations that fill a cache of whole inner nodes. */
  private static final long INNER_WARMUP = 2_000_000;

  /** A scan touches several leaves, and takes as much longer. */
  private static final int SCAN_LEAVES = 4;

  /** Returns that of Sherman's paper, where an operation takes as long as it did there. */
  static Lab ofSherman(long records, long seed) {
    return new Lab(8, 8, 22, 0.8, IndexPlan::modelOf, records, seed);
  }

  /** Returns that of DEX's paper, where an operation takes as long in every index. */
  static Lab ofDex(long records, long seed) {
    return new Lab(4, 4, 36, 0.7, index -> ClusterModel.defaults(), records, seed);
  }

  /** Returns that of DEFT's paper, where an operation takes as long in every index. */
  static Lab ofDeft(long records, long seed) {
    return new Lab(10, 2, 30, 0.7, index -> ClusterModel.defaults(), records, seed);
  }

  /** Runs loads on one index, each on the same tree. */
  Results run(IndexOptions index, List<Load> loads) {
    IndexOptions options =
        index
            .withComputeServers(computeServers)
            .withCacheBytes(Math.round(CACHE * records * 2 * Long.BYTES));
    List<IndexPlan> plans = loads.stream().map(load -> plan(options, load)).toList();
    Map<Load, SimResult> results = new LinkedHashMap<>();
    try (LoadedTree tree = LoadedTree.of(plans)) {
      for (int i = 0; i < plans.size(); i++) {
        results.put(loads.get(i), IndexRun.run(plans.get(i), tree));
      }
    }
    return new Results(results);
  }

  private IndexPlan plan(IndexOptions index, Load load) {
    ClusterOptions cluster =
        ClusterOptions.defaults()
            .withServers(computeServers, memoryServers)
            .withModel(model.apply(index))
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
    return new IndexPlan(sim, index, load.workload(), fill, warmup(index, load));
  }

  /**
   * Returns how many operations fill the caches: DEX's hold leaves and DEFT's parts of nodes, which
   * come in slowly.
   */
  private long warmup(IndexOptions index, Load load) {
    long operations = index instanceof ShermanOptions ? INNER_WARMUP : records / 2;
    return load.workload().scans() ? operations / SCAN_LEAVES : operations;
  }
}
