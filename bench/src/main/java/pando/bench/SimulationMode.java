package pando.bench;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** The kinds of simulations: the options that each takes, and some of its defaults. */
enum SimulationMode {
  /** Workloads on an index. */
  WORKLOADS(
      4,
      4,
      36,
      "--workload, --distribution, --theta, --warmup, --records, --keys, --values, --fill,"
          + " --duration, --log, --processor-threads, --own-cards, --threads, --coroutines,"
          + " --cache"),

  /** Locks alone. */
  LOCKS(
      7,
      1,
      22,
      "--theta, --duration, --own-cards, --threads, --coroutines, --locks," + " --lock-kind"),

  /** Small clusters under faults. */
  TRIALS(3, 3, 2, "--seeds, --threads, --operations, --history, --cluster");

  private static final String COMMON =
      "--index, --compute-servers, --memory-servers, --network, --seed, --faults, --set, --json";

  private final int computeServers;
  private final int memoryServers;
  private final int threads;
  private final String options;

  SimulationMode(int computeServers, int memoryServers, int threads, String options) {
    this.computeServers = computeServers;
    this.memoryServers = memoryServers;
    this.threads = threads;
    this.options = options;
  }

  int computeServers() {
    return computeServers;
  }

  int memoryServers() {
    return memoryServers;
  }

  /** Returns the threads of each compute server; in trials its clients. */
  int threads() {
    return threads;
  }

  /** Refuses given options that this mode would ignore. */
  void check(CommandSpec spec) {
    List<String> taken = List.of((COMMON + ", " + options).split(", "));
    String ignored =
        spec.commandLine().getParseResult().matchedOptions().stream()
            .distinct()
            .filter(option -> !taken.contains(option.longestName()))
            .map(SimulationMode::text)
            .collect(Collectors.joining(", "));
    if (!ignored.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "no use for " + ignored + ": " + this + " take " + options);
    }
  }

  private static String text(OptionSpec option) {
    return option.arity().max() == 0
        ? option.longestName()
        : option.longestName() + "=" + String.join(",", option.originalStringValues());
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
