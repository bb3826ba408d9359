package pando.bench;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.bench.simulate.LockKind;
import pando.bench.workload.Values;
import pando.cli.option.Ranges;
import pando.cli.option.ServerOptions;
import pando.fabric.server.PoolOptions;
import pando.sim.ClusterOptions;
import pando.sim.NetworkKind;
import pando.sim.fault.Fault;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options for the cluster in virtual time, and for the length of a run. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class SimulationOptions {
  private static final int THREADS_MAX = 1_024;
  private static final int COROUTINES_MAX = 256;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--threads",
      paramLabel = "N",
      split = ",",
      description = "Threads of each compute server, each a core (default: 36).")
  private @Nullable List<Integer> threads;

  @Option(
      names = "--coroutines",
      paramLabel = "N",
      defaultValue = "1",
      description = "Clients of each thread, which share its core (default: ${DEFAULT-VALUE}).")
  private int coroutines;

  @Option(
      names = "--processor-threads",
      paramLabel = "N",
      defaultValue = "1",
      split = ",",
      description =
          "Threads of each memory server that serve CALLs, and over tcp all verbs (default:"
              + " ${DEFAULT-VALUE}).")
  private List<Integer> processorThreads;

  @Option(
      names = "--network",
      paramLabel = "NAME",
      defaultValue = "cards",
      converter = BenchChoices.NetworkConverter.class,
      description = {
        "What is between the servers (default: ${DEFAULT-VALUE}):",
        "cards, which serve verbs by themselves, as in RDMA; tcp, where processors of the memory"
            + " servers do, as many as --processor-threads says, and the clients of a core share"
            + " connections."
      })
  private NetworkKind network;

  @Option(
      names = "--own-cards",
      description =
          "Gives each server a network card of its own; else compute server i and memory server i"
              + " share one.")
  private boolean ownCards;

  @Option(
      names = "--locks",
      paramLabel = "N",
      defaultValue = "10240",
      description = "With lock, how many there are (default: ${DEFAULT-VALUE}).")
  private int locks;

  @Option(
      names = "--lock-kind",
      paramLabel = "NAME",
      defaultValue = "cas",
      split = ",",
      converter = BenchChoices.LockKindConverter.class,
      description = {
        "With lock, how they are taken (default: ${DEFAULT-VALUE}):",
        "cas, in host memory; chip-cas, sx-shared, sx-exclusive, in the card's."
      })
  private List<LockKind> lockKinds;

  @Option(
      names = "--values",
      paramLabel = "NAME",
      defaultValue = "changing",
      converter = BenchChoices.ValuesConverter.class,
      description = {
        "What updates write (default: ${DEFAULT-VALUE}):",
        "changing: each update writes a new value.",
        "same: all updates of a record write one value, so only the first changes it."
      })
  private Values values;

  @Option(
      names = "--log",
      description =
          "Has memory servers hold a log of what changes in their memory, as in clusters.")
  private boolean log;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      defaultValue = "20ms",
      converter = VirtualTime.class,
      description =
          "Virtual time to measure: a number and ns, us, ms or s (default: ${DEFAULT-VALUE}).")
  private long nanos;

  @Option(
      names = "--faults",
      paramLabel = "NAME",
      split = ",",
      converter = BenchChoices.FaultConverter.class,
      description = {
        "What may go wrong:",
        "torn, late-read, delay, pause, clock-jump, fence, lost-completion, broken-list, reconnect,"
            + " cut, full-pool, crash-compute, crash-memory, wipe-memory; with --cluster"
            + " session-lost, stale-route, cut-client, lose-memory and restart-all."
      })
  private List<Fault> faults = new ArrayList<>();

  NetworkKind network() {
    return network;
  }

  Values values() {
    return values;
  }

  boolean isLogged() {
    return log;
  }

  /** Returns the numbers of threads to run with. */
  List<Integer> threads(SimulationMode mode) {
    return threads == null ? List.of(mode.threads()) : checked("--threads", threads, THREADS_MAX);
  }

  int coroutines() {
    Ranges.check(spec, "--coroutines", coroutines, 1, COROUTINES_MAX);
    return coroutines;
  }

  /** Returns the numbers of processor threads to run with. */
  List<Integer> processorThreads() {
    return checked("--processor-threads", processorThreads, PoolOptions.PROCESSOR_THREADS_MAX);
  }

  private List<Integer> checked(String option, List<Integer> counts, int greatest) {
    counts.forEach(count -> Ranges.check(spec, option, count, 1, greatest));
    return Ranges.several(spec, option, counts);
  }

  /** Returns the kinds of locks to run with. */
  List<LockKind> lockKinds() {
    return Ranges.several(spec, "--lock-kind", lockKinds);
  }

  int locks(LockKind kind) {
    Ranges.check(spec, "--locks", locks, 1, kind.locksMax());
    return locks;
  }

  long nanos() {
    return nanos;
  }

  Set<Fault> faults() {
    Set<Fault> set = EnumSet.noneOf(Fault.class);
    set.addAll(faults);
    return set;
  }

  /** Returns the cluster, with one processor thread and the default model. */
  ClusterOptions cluster(SimulationMode mode, ServerOptions servers, long seed) {
    return ClusterOptions.defaults()
        .withServers(
            servers.computeServers(mode.computeServers()),
            servers.memoryServers(mode.memoryServers()))
        .withSharedCards(!ownCards)
        .withNetwork(network)
        .withFaults(faults())
        .withSeed(seed);
  }
}
