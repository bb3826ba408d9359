package pando.bench;

import org.jspecify.annotations.Nullable;
import pando.bench.run.Plan;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options for the number of operations and threads. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class PlanOptions {
  private static final int THREADS_MAX = 128;
  private static final int THREADS_DEFAULT = 2;
  private static final int LANES_MAX = 64;
  private static final int SESSIONS_MAX = 256;
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
      description = "Threads, each with a session of its own (default: 2).")
  private @Nullable Integer threads;

  @Option(
      names = "--lanes",
      paramLabel = "N",
      defaultValue = "0",
      description = {
        "In place of --threads, platform threads that carry several sessions each, so that many"
            + " verbs are under way on a core (default: none).",
        "Counts what all threads of the process allocate."
      })
  private int lanes;

  @Option(
      names = "--sessions-per-lane",
      paramLabel = "N",
      defaultValue = "16",
      description = "With --lanes, sessions of each (default: ${DEFAULT-VALUE}).")
  private int sessionsPerLane;

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
    Ranges.check(spec, "--lanes", lanes, 0, LANES_MAX);
    Ranges.check(spec, "--sessions-per-lane", sessionsPerLane, 1, SESSIONS_MAX);
    Ranges.check(spec, "--lanes", lanes == 0 || threads == null, lanes, "not with --threads");
    Ranges.check(spec, "--seconds", seconds, 0, SECONDS_MAX);
    return new Plan(
        load.keys(),
        load.records(workloads.list()),
        load.fill(),
        draw.distribution(),
        draw.theta(),
        operations,
        draw.warmup(),
        lanes == 0 ? platformThreads() : lanes * sessionsPerLane,
        lanes,
        seconds,
        load.seed());
  }

  private int platformThreads() {
    int chosen = threads == null ? THREADS_DEFAULT : threads;
    Ranges.check(spec, "--threads", chosen, 1, THREADS_MAX);
    return chosen;
  }
}
