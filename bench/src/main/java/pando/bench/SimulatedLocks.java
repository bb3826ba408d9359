package pando.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import pando.bench.simulate.LockRun;
import pando.bench.simulate.SimPlan;
import pando.bench.workload.Distribution;
import pando.sim.ClusterOptions;

/** Locks alone in virtual time, with each number of threads that the options list. */
final class SimulatedLocks {
  private final List<SimPlan> plans = new ArrayList<>();

  /** Checks all options. */
  SimulatedLocks(
      DrawOptions draw,
      LoadOptions load,
      ServerOptions servers,
      SimulationOptions simulation,
      SettingOptions settings) {
    ClusterOptions cluster =
        simulation
            .cluster(SimulationMode.LOCKS, servers, load.seed())
            .withModel(settings.modelAlone());
    for (int threads : simulation.threads(SimulationMode.LOCKS)) {
      plans.add(
          new SimPlan(
              cluster,
              threads,
              simulation.coroutines(),
              simulation.locks(),
              Distribution.ZIPFIAN,
              draw.theta(),
              simulation.nanos()));
    }
  }

  /** Runs all. */
  void run(SimulationOutput output) throws IOException {
    for (SimPlan plan : plans) {
      output.add(LockRun.run(plan));
    }
  }
}
