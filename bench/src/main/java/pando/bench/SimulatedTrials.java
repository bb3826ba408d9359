package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import pando.bench.report.TrialsJson;
import pando.bench.trial.TrialPlan;
import pando.bench.trial.TrialResult;
import pando.bench.trial.TrialSeries;
import pando.cli.option.GivenOptions;
import pando.cli.text.Numbers;
import pando.cli.text.Progress;
import pando.sim.history.HistoryText;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Runs trials, and reports their results. */
final class SimulatedTrials {
  /** Options that are changed or left out in a replay, or named whether they were given or not. */
  private static final Set<String> NOT_REPLAYED =
      Set.of("--index", "--seed", "--seeds", "--history", "--json");

  private final CommandSpec spec;
  private final TrialPlan plan;
  private final LongFunction<TrialResult> trial;
  private final long first;
  private final long seeds;

  /**
   * Readies a series of trials.
   *
   * @param spec of the command
   * @param trial runs a seed of the plan
   * @param first seed
   * @param seeds how many
   */
  SimulatedTrials(
      CommandSpec spec, TrialPlan plan, LongFunction<TrialResult> trial, long first, long seeds) {
    this.spec = spec;
    this.plan = plan;
    this.trial = trial;
    this.first = first;
    this.seeds = seeds;
  }

  /**
   * Runs them.
   *
   * @param history file for the history of the first seed, {@code null} for none
   * @param json file for a summary, {@code null} for none
   * @return the exit code
   */
  int run(@Nullable Path history, @Nullable Path json) throws IOException {
    TrialSeries.Summary summary;
    try (Progress progress = Progress.ofSeeds(seeds)) {
      summary = TrialSeries.run(trial, first, seeds, progress::step);
    }
    if (history != null) {
      try (Writer writer = Files.newBufferedWriter(history)) {
        HistoryText.write(summary.lowest().history(), writer);
      }
    }
    if (json != null) {
      TrialsJson.write(json, summary);
    }
    print(summary);
    return summary.failures() + summary.hangs() == 0
        ? CommandLine.ExitCode.OK
        : CommandLine.ExitCode.SOFTWARE;
  }

  private void print(TrialSeries.Summary summary) {
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        "%s seeds, %s with violations, %s that hang; %s events, %s changes of partitions, %s"
            + " operations of unknown outcome%n",
        Numbers.count(summary.seeds()),
        Numbers.count(summary.failures()),
        Numbers.count(summary.hangs()),
        Numbers.count(summary.events()),
        Numbers.count(summary.changes()),
        Numbers.count(summary.unknown()));
    summary
        .faults()
        .forEach(
            (fault, times) -> out.printf("  %s struck %s times%n", fault, Numbers.count(times)));
    summary.counts().forEach((what, times) -> out.printf("  %s: %s%n", what, Numbers.count(times)));
    TrialResult failed = summary.failed();
    if (failed != null) {
      out.printf(
          "%nSeed %d: %d violations, the first:%n%s%n%nTo replay it: %s%n",
          failed.seed(),
          failed.violations().size(),
          failed.violations().getFirst(),
          replay(failed.seed()));
    }
    TrialResult hanging = summary.hanging();
    if (hanging != null) {
      out.printf(
          "%nSeed %d: %d operations hang once all faults have ended, the first:%n%s%n%nTo replay"
              + " it: %s%n",
          hanging.seed(), hanging.hangs().count(), hanging.hangs().first(), replay(hanging.seed()));
    }
    out.flush();
  }

  /**
   * Returns the command that replays a seed: the index, and the options that were given, with that
   * seed alone.
   */
  private String replay(long seed) {
    List<String> command =
        new ArrayList<>(List.of("./pando", "simulate", "--index=" + plan.name()));
    command.addAll(GivenOptions.arguments(spec, name -> !NOT_REPLAYED.contains(name)));
    command.addAll(List.of("--seeds=1", "--seed=" + seed));
    return String.join(" ", command);
  }
}
