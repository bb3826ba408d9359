package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import pando.bench.console.Numbers;
import pando.bench.console.Progress;
import pando.bench.report.SimReport;
import pando.bench.simulate.IndexRun;
import pando.bench.simulate.LoadedTree;
import pando.bench.simulate.LockRun;
import pando.bench.simulate.SimPlan;
import pando.bench.simulate.SimResult;
import pando.bench.simulate.Trial;
import pando.bench.simulate.TrialPlan;
import pando.bench.simulate.TrialResult;
import pando.bench.simulate.TrialSeries;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.fabric.server.PoolOptions;
import pando.index.dex.DexOptions;
import pando.sim.ClusterModel;
import pando.sim.ClusterOptions;
import pando.sim.fault.Fault;
import pando.sim.history.HistoryText;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

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
      "Counts and sizes: 20M is 20 million, 64KiB is 64 times 1024. Constants of the model are set"
          + " with --set as well, such as --set wire-nanos=900; docs/simulator.md has them all."
    })
final class SimulateCommand implements Callable<Integer> {
  private static final int THREADS_MAX = 1_024;
  private static final int COROUTINES_MAX = 256;
  private static final int LOCKS_MAX = 1 << 20;
  private static final int THETA_MAX = 100;
  private static final int OPERATIONS_MAX = 1_000_000;
  private static final int SEEDS_MAX = 1_000_000_000;
  private static final int TRIAL_CLIENTS_MAX = 48;
  private static final long STUCK_NANOS = 10_000_000_000L;
  private static final long LOCK_POOL_BYTES = 16 << 20;

  @Spec private CommandSpec spec;

  /** What can be simulated. */
  enum Subject {
    /** DEX. */
    DEX,
    /** Locks alone. */
    LOCK;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Reads a subject. */
  static final class SubjectConverter extends NameConverter<Subject> {
    SubjectConverter() {
      super(Subject.class);
    }
  }

  /** Reads a fault. */
  static final class FaultsConverter implements ITypeConverter<Fault> {
    @Override
    public Fault convert(String text) {
      try {
        return Fault.of(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  @Option(
      names = "--index",
      paramLabel = "NAME",
      defaultValue = "dex",
      converter = SubjectConverter.class,
      description = {
        "What to run (default: ${DEFAULT-VALUE}).",
        "dex: the index.",
        "lock: locks alone, taken by CAS and released by WRITE."
      })
  private Subject subject;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      defaultValue = "read-only",
      converter = Choices.WorkloadsConverter.class,
      description = "all, or some, with commas between (default: ${DEFAULT-VALUE}).")
  private Choices.Workloads workloads;

  @Option(
      names = "--distribution",
      paramLabel = "NAME",
      defaultValue = "zipfian",
      converter = Choices.DistributionConverter.class,
      description = "zipfian, zipfian-dex or uniform (default: ${DEFAULT-VALUE}).")
  private Distribution distribution;

  @Option(
      names = "--theta",
      paramLabel = "T",
      defaultValue = "0.99",
      description = "Skew of the Zipfian distributions (default: ${DEFAULT-VALUE}).")
  private double theta;

  @Mixin private LoadOptions loadOptions;

  @Option(
      names = "--warmup",
      paramLabel = "N",
      defaultValue = "1M",
      converter = Quantity.class,
      description =
          "Operations before the clock starts, which take no time (default: ${DEFAULT-VALUE}).")
  private long warmup;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      defaultValue = "20ms",
      converter = VirtualTime.class,
      description =
          "Virtual time to measure: a number and ns, us, ms or s (default: ${DEFAULT-VALUE}).")
  private long nanos;

  @Option(
      names = "--compute-servers",
      paramLabel = "N",
      description = "Compute servers, each with its own keys and cache (default: 4; lock: 7).")
  private @Nullable Integer computeServers;

  @Option(
      names = "--memory-servers",
      paramLabel = "N",
      description = "Memory servers, which hold the nodes (default: 4; lock: 1).")
  private @Nullable Integer memoryServers;

  @Option(
      names = "--processor-threads",
      paramLabel = "N",
      defaultValue = "1",
      description = "Threads of each memory server that serve CALLs (default: ${DEFAULT-VALUE}).")
  private int processorThreads;

  @Option(
      names = "--own-cards",
      description =
          "Gives each server a network card of its own; else compute server i and memory server i"
              + " share one.")
  private boolean ownCards;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads of each compute server, each a core (default: 36; lock: 22).")
  private @Nullable Integer threads;

  @Option(
      names = "--coroutines",
      paramLabel = "N",
      defaultValue = "1",
      description = "Clients of each thread (default: ${DEFAULT-VALUE}).")
  private int coroutines;

  @Option(
      names = "--locks",
      paramLabel = "N",
      defaultValue = "10240",
      description = "With lock, how many there are (default: ${DEFAULT-VALUE}).")
  private int locks;

  @Option(
      names = "--cache",
      paramLabel = "SIZE",
      defaultValue = "8%",
      converter = CacheSize.Converter.class,
      description = "Cache of each compute server, as for bench (default: ${DEFAULT-VALUE}).")
  private CacheSize cache;

  @Option(
      names = "--faults",
      paramLabel = "NAME[,NAME...]",
      split = ",",
      converter = FaultsConverter.class,
      description = {
        "What may go wrong:",
        "torn, delay, pause, clock-jump, lost-completion, broken-list, cut, full-pool,"
            + " crash-compute, crash-memory, wipe-memory."
      })
  private List<Fault> faults = new ArrayList<>();

  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description =
          "A setting of the index, or a constant of the model; may be given several times.")
  private final Map<String, String> settings = new LinkedHashMap<>();

  @Option(
      names = "--seeds",
      paramLabel = "N",
      converter = Quantity.class,
      description = {
        "Runs trials in place of a workload: so many seeds, from --seed on, of a cluster with tiny"
            + " nodes and caches, whose partitions move, on all cores. Checks that every key is"
            + " linearizable, that scans are right, and the whole tree at the end.",
        "Compute servers and memory servers are 3 by default then, and --threads, the clients of"
            + " each compute server, 2."
      })
  private @Nullable Long seeds;

  @Option(
      names = "--operations",
      paramLabel = "N",
      defaultValue = "2000",
      converter = Quantity.class,
      description = "Operations of each trial (default: ${DEFAULT-VALUE}).")
  private long operations;

  @Option(
      names = "--history",
      paramLabel = "FILE",
      description = "With --seeds 1, writes what every client saw, for pando check.")
  private @Nullable Path history;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Writes the results to a file, as an array of JSON objects.")
  private @Nullable Path json;

  private final List<SimReport.Line> lines = new ArrayList<>();

  @Override
  public Integer call() throws IOException, InterruptedException {
    check();
    if (seeds != null) {
      return runTrials(seeds);
    }
    if (subject == Subject.LOCK) {
      add(new SimReport.Line("locks", runLocks()));
    } else {
      runWorkloads();
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print(SimReport.table(lines));
    out.flush();
    return CommandLine.ExitCode.OK;
  }

  private void check() {
    Ranges.check(
        spec, "--compute-servers", computeServers(), 1, ClusterOptions.COMPUTE_SERVERS_MAX);
    Ranges.check(spec, "--memory-servers", memoryServers(), 1, PoolOptions.MEMORY_SERVERS_MAX);
    Ranges.check(
        spec, "--processor-threads", processorThreads, 1, PoolOptions.PROCESSOR_THREADS_MAX);
    Ranges.check(spec, "--threads", threads(), 1, THREADS_MAX);
    Ranges.check(spec, "--coroutines", coroutines, 1, COROUTINES_MAX);
    Ranges.check(spec, "--locks", locks, 1, LOCKS_MAX);
    Ranges.check(spec, "--operations", operations, 1, OPERATIONS_MAX);
    if (seeds != null) {
      Ranges.check(spec, "--seeds", seeds, 1, SEEDS_MAX);
      Ranges.check(
          spec,
          "--threads",
          computeServers() * threads() <= TRIAL_CLIENTS_MAX,
          threads(),
          "clients of all compute servers at most=" + TRIAL_CLIENTS_MAX);
    }
    boolean historyFits = history == null || (seeds != null && seeds == 1);
    Ranges.check(spec, "--history", historyFits, history == null ? "" : history, "needs --seeds 1");
    Ranges.check(spec, "--warmup", warmup, 0, Long.MAX_VALUE >> 20);
    boolean isTheta = theta >= 0 && theta <= THETA_MAX;
    Ranges.check(spec, "--theta", isTheta, theta, "least=0, greatest=" + THETA_MAX);
  }

  private void runWorkloads() throws IOException {
    List<SimPlan> plans = workloads.list().stream().map(this::plan).toList();
    try (LoadedTree tree = LoadedTree.of(plans)) {
      for (SimPlan plan : plans) {
        add(new SimReport.Line(plan.workload().toString(), IndexRun.run(plan, tree)));
      }
    }
  }

  private void add(SimReport.Line line) throws IOException {
    lines.add(line);
    if (json != null) {
      SimReport.write(json, lines);
    }
  }

  private int computeServers() {
    return computeServers != null ? computeServers : byMode(4, 7, 3);
  }

  private int memoryServers() {
    return memoryServers != null ? memoryServers : byMode(4, 1, 3);
  }

  private int threads() {
    return threads != null ? threads : byMode(36, 22, 2);
  }

  private int byMode(int workload, int lock, int trial) {
    return seeds != null ? trial : subject == Subject.LOCK ? lock : workload;
  }

  private int runTrials(long count) throws IOException, InterruptedException {
    Set<Fault> enabled = EnumSet.noneOf(Fault.class);
    enabled.addAll(faults);
    TrialPlan plan =
        new TrialPlan(
            computeServers(), memoryServers(), threads(), (int) operations, enabled, settings());
    TrialSeries.Summary summary;
    try (Progress progress = Progress.ofSeeds(count)) {
      summary = new TrialSeries(plan, loadOptions.seed(), count, STUCK_NANOS, progress::step).run();
    }
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        "%s seeds, %s with violations; %s events, %s changes of partitions, %s operations of"
            + " unknown outcome%n",
        Numbers.count(summary.seeds()),
        Numbers.count(summary.failures()),
        Numbers.count(summary.events()),
        Numbers.count(summary.changes()),
        Numbers.count(summary.unknown()));
    summary
        .faults()
        .forEach(
            (fault, times) -> out.printf("  %s struck %s times%n", fault, Numbers.count(times)));
    TrialResult failed = summary.failed();
    if (failed != null) {
      out.printf(
          "%nSeed %d: %d violations, the first:%n", failed.seed(), failed.violations().size());
      out.println(failed.violations().getFirst());
      out.printf("%nTo replay it: %s%n", replay(failed.seed()));
    }
    out.flush();
    if (history != null) {
      TrialResult result = Trial.run(plan, loadOptions.seed());
      try (Writer writer = Files.newBufferedWriter(history)) {
        HistoryText.write(result.history(), writer);
      }
    }
    return failed == null ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  private Set<String> settings() {
    Set<String> given = new LinkedHashSet<>();
    settings.forEach((name, value) -> given.add(name + "=" + value));
    try {
      // Tells now what the trials would.
      DexOptions checked = DexOptions.defaults();
      for (Map.Entry<String, String> setting : settings.entrySet()) {
        checked = checked.with(setting.getKey(), setting.getValue());
      }
    } catch (IllegalArgumentException e) {
      throw refused(String.valueOf(e.getMessage()), e);
    }
    return given;
  }

  /** Returns the command that replays a seed: the options that were given, with that seed alone. */
  private String replay(long seed) {
    StringBuilder command = new StringBuilder("./pando simulate");
    for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
      if (!Set.of("--seed", "--seeds", "--history", "--json").contains(option.longestName())) {
        option
            .originalStringValues()
            .forEach(value ->
                command.append(' ').append(option.longestName()).append('=').append(value));
      }
    }
    return command + " --seeds=1 --seed=" + seed;
  }

  private SimResult runLocks() {
    ClusterOptions cluster = cluster().withBytesPerServer(LOCK_POOL_BYTES);
    int clients = computeServers() * threads() * coroutines;
    return new LockRun(cluster, locks, theta, clients, nanos, loadOptions.seed()).run();
  }

  private SimPlan plan(Workload workload) {
    return new SimPlan(
        cluster(),
        index(),
        workload,
        distribution,
        theta,
        loadOptions.records(),
        loadOptions.fill(),
        threads(),
        coroutines,
        warmup,
        nanos,
        loadOptions.seed());
  }

  private ClusterOptions cluster() {
    Set<Fault> enabled = EnumSet.noneOf(Fault.class);
    enabled.addAll(faults);
    return ClusterOptions.defaults()
        .withServers(computeServers(), memoryServers())
        .withProcessorThreads(processorThreads)
        .withSharedCards(!ownCards)
        .withModel(model())
        .withFaults(enabled)
        .withSeed(loadOptions.seed());
  }

  private ClusterModel model() {
    ClusterModel model = ClusterModel.defaults();
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      if (ClusterModel.has(setting.getKey())) {
        try {
          model = model.with(setting.getKey(), Double.parseDouble(setting.getValue()));
        } catch (NumberFormatException e) {
          throw refused("'" + setting.getValue() + "' is not a number: " + setting.getKey(), e);
        } catch (IllegalArgumentException e) {
          throw refused(String.valueOf(e.getMessage()), e);
        }
      }
    }
    return model;
  }

  private DexOptions index() {
    try {
      DexOptions options =
          DexOptions.defaults()
              .withComputeServers(computeServers())
              .withCacheBytes(cache.bytesPerServer(loadOptions.records()));
      for (Map.Entry<String, String> setting : settings.entrySet()) {
        if (!ClusterModel.has(setting.getKey())) {
          options = options.with(setting.getKey(), setting.getValue());
        }
      }
      return options;
    } catch (IllegalArgumentException e) {
      throw refused(String.valueOf(e.getMessage()), e);
    }
  }

  private ParameterException refused(String message, Exception cause) {
    return new ParameterException(spec.commandLine(), message, cause);
  }
}
