package pando.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.LongFunction;
import pando.bench.trial.ClusterTrial;
import pando.bench.trial.Trial;
import pando.bench.trial.TrialPlan;
import pando.bench.trial.TrialResult;
import pando.cli.option.Choices;
import pando.cli.option.Ranges;
import pando.cli.option.ServerOptions;
import pando.index.IndexSystem;
import pando.index.ServedOptions;
import pando.index.Systems;
import pando.index.bytes.ByteOptions;
import pando.sim.fault.Fault;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs an index, or locks alone, on a cluster in virtual time. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "simulate",
    description = {
      "Runs a cluster in virtual time: many clients, network cards and memory servers, in one"
          + " thread, from a seed. The same seed gives the same run."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Without --seeds, --cache, --distribution, --threads, --processor-threads and --lock-kind"
          + " take lists with commas between: every combination runs, on a tree that is loaded"
          + " once.",
      "With --index lock there are 7 compute servers, 1 memory server and 22 threads where nothing"
          + " else is said; with --seeds 3, 3 and 2. What one of the three has no use for is"
          + " refused.",
      "Counts and sizes: 20M is 20 million, 64KiB is 64 times 1024. Constants of the model are set"
          + " with --set as well, such as --set wire-nanos=900; docs/simulator.md has them all.",
      "An operation takes 500 ns of processor time, in sherman, p-sherman and fg 2,500. Figures of"
          + " pando compare take 500 for all, except sherman-10 and sherman-11; --set"
          + " operation-nanos=500 does the same here."
    })
final class SimulateCommand implements Callable<Integer> {
  private static final int TRIAL_CLIENTS_MAX = 48;

  @Spec private CommandSpec spec;

  @Option(
      names = "--index",
      paramLabel = "NAME",
      defaultValue = Systems.DEFAULT,
      converter = BenchChoices.SimulatedConverter.class,
      completionCandidates = Choices.IndexNames.class,
      description = {
        "What to run (default: ${DEFAULT-VALUE}).",
        "${COMPLETION-CANDIDATES}: an index. What each is, and its settings, are listed below.",
        "byte-strings: clusters of those, with --cluster.",
        "lock: locks alone, of the kinds that --lock-kind names."
      })
  private BenchChoices.Simulated simulated;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      defaultValue = "read-only",
      converter = BenchChoices.WorkloadsConverter.class,
      description = {
        "all, or some, with commas between (default: ${DEFAULT-VALUE}):",
        BenchChoices.WorkloadsConverter.NAMES
      })
  private BenchChoices.Workloads workloads;

  @Mixin private DrawOptions drawOptions;
  @Mixin private LoadOptions loadOptions;
  @Mixin private ServerOptions serverOptions;
  @Mixin private SimulationOptions simulationOptions;
  @Mixin private ModelSettings settingOptions;
  @Mixin private TrialOptions trialOptions;
  @Mixin private JsonOption jsonOption;

  @Override
  public Integer call() throws IOException {
    jsonOption.check();
    IndexSystem index = simulated.index();
    if (trialOptions.areAskedFor()) {
      Ranges.check(spec, "--index", index != null, "lock", "trials run an index");
    }
    boolean isReady = !simulated.strings() || trialOptions.areOfClusters();
    Ranges.check(spec, "--index", isReady, ByteOptions.SYSTEM, "they run with --cluster alone");
    if (index != null && trialOptions.areAskedFor()) {
      return runTrials(index);
    }
    SimulationOutput output = new SimulationOutput(jsonOption.file());
    if (index == null) {
      runLocks(output);
    } else {
      runWorkloads(index, output);
    }
    output.print(spec.commandLine().getOut());
    return CommandLine.ExitCode.OK;
  }

  private void runLocks(SimulationOutput output) throws IOException {
    SimulationMode.LOCKS.check(spec);
    new SimulatedLocks(drawOptions, loadOptions, serverOptions, simulationOptions, settingOptions)
        .run(output);
  }

  private void runWorkloads(IndexSystem index, SimulationOutput output) throws IOException {
    SimulationMode.WORKLOADS.check(spec);
    new SimulatedWorkloads(
            spec,
            index,
            workloads.list(),
            drawOptions,
            loadOptions,
            serverOptions,
            simulationOptions,
            settingOptions)
        .run(output);
  }

  private int runTrials(IndexSystem index) throws IOException {
    SimulationMode.TRIALS.check(spec);
    Path history = trialOptions.history();
    TrialPlan plan = trialPlan(index);
    return new SimulatedTrials(spec, plan, trial(plan), loadOptions.seed(), trialOptions.seeds())
        .run(history, jsonOption.file());
  }

  private LongFunction<TrialResult> trial(TrialPlan plan) {
    if (trialOptions.areOfClusters()) {
      Ranges.accepted(
          spec,
          () -> {
            ClusterTrial.check(plan);
            return plan;
          });
      return seed -> ClusterTrial.run(plan, seed);
    }
    boolean areBare = plan.faults().stream().noneMatch(Fault::isOfClusters);
    Ranges.check(spec, "--faults", areBare, plan.faults(), "some need --cluster");
    return seed -> Trial.run(plan, seed);
  }

  private TrialPlan trialPlan(IndexSystem index) {
    SimulationMode mode = SimulationMode.TRIALS;
    ServedOptions known = simulated.strings() ? ByteOptions.defaults() : index.defaults();
    settingOptions.checkKnown(known, settingOptions.withoutModel().keySet());
    int computeServers = serverOptions.computeServers(mode.computeServers());
    int clients = Ranges.single(spec, "--threads", simulationOptions.threads(mode));
    boolean areFew = clients * computeServers <= TRIAL_CLIENTS_MAX;
    String limit = "clients of all compute servers at most=" + TRIAL_CLIENTS_MAX;
    Ranges.check(spec, "--threads", areFew, clients, limit);
    return Ranges.accepted(
        spec,
        () ->
            new TrialPlan(
                index,
                computeServers,
                serverOptions.memoryServers(mode.memoryServers()),
                clients,
                trialOptions.operations(),
                TrialPlan.KEYS,
                simulationOptions.network(),
                simulationOptions.faults(),
                settingOptions.model(),
                settingOptions.withoutModel(),
                simulated.strings()));
  }
}
