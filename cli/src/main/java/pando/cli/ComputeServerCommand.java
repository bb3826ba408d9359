package pando.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import pando.cli.cluster.ClusterReport;
import pando.cli.option.AuthenticationOptions;
import pando.cli.option.CardOption;
import pando.cli.option.Choices;
import pando.cli.option.ClientServiceOptions;
import pando.cli.option.HostPort;
import pando.cli.option.HttpOption;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import pando.cli.option.ServedIndex;
import pando.cli.option.SettingOptions;
import pando.cli.text.Numbers;
import pando.cluster.ClientListener;
import pando.cluster.ClusterState;
import pando.cluster.ComputeServerProcess;
import pando.cluster.ComputeServerSettings;
import pando.cluster.Config;
import pando.cluster.CoordinatorLostException;
import pando.cluster.GenerationException;
import pando.cluster.LogMode;
import pando.cluster.Membership;
import pando.cluster.PoolEntry;
import pando.cluster.SessionLostException;
import pando.cluster.WaitOverException;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpOptions;
import pando.index.IndexOptions;
import pando.index.Partitioning;
import pando.index.ServedOptions;
import pando.metrics.PandoHttp;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a compute server of a cluster until it is interrupted, removed or lost. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "compute-server",
    description = {
      "Runs a compute server of a cluster: serves a range of the index to clients.",
      "The first one makes the index. Each further one gets a part of the largest range, and has"
          + " the cluster's index and settings unless it is given its own: a number, addresses and"
          + " a secret are enough."
    },
    preprocessor = ConfigFile.class,
    mixinStandardHelpOptions = true,
    sortOptions = false,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:taken out of the cluster by pando cluster remove",
      "1:a failure",
      "2:a command or options that make no sense",
      "3:lost: others take over its range; start it again",
      "4:ZooKeeper did not answer at the start, or for --coordinator-wait, or others not within"
          + " --start-wait; start it again",
      "130, 143:interrupted, by SIGINT or SIGTERM"
    })
final class ComputeServerCommand implements Callable<Integer> {
  private static final int SECONDS_MAX = 86_400;

  @Spec private CommandSpec spec;

  @SuppressWarnings("UnusedVariable") // ConfigFile reads it.
  @Mixin
  private ConfigOption configOption;

  @Mixin private ClusterOption clusterOption;

  @Option(
      names = "--number",
      paramLabel = "N",
      required = true,
      description = "Its number, 0 to 63, which no other compute server has.")
  private int number;

  @Mixin private ClientServiceOptions serviceOptions;

  @Option(
      names = "--memory-servers",
      paramLabel = "N",
      description =
          "Memory servers of the cluster, numbered from 0; it waits for them. Without this option"
              + " it waits until the cluster has an index, and uses that one's.")
  private @Nullable Integer memoryServers;

  @Option(
      names = "--cache",
      paramLabel = "SIZE",
      converter = Quantity.class,
      description =
          "Its cache (default: 256MiB, or a sixteenth of the memory of the machine or container if"
              + " that is less).")
  private @Nullable Long cache;

  @Option(
      names = "--fabric",
      paramLabel = "NAME",
      defaultValue = "tcp",
      converter = Choices.FabricConverter.class,
      description = "How it reaches memory servers: tcp or verbs (default: ${DEFAULT-VALUE}).")
  private Choices.FabricKind fabric;

  @Mixin private CardOption cardOption;
  @Mixin private AuthenticationOptions authenticationOptions;

  @Option(
      names = "--tls-admin-cert",
      paramLabel = "FILE",
      description = "With TLS, a certificate of the role admin: it fences those that are lost.")
  private @Nullable Path adminCert;

  @Option(names = "--tls-admin-key", paramLabel = "FILE", description = "Its private key.")
  private @Nullable Path adminKey;

  @Option(
      names = "--lease",
      paramLabel = "MILLIS",
      defaultValue = "1000",
      description =
          "For how long it answers from its cache without an answer of memory server 0; that of the"
              + " first compute server counts (default: ${DEFAULT-VALUE}).")
  private int leaseMillis;

  @Option(
      names = "--log",
      paramLabel = "MODE",
      converter = Choices.LogConverter.class,
      description = {
        "Where compute servers log changes that the pool may lack; that of the first compute server"
            + " counts (default: memory).",
        "memory: in the memory of memory servers 0 and 1; nothing acknowledged is lost with a"
            + " compute server. For byte-strings, orca, and dex with keys of 8 bytes.",
        "data: in the data folders of memory servers 0 and 1, with all other entries; nothing"
            + " acknowledged is lost whatever ends, as far as their --sync says.",
        "none: nowhere."
      })
  private @Nullable LogMode log;

  @Option(
      names = "--start-wait",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description =
          "Longest wait for memory servers, the index, or an earlier process of its number"
              + " (default: ${DEFAULT-VALUE}).")
  private int startSeconds;

  @Option(
      names = "--coordinator-wait",
      paramLabel = "SECONDS",
      defaultValue = "600",
      description =
          "For how long it serves on while ZooKeeper does not answer (default: ${DEFAULT-VALUE}).")
  private int coordinatorSeconds;

  @Mixin private HttpOption httpOption;

  @Mixin private ParentOption parentOption;

  @Mixin private ServedIndex servedIndex;
  @Mixin private SettingOptions settingOptions;

  @Override
  public Integer call() throws IOException, InterruptedException {
    parentOption.follow();
    // What was given is checked before anything is connected to.
    Ranges.accepted(spec, () -> settings(given()));
    httpOption.check();
    try {
      return run();
    } catch (CoordinatorLostException | WaitOverException e) {
      return CommandFailures.print(e, spec, ClusterOption.OTHERS_GONE);
    } catch (SessionLostException | FencedException | GenerationException e) {
      return CommandFailures.print(e, spec, ClusterOption.LOST);
    }
  }

  private int run() throws IOException, InterruptedException {
    PandoHttp http = httpOption.open();
    try (http;
        ComputeServerProcess server =
            Ranges.accepted(
                spec, () -> ComputeServerProcess.start(clusterOption::connect, settings()))) {
      Runtime.getRuntime().addShutdownHook(new Thread(server::close, "compute-server-close"));
      print(server, http);
      ComputeServerProcess.End end = server.awaitEnd();
      if (end == ComputeServerProcess.End.LOST) {
        printLoss(server.index().partitioning());
      }
      return exitCode(end);
    }
  }

  /** Returns the settings, completed by the cluster's if it has an index or has to have one. */
  private ComputeServerSettings settings() {
    try (Membership membership = clusterOption.connect()) {
      ClusterState state = new ClusterState(membership);
      Optional<Config> found =
          memoryServers == null
              ? Optional.of(state.awaitConfig(Duration.ofSeconds(startSeconds)))
              : state.config().or(state::lastConfig);
      return settings(found.map(this::completed).orElseGet(this::given));
    }
  }

  /** Says what is lost with this start, and how to come back. */
  private void printLoss(Partitioning known) {
    String keys =
        known.hasServer(number)
            ? "keys from %s on are others' now; without a log, what was not written back is lost"
                .formatted(ClusterReport.low(known, known.rangeOfServer(number)))
            : "it had no range, so nothing is lost";
    PrintWriter err = spec.commandLine().getErr();
    err.printf(
        "%s: compute server %d was fenced; %s. Start it again with its number, to get a range%n",
        spec.qualifiedName(), number, keys);
    err.flush();
  }

  private void print(ComputeServerProcess server, @Nullable PandoHttp http) {
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        "compute server %d is ready at %s for clients, start %d of its number, %s of cache;"
            + " interrupt it to end it%n",
        number,
        HostPort.text(server.clientAddress().orElseThrow()),
        server.epoch(),
        Numbers.size(cacheBytes()));
    if (http != null) {
      http.show(server.index());
      out.printf("live page at %s%n", http.uri());
    }
    out.flush();
  }

  private static int exitCode(ComputeServerProcess.End end) {
    return switch (end) {
      case CLOSED, REMOVED -> 0;
      case LOST -> ClusterOption.LOST;
      case COORDINATOR_GONE -> ClusterOption.OTHERS_GONE;
    };
  }

  /** Returns what the options alone say; without a number of memory servers, there is one. */
  private Config given() {
    ServedOptions options = servedIndex.options(settingOptions);
    Map<String, String> agreed = new LinkedHashMap<>(settingOptions.all());
    agreed.remove("cache-bytes");
    int count = memoryServers == null ? 1 : memoryServers;
    if (log != null && log != LogMode.NONE && !options.isLogged()) {
      throw new ParameterException(
          spec.commandLine(),
          "Invalid value for option '--log': ORCA, DEX with keys of 8 bytes and byte strings alone"
              + " have a log, not "
              + options.system());
    }
    LogMode fitting = options.isLogged() ? LogMode.MEMORY : LogMode.NONE;
    return new Config(options.system(), agreed, count, leaseMillis, log == null ? fitting : log, 0);
  }

  /** Returns what the cluster has agreed on, but for what the options say otherwise. */
  private Config completed(Config found) {
    Config given = given();
    boolean isChosen = spec.commandLine().getParseResult().hasMatchedOption("--index");
    if (isChosen && !given.system().equals(found.system())) {
      return given;
    }
    Map<String, String> all = new LinkedHashMap<>(found.settings());
    all.putAll(given.settings());
    int count = memoryServers == null ? found.memoryServers() : memoryServers;
    return new Config(found.system(), all, count, leaseMillis, log == null ? found.log() : log, 0);
  }

  private ComputeServerSettings settings(Config config) {
    Ranges.check(spec, "--start-wait", startSeconds, 1, SECONDS_MAX);
    Ranges.check(spec, "--coordinator-wait", coordinatorSeconds, 1, SECONDS_MAX);
    ServedOptions options =
        ServedIndex.cached(
            spec,
            ServedIndex.options(config.system(), settingOptions, config.settings()),
            cacheBytes());
    TcpOptions tcp = tcp();
    return new ComputeServerSettings(
        number,
        options,
        config,
        (pool, name) -> attach(pool, name, tcp),
        Optional.of(
            new ClientListener(
                serviceOptions.address(),
                authenticationOptions.authentication(),
                serviceOptions.lanes())),
        Duration.ofSeconds(startSeconds),
        Duration.ofSeconds(coordinatorSeconds));
  }

  private Fabric attach(List<PoolEntry> pool, ComputeServer name, TcpOptions tcp) {
    List<InetSocketAddress> addresses =
        pool.stream().map(entry -> new HostPort().convert(entry.address())).toList();
    return cardOption.attach(fabric, addresses, name.epoch(), tcp.withComputeServer(name));
  }

  private long cacheBytes() {
    return cache == null ? IndexOptions.cacheBytesOfThisMachine() : cache;
  }

  private TcpOptions tcp() {
    if (fabric == Choices.FabricKind.SHM) {
      throw new ParameterException(
          spec.commandLine(),
          "--fabric=shm cannot be fenced, so a cluster does not take it: tcp or verbs");
    }
    TcpOptions tcp = authenticationOptions.tcp();
    if (!(tcp.authentication() instanceof Authentication.Tls own)) {
      return tcp;
    }
    if (adminCert == null || adminKey == null) {
      throw new ParameterException(
          spec.commandLine(),
          "with TLS, --tls-admin-cert and --tls-admin-key are needed, to fence what is lost");
    }
    return tcp.withFencing(Authentication.tls(adminCert, adminKey, own.authorities()));
  }
}
