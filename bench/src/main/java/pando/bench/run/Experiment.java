package pando.bench.run;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import pando.bench.workload.Workload;

/**
 * Workloads one after the other. Each starts with exactly the loaded records: the map is loaded
 * again after a workload that inserts, and reused after one that does not. What a workload has
 * written is audited at its end.
 */
public final class Experiment {
  /** Makes testbeds. */
  @FunctionalInterface
  public interface TestbedSource {
    /**
     * Loads a map.
     *
     * @param inserts number of records that it must have room for besides the loaded ones
     */
    Testbed load(long inserts) throws IOException;
  }

  /** Receives the events of an experiment. */
  public interface Listener {
    /**
     * A map was loaded.
     *
     * @param time that this took, with the making of the map and the sorting of the records
     * @param rate records a second that the map took, 0 where that is not known
     */
    void onLoad(Setup setup, Duration time, double rate);

    /** A workload has ended. */
    void onResult(Result result) throws IOException;
  }

  private final Setup setup;
  private final Plan plan;
  private final TestbedSource source;
  private final Listener listener;

  /**
   * Prepares an experiment.
   *
   * @param listener receives each load and each result
   */
  public Experiment(Setup setup, Plan plan, TestbedSource source, Listener listener) {
    this.setup = setup;
    this.plan = plan;
    this.source = source;
    this.listener = listener;
  }

  /** Runs workloads in order. */
  public void run(List<Workload> workloads) throws IOException {
    List<Workload> sameLoad = new ArrayList<>();
    for (Workload workload : workloads) {
      sameLoad.add(workload);
      if (workload.inserts()) {
        runOnOneLoad(sameLoad);
        sameLoad.clear();
      }
    }
    if (!sameLoad.isEmpty()) {
      runOnOneLoad(sameLoad);
    }
  }

  private void runOnOneLoad(List<Workload> workloads) throws IOException {
    long start = System.nanoTime();
    try (Testbed testbed = source.load(plan.insertsMax(workloads.getLast()))) {
      Duration time = Duration.ofNanos(System.nanoTime() - start);
      long nanos = testbed.loadTime().toNanos();
      listener.onLoad(setup, time, nanos == 0 ? 0 : plan.records() * 1e9 / nanos);
      for (Workload workload : workloads) {
        listener.onResult(run(testbed, workload));
      }
    }
  }

  private Result run(Testbed testbed, Workload workload) throws IOException {
    Measurement measurement = testbed.run(workload);
    long verified = measurement.verified;
    long records = plan.records();
    if (!workload.isReadOnly()) {
      Audit audit = testbed.audit();
      audit.check(plan);
      verified += audit.entries();
      records += audit.inserted();
    }
    Footprint footprint = testbed.footprint(records);
    return new Result(setup, plan, workload, measurement, verified, footprint);
  }
}
