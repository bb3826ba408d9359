package pando.bench;

import pando.bench.run.Plan;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options for the number of operations and threads. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class PlanOptions {
  private static final int THREADS_MAX = 128;
  private static final int SECONDS_MAX = 1_000_000;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--operations",
      paramLabel = "N",
      defaultValue = "20M",
      converter = Quantity.class,
      description = "Operations to measure, of all threads together (default: ${DEFAULT-VALUE}).")
  private long operations;

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "2",
      description = "Threads, each with a session of its own (default: ${DEFAULT-VALUE}).")
  private int threads;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Ends the warm-up, and what is measured, after so long; 60 is what the paper has, 0 is"
              + " never (default: ${DEFAULT-VALUE}).")
  private int seconds;

  /** Returns what to run, checked. */
  Plan plan(WorkloadOptions workloads, LoadOptions load, DrawOptions draw) {
    Ranges.check(spec, "--operations", operations, 1, DrawOptions.OPERATIONS_MAX);
    Ranges.check(spec, "--threads", threads, 1, THREADS_MAX);
    Ranges.check(spec, "--seconds", seconds, 0, SECONDS_MAX);
    return new Plan(
        load.keys(),
        load.records(workloads.list()),
        load.fill(),
        draw.distribution(),
        draw.theta(),
        operations,
        draw.warmup(),
        threads,
        seconds,
        load.seed());
  }
}
