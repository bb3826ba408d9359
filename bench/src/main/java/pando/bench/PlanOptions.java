package pando.bench;

import pando.bench.run.Plan;
import pando.bench.workload.Distribution;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options that say what to run. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class PlanOptions {
  private static final int THREADS_MAX = 128;
  private static final int SECONDS_MAX = 1_000_000;
  private static final int THETA_MAX = 100;
  private static final long OPERATIONS_MAX = Long.MAX_VALUE >> 20;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--distribution",
      paramLabel = "NAME",
      defaultValue = "zipfian",
      converter = Choices.DistributionConverter.class,
      description = {
        "How operations fall on records (default: ${DEFAULT-VALUE}).",
        "zipfian: every rank a record of its own.",
        "zipfian-dex: as DEX and YCSB scramble ranks, by a hash with collisions, which never asks"
            + " for 36.8 %% of the records.",
        "uniform: each as likely."
      })
  private Distribution distribution;

  @Option(
      names = "--theta",
      paramLabel = "T",
      defaultValue = "0.99",
      description = "Skew of the Zipfian distributions (default: ${DEFAULT-VALUE}).")
  private double theta;

  @Option(
      names = "--operations",
      paramLabel = "N",
      defaultValue = "20M",
      converter = Quantity.class,
      description = "Operations to measure, of all threads together (default: ${DEFAULT-VALUE}).")
  private long operations;

  @Option(
      names = "--warmup",
      paramLabel = "N",
      defaultValue = "1M",
      converter = Quantity.class,
      description = "Operations before those (default: ${DEFAULT-VALUE}).")
  private long warmup;

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
  Plan plan(LoadOptions load) {
    Ranges.check(spec, "--operations", operations, 1, OPERATIONS_MAX);
    Ranges.check(spec, "--warmup", warmup, 0, OPERATIONS_MAX);
    Ranges.check(spec, "--threads", threads, 1, THREADS_MAX);
    Ranges.check(spec, "--seconds", seconds, 0, SECONDS_MAX);
    boolean isTheta = theta >= 0 && theta <= THETA_MAX;
    Ranges.check(spec, "--theta", isTheta, theta, "least=0, greatest=" + THETA_MAX);
    return new Plan(
        load.records(),
        load.fill(),
        distribution,
        theta,
        operations,
        warmup,
        threads,
        seconds,
        load.seed());
  }
}
