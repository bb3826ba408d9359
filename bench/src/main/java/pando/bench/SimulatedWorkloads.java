package pando.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import pando.bench.simulate.IndexPlan;
import pando.bench.simulate.IndexRun;
import pando.bench.simulate.LoadedTree;
import pando.bench.simulate.SimPlan;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.cli.option.CacheSize;
import pando.cli.option.Ranges;
import pando.cli.option.ServerOptions;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.sim.ClusterOptions;
import picocli.CommandLine.Model.CommandSpec;

/** Workloads in virtual time: every combination of what the options list, on one loaded tree. */
final class SimulatedWorkloads {
  private final CommandSpec spec;
  private final IndexSystem index;
  private final DrawOptions draw;
  private final LoadOptions load;
  private final long records;
  private final SimulationOptions simulation;
  private final ModelSettings settings;
  private final ClusterOptions cluster;
  private final List<IndexPlan> plans = new ArrayList<>();

  /** Checks all options. */
  SimulatedWorkloads(
      CommandSpec spec,
      IndexSystem index,
      List<Workload> workloads,
      DrawOptions draw,
      LoadOptions load,
      ServerOptions servers,
      SimulationOptions simulation,
      ModelSettings settings) {
    this.spec = spec;
    this.index = index;
    this.draw = draw;
    this.load = load;
    records = load.records(workloads);
    this.simulation = simulation;
    this.settings = settings;
    cluster =
        simulation
            .cluster(SimulationMode.WORKLOADS, servers, load.seed())
            .withModel(settings.model(IndexPlan.modelOf(index)));
    for (Workload workload : workloads) {
      for (Distribution distribution : draw.distributions()) {
        for (CacheSize cache : servers.caches()) {
          addPlans(workload, distribution, options(cache));
        }
      }
    }
  }

  private IndexOptions options(CacheSize cache) {
    Map<String, String> others = settings.withoutModel();
    long cached = records == 0 ? draw.warmup() : records;
    return settings.index(index.defaults(), cluster.computeServers(), cache, cached, others);
  }

  private void addPlans(Workload workload, Distribution distribution, IndexOptions options) {
    for (int threads : simulation.threads(SimulationMode.WORKLOADS)) {
      for (int processorThreads : simulation.processorThreads()) {
        SimPlan sim =
            new SimPlan(
                cluster.withProcessorThreads(processorThreads),
                threads,
                simulation.coroutines(),
                load.keys(),
                simulation.values(),
                records,
                workload.distribution(distribution),
                draw.theta(),
                simulation.nanos());
        boolean isLogged = simulation.isLogged();
        plans.add(
            Ranges.accepted(
                spec,
                () ->
                    new IndexPlan(
                        sim, options, workload, load.fill(), draw.warmup(), 0, isLogged)));
      }
    }
  }

  /** Runs all. */
  void run(SimulationOutput output) throws IOException {
    // The smallest cache may be too small for what the index keeps in memory.
    try (LoadedTree tree = Ranges.accepted(spec, () -> LoadedTree.of(plans))) {
      for (IndexPlan plan : plans) {
        output.add(IndexRun.run(plan, tree));
      }
    }
  }
}
