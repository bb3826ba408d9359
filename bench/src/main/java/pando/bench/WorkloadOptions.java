package pando.bench;

import java.util.List;
import pando.bench.workload.Workload;
import picocli.CommandLine.Option;

/** The option that says which workloads are run. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class WorkloadOptions {
  @Option(
      names = "--workload",
      paramLabel = "NAME",
      defaultValue = "all",
      converter = BenchChoices.WorkloadsConverter.class,
      description = {
        "all (default), or some, with commas between:",
        BenchChoices.WorkloadsConverter.NAMES
      })
  private BenchChoices.Workloads workloads;

  /** Returns them in the order to run them. */
  List<Workload> list() {
    return workloads.list();
  }
}
