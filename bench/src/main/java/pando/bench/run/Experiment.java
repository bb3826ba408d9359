package pando.bench.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import pando.bench.workload.Workload;

/**
 * Workloads one after the other. Each finds exactly the loaded records: the map is loaded anew
 * after a workload that inserts, and used again after one that does not. What a workload has
 * written is audited at its end.
 */
public final class Experiment {
  /** Makes testbeds. */
  @FunctionalInterface
  public interface TestbedSource {
    /**
     * Loads a map.
     *
     * @param inserts records it must have room for beside the loaded ones
     */
    Testbed load(long inserts) throws IOException;
  }

  /** Takes results. */
  @FunctionalInterface
  public interface ResultSink {
    /** Takes one. */
    void accept(Result result) throws IOException;
  }

  private final Setup setup;
  private final Plan plan;
  private final TestbedSource source;
  private final ResultSink results;

  /**
   * Prepares an experiment.
   *
   * @param results told of each as it comes in
   */
  public Experiment(Setup setup, Plan plan, TestbedSource source, ResultSink results) {
    this.setup = setup;
    this.plan = plan;
    this.source = source;
    this.results = results;
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
    double inserts = workloads.getLast().insertShare() * (plan.warmup() + plan.operations());
    // The share is drawn, so leave room for a few more.
    try (Testbed testbed = source.load((long) (inserts * 1.05) + 1_000)) {
      for (Workload workload : workloads) {
        results.accept(run(testbed, workload));
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
    double bytesPerRecord = (double) testbed.bytes() / records;
    return new Result(setup, plan, workload, measurement, verified, bytesPerRecord);
  }
}
