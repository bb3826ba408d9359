package pando.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import pando.bench.keys.KeySet;
import pando.bench.simulate.LockKind;
import pando.bench.simulate.LockRun;
import pando.bench.simulate.SimPlan;
import pando.bench.workload.Distribution;
import pando.bench.workload.Values;
import pando.cli.option.ServerOptions;
import pando.sim.ClusterOptions;

/**
 * Locks alone in virtual time, of each kind and with each number of threads that the options list.
 */
final class SimulatedLocks {
  private final List<Run> runs = new ArrayList<>();

  private record Run(SimPlan plan, LockKind kind) {}

  /** Checks all options. */
  SimulatedLocks(
      DrawOptions draw,
      LoadOptions load,
      ServerOptions servers,
      SimulationOptions simulation,
      ModelSettings settings) {
    ClusterOptions cluster =
        simulation
            .cluster(SimulationMode.LOCKS, servers, load.seed())
            .withModel(settings.modelAlone());
    for (LockKind kind : simulation.lockKinds()) {
      for (int threads : simulation.threads(SimulationMode.LOCKS)) {
        SimPlan plan =
            new SimPlan(
                cluster,
                threads,
                simulation.coroutines(),
                KeySet.UNIFORM,
                Values.CHANGING,
                simulation.locks(kind),
                Distribution.ZIPFIAN,
                draw.theta(),
                simulation.nanos());
        runs.add(new Run(plan, kind));
      }
    }
  }

  /** Runs all. */
  void run(SimulationOutput output) throws IOException {
    for (Run run : runs) {
      output.add(LockRun.run(run.plan, run.kind));
    }
  }
}
