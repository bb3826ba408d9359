package pando.bench.figure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import pando.bench.simulate.IndexPlan;
import pando.bench.simulate.IndexRun;
import pando.bench.simulate.LoadedTree;
import pando.bench.simulate.SimPlan;
import pando.bench.simulate.SimResult;
import pando.cli.text.Numbers;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.index.Systems;
import pando.sim.ClusterModel;
import pando.sim.ClusterOptions;

/**
 * A testbed of a paper: a cluster, its clients, its records. Runs indexes on it.
 *
 * @param sharedCards whether compute server i and memory server i share a network card
 * @param threads of each compute server
 * @param cache share of the records that each compute server caches
 * @param fill share of each node that the load fills
 * @param model of the cluster, which may depend on the index
 */
record Lab(
    int computeServers,
    int memoryServers,
    boolean sharedCards,
    int threads,
    double cache,
    double fill,
    Function<IndexOptions, ClusterModel> model,
    long records,
    long seed) {
  /** Share of the records that each compute server caches, unless a figure says another. */
  private static final double CACHE = 0.08;

  /** Number of operations that fill a cache of inner nodes or models. */
  private static final long INNER_WARMUP = 2_000_000;

  /** Leaves that a scan reads; it takes longer by this factor. */
  private static final int SCAN_LEAVES = 4;

  /** Makes a testbed. */
  @FunctionalInterface
  interface Testbed {
    Lab with(long records, long seed);
  }

  /**
   * Returns the testbed of Sherman's paper, with the processor time that an operation took there.
   */
  static Lab ofSherman(long records, long seed) {
    return new Lab(
        8, 8, true, 22, CACHE, 0.8, index -> IndexPlan.modelOf(system(index)), records, seed);
  }

  /**
   * Returns the testbed of DEX's paper, with the same processor time of an operation for every
   * index.
   */
  static Lab ofDex(long records, long seed) {
    return new Lab(4, 4, true, 36, CACHE, 0.7, index -> ClusterModel.defaults(), records, seed);
  }

  /**
   * Returns the testbed of DEFT's paper, with the same processor time of an operation for every
   * index.
   */
  static Lab ofDeft(long records, long seed) {
    return new Lab(10, 2, true, 30, CACHE, 0.7, index -> ClusterModel.defaults(), records, seed);
  }

  /**
   * Returns a testbed as in ROLEX's paper, with as many clients per server as in DEX's paper, and
   * the same processor time of an operation for every index.
   */
  static Lab ofRolex(long records, long seed) {
    return new Lab(3, 3, false, 36, CACHE, 0.7, index -> ClusterModel.defaults(), records, seed);
  }

  /**
   * Returns a testbed as in SMART's paper, 16 machines and caches of 600 MB for 60 M records, with
   * as many clients per server as in DEX's paper, and the same processor time of an operation for
   * every index.
   */
  static Lab ofSmart(long records, long seed) {
    return new Lab(14, 2, false, 36, 0.625, 0.7, index -> ClusterModel.defaults(), records, seed);
  }

  /** Returns this testbed with other caches. */
  Lab withCache(double share) {
    return new Lab(
        computeServers, memoryServers, sharedCards, threads, share, fill, model, records, seed);
  }

  /** Returns this testbed with other compute servers, whose cards are their own. */
  Lab withComputeServers(int number) {
    return new Lab(number, memoryServers, false, threads, cache, fill, model, records, seed);
  }

  /** Returns this testbed with other memory servers; all cards are each server's own. */
  Lab withMemoryServers(int number) {
    return new Lab(computeServers, number, false, threads, cache, fill, model, records, seed);
  }

  /** Returns this testbed with some of its compute servers alone. */
  Lab withOnly(int number) {
    return new Lab(number, memoryServers, sharedCards, threads, cache, fill, model, records, seed);
  }

  /** Returns the bytes that all compute servers cache together. */
  long allCacheBytes() {
    return Math.round(computeServers * cache * records * 2 * Long.BYTES);
  }

  /** Runs loads on several systems as they are by default. */
  Map<IndexSystem, Results> runEach(List<IndexSystem> systems, List<Load> loads) {
    Map<IndexSystem, Results> results = new LinkedHashMap<>();
    systems.forEach(system -> results.put(system, run(system.defaults(), loads)));
    return results;
  }

  /** Runs loads on one index; loads that start with the same records share one loaded tree. */
  Results run(IndexOptions index, List<Load> loads) {
    Figure.PROGRESS.orElse(_ -> {}).accept(step(index, loads));
    IndexOptions options =
        index.withComputeServers(computeServers).withCacheBytes(cacheBytes(index));
    Map<Load, SimResult> results = new LinkedHashMap<>();
    loads.stream()
        .collect(Collectors.groupingBy(Load::start))
        .values()
        .forEach(sameStart -> run(options, sameStart, results));
    return new Results(results);
  }

  private String step(IndexOptions index, List<Load> loads) {
    String workloads =
        loads.stream()
            .map(load -> load.workload().toString())
            .distinct()
            .collect(Collectors.joining(", "));
    return "%s, %d + %d servers, cache of %s %%: %s"
        .formatted(
            system(index).title(),
            computeServers,
            memoryServers,
            Numbers.significant(cache * 100, 2),
            workloads);
  }

  private long cacheBytes(IndexOptions index) {
    return Math.max(index.cacheBytesMin(), Math.round(cache * records * 2 * Long.BYTES));
  }

  private void run(IndexOptions options, List<Load> sameStart, Map<Load, SimResult> results) {
    List<IndexPlan> plans = sameStart.stream().map(load -> plan(options, load)).toList();
    try (LoadedTree tree = LoadedTree.of(plans)) {
      for (int i = 0; i < plans.size(); i++) {
        results.put(sameStart.get(i), IndexRun.run(plans.get(i), tree));
      }
    }
  }

  private IndexPlan plan(IndexOptions index, Load load) {
    Load.Clients clients = load.clients();
    ClusterOptions cluster =
        ClusterOptions.defaults()
            .withServers(computeServers, memoryServers)
            .withSharedCards(sharedCards)
            .withProcessorThreads(clients.processorThreads())
            .withModel(model.apply(index))
            .withSeed(seed);
    SimPlan sim =
        new SimPlan(
            cluster,
            clients.threads() == Load.OF_LAB ? threads : clients.threads(),
            clients.coroutines(),
            load.start().keys(),
            load.values(),
            load.start().isEmpty() ? 0 : records,
            load.workload().distribution(load.distribution()),
            load.theta(),
            load.times().nanos());
    return new IndexPlan(
        sim, index, load.workload(), fill, warmup(index, load), load.times().splitNanos(), false);
  }

  private static IndexSystem system(IndexOptions index) {
    return Systems.named(index.system());
  }

  /** Returns how many operations fill the caches. */
  private long warmup(IndexOptions index, Load load) {
    if (load.times().warmup() != Load.OF_LAB) {
      return load.times().warmup();
    }
    boolean isFast = system(index).warmsUpFast();
    long operations = isFast ? Math.min(INNER_WARMUP, records / 2) : records / 2;
    return load.workload().scans() ? operations / SCAN_LEAVES : operations;
  }
}
