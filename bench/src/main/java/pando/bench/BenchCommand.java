package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import pando.bench.btree.BTreeSubject;
import pando.bench.cluster.ProcessTestbed;
import pando.bench.keys.KeySet;
import pando.bench.report.ResultsJson;
import pando.bench.report.ResultsTable;
import pando.bench.run.Activity;
import pando.bench.run.Experiment;
import pando.bench.run.LocalTestbed;
import pando.bench.run.Plan;
import pando.bench.run.Result;
import pando.bench.run.Setup;
import pando.bench.run.Testbed;
import pando.bench.subject.IndexSubject;
import pando.bench.subject.PoolSize;
import pando.bench.subject.SkipListSubject;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.cli.option.AuthenticationOptions;
import pando.cli.option.CardOption;
import pando.cli.option.Choices;
import pando.cli.option.ChosenIndex;
import pando.cli.option.GivenOptions;
import pando.cli.option.HostPort;
import pando.cli.option.HttpOption;
import pando.cli.option.Ranges;
import pando.cli.option.ServerOptions;
import pando.cli.option.SettingOptions;
import pando.cli.text.Numbers;
import pando.cli.text.SpaceTable;
import pando.fabric.Fabric;
import pando.index.IndexOptions;
import pando.index.PoolSpace;
import pando.index.RangeIndex;
import pando.metrics.PandoHttp;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures indexes, and the peers that they are compared with. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "bench",
    description =
        "Runs the workloads of the DEX paper, or YCSB's, and checks every value that is read.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Counts and sizes: 20M is 20 million, 64KiB is 64 times 1024.",
      "After a workload with inserts the index is loaded again; otherwise it is reused. Operations"
          + " are drawn in advance, so throughput counts the operations alone; one in 16 is timed"
          + " by itself for the latencies."
    })
final class BenchCommand implements Callable<Integer>, Experiment.Listener {
  private static final int LOCAL_MEMORY_SERVERS = 4;
  private static final int PROCESS_MEMORY_SERVERS = 2;
  private static final int COMPUTE_PROCESSES = 2;

  /** Maximum share of the Java heap for the objects of a skip list. */
  private static final double HEAP_SHARE_MAX = 0.6;

  @Spec private CommandSpec spec;

  @Mixin private WorkloadOptions workloads;
  @Mixin private LoadOptions loadOptions;
  @Mixin private DrawOptions drawOptions;
  @Mixin private PlanOptions planOptions;
  @Mixin private ChosenIndexes chosenIndexes;
  @Mixin private ServerOptions serverOptions;
  @Mixin private SettingOptions settingOptions;

  @Option(
      names = "--fabric",
      paramLabel = "NAME",
      defaultValue = "local",
      converter = Choices.FabricConverter.class,
      description = {
        "Where the memory servers are (default: ${DEFAULT-VALUE}).",
        "local: in this process.",
        "shm: each in a process of its own, joined by shared memory.",
        "tcp: each in a process of its own, reached by TCP: on this machine, or where"
            + " --memory-server says.",
        "verbs: likewise, and its memory by RDMA."
      })
  private Choices.FabricKind fabric;

  @Option(
      names = "--memory-server",
      paramLabel = "HOST:PORT",
      split = ",",
      converter = HostPort.class,
      description =
          "With tcp or verbs, memory servers that run already, in the order of their numbers, and"
              + " have no index yet, see pando memory-server.")
  private List<InetSocketAddress> addresses = List.of();

  @Mixin private AuthenticationOptions authenticationOptions;
  @Mixin private CardOption cardOption;

  @Option(
      names = "--compute-processes",
      paramLabel = "N",
      description =
          "With shm, tcp or verbs, processes that share the compute servers (default: "
              + COMPUTE_PROCESSES
              + "; with --memory-server, all are in this process).")
  private @Nullable Integer computeProcesses;

  @Option(
      names = "--peer",
      paramLabel = "NAME",
      defaultValue = "none",
      split = ",",
      converter = BenchChoices.PeerConverter.class,
      description = {
        "What to compare with, on the same operations (default: ${DEFAULT-VALUE}).",
        "skiplist: the JDK's ConcurrentSkipListMap, filled in random order.",
        "skiplist-sorted: the same, filled in the order of keys, which lays neighbours side by"
            + " side.",
        "btree: a plain B+-tree in off-heap memory without any fabric."
      })
  private List<BenchChoices.Peer> peers;

  @Option(
      names = "--stat",
      description =
          "Says at the end where every byte of the pool is. Only with --fabric local; pando stat"
              + " does it for memory servers in processes of their own.")
  private boolean stat;

  @Mixin private HttpOption httpOption;
  @Mixin private JsonOption jsonOption;

  private final List<Result> results = new ArrayList<>();
  private final Activity activity = new Activity();

  /** The index that was loaded last. */
  private @Nullable RangeIndex index;

  /** The pool of each index, by its name, at the end of the last workload. */
  private final Map<String, PoolSpace> spaces = new LinkedHashMap<>();

  @Override
  public Integer call() throws IOException {
    Plan plan = planOptions.plan(workloads, loadOptions, drawOptions);
    List<IndexOptions> indexes =
        chosenIndexes.options(serverOptions, settingOptions, plan.recordsToCache());
    check(plan, indexes.getFirst().computeServers());
    try (PandoHttp http = httpOption.open()) {
      introduce(plan, indexes.stream().map(this::setup).toList(), http);
      for (IndexOptions options : indexes) {
        measure(setup(options), plan, inserts -> loadIndex(plan, options, inserts, http));
      }
      for (BenchChoices.Peer peer : peers) {
        measurePeer(peer, plan);
      }
    } finally {
      // Where an index is refused, those before it were measured.
      if (!results.isEmpty()) {
        report(plan);
      }
    }
    return CommandLine.ExitCode.OK;
  }

  private Setup setup(IndexOptions options) {
    return new Setup(
        options.system(),
        fabric.toString(),
        options.computeServers(),
        memoryServers(),
        options.cacheBytes());
  }

  private int memoryServers() {
    return switch (fabric) {
      case LOCAL -> serverOptions.memoryServers(LOCAL_MEMORY_SERVERS);
      case SHM -> serverOptions.memoryServers(PROCESS_MEMORY_SERVERS);
      case TCP, VERBS ->
          addresses.isEmpty()
              ? serverOptions.memoryServers(PROCESS_MEMORY_SERVERS)
              : addresses.size();
    };
  }

  /** Returns whether all compute servers are in this process. */
  private boolean isHere() {
    return fabric == Choices.FabricKind.LOCAL || (!addresses.isEmpty() && computeProcesses == null);
  }

  private int computeProcesses() {
    return computeProcesses == null ? COMPUTE_PROCESSES : computeProcesses;
  }

  private void check(Plan plan, int computeServers) {
    jsonOption.check();
    httpOption.check();
    cardOption.check(fabric);
    checkTcp();
    checkProcesses(plan, computeServers);
    boolean noPeer = peers.equals(List.of(BenchChoices.Peer.NONE));
    Ranges.check(spec, "--lanes", plan.lanes() == 0 || noPeer, plan.lanes(), "not with --peer");
    if (peers.contains(BenchChoices.Peer.SKIPLIST)
        || peers.contains(BenchChoices.Peer.SKIPLIST_SORTED)) {
      checkHeap(plan);
    }
  }

  private void checkTcp() {
    if (addresses.isEmpty()) {
      authenticationOptions.checkUnused("--memory-server");
      return;
    }
    Ranges.check(
        spec, "--memory-server", fabric.isRemote(), addresses, "only with --fabric tcp or verbs");
    Ranges.check(
        spec,
        "--memory-servers",
        serverOptions.memoryServers(addresses.size()) == addresses.size(),
        addresses,
        "as many as --memory-server names");
    // The memory servers are not started anew for a second load.
    chosenIndexes.checkSingle();
    List<Workload> all = workloads.list();
    boolean oneLoad = all.stream().limit(all.size() - 1L).noneMatch(Workload::inserts);
    Ranges.check(spec, "--workload", oneLoad, all, "with --memory-server only the last may insert");
  }

  private void checkProcesses(Plan plan, int computeServers) {
    if (isHere()) {
      Ranges.check(
          spec,
          "--compute-processes",
          computeProcesses == null,
          computeProcesses(),
          "only with --fabric shm, tcp or verbs");
      return;
    }
    // Each compute process needs at least one compute server and one thread.
    int most = Math.min(computeServers, plan.threads());
    Ranges.check(spec, "--compute-processes", computeProcesses(), 1, most);
    String needed = "only where all compute servers are in this process";
    Ranges.check(spec, "--http", !httpOption.isGiven(), fabric, needed);
    Ranges.check(spec, "--stat", !stat, stat, needed);
  }

  private void checkHeap(Plan plan) {
    long inserts = workloads.list().stream().mapToLong(plan::insertsMax).max().orElse(0);
    long bytes = (plan.records() + inserts) * SkipListSubject.BYTES_PER_RECORD;
    long heap = Runtime.getRuntime().maxMemory();
    if (bytes > heap * HEAP_SHARE_MAX) {
      throw new ParameterException(
          spec.commandLine(),
          "a skip list needs more Java heap, such as PANDO_JAVA_OPTS=-Xmx"
              + (long) Math.ceil(bytes / HEAP_SHARE_MAX / (1 << 30))
              + "g: records="
              + (plan.records() + inserts)
              + ", bytes="
              + bytes
              + ", heap="
              + heap);
    }
  }

  private void introduce(Plan plan, List<Setup> setups, @Nullable PandoHttp http) {
    PrintWriter out = spec.commandLine().getOut();
    boolean isUniform = plan.distribution() == Distribution.UNIFORM;
    out.printf(
        "%s records of 16 bytes%s at fill %s, %s%s, seed %d%n",
        Numbers.count(plan.records()),
        plan.keys() == KeySet.UNIFORM ? "" : " with " + plan.keys() + " keys",
        Numbers.decimal(plan.fill(), 2),
        plan.distribution(),
        isUniform ? "" : " " + plan.theta(),
        plan.seed());
    for (Setup setup : setups) {
      out.printf(
          "%s over %s: %d compute servers with %s of cache each, %d memory servers, %s%n",
          setup.index(),
          setup.fabric(),
          setup.computeServers(),
          Numbers.size(setup.cacheBytesPerServer()),
          setup.memoryServers(),
          plan.lanes() == 0
              ? plan.threads() + " threads"
              : plan.threads() + " sessions in " + plan.lanes() + " lanes");
    }
    if (http != null) {
      out.printf("live page at %s%n", http.uri());
    }
    out.flush();
  }

  private void measurePeer(BenchChoices.Peer peer, Plan plan) throws IOException {
    Experiment.TestbedSource source =
        switch (peer) {
          case SKIPLIST ->
              inserts -> LocalTestbed.load(SkipListSubject.shuffled(plan.seed()), plan);
          case SKIPLIST_SORTED -> inserts -> LocalTestbed.load(SkipListSubject.sorted(), plan);
          case BTREE ->
              inserts ->
                  LocalTestbed.load(
                      new BTreeSubject(PoolSize.bytes(plan.records(), inserts, plan.fill())), plan);
          case NONE -> null;
        };
    if (source != null) {
      measure(Setup.peer(peer.toString()), plan, source);
    }
  }

  private void measure(Setup setup, Plan plan, Experiment.TestbedSource source) throws IOException {
    new Experiment(setup, plan, source, this).run(workloads.list());
  }

  @Override
  public void onLoad(Setup setup, Duration time, double rate) {
    String seconds = Numbers.decimal(time.toMillis() / 1e3, 1);
    String taken =
        rate == 0 ? "" : ", " + Numbers.decimal(rate / 1e6, 1) + " M records a second once sorted";
    spec.commandLine().getErr().printf("%s: loaded in %s s%s%n", setup.index(), seconds, taken);
  }

  @Override
  public void onResult(Result result) throws IOException {
    results.add(result);
    if (stat && index != null && !index.isClosed()) {
      spaces.put(result.setup().index(), index.space());
    }
    Path json = jsonOption.file();
    if (json != null) {
      ResultsJson.write(json, results);
    }
    spec.commandLine()
        .getErr()
        .printf(
            "%s: %s, %s Mops/s%n",
            result.setup().index(),
            result.workload(),
            Numbers.decimal(result.measurement().throughput / 1e6, 3));
  }

  private Testbed loadIndex(Plan plan, IndexOptions options, long inserts, @Nullable PandoHttp http)
      throws IOException {
    long bytes = PoolSize.of(options, plan.records(), inserts, plan.fill());
    try {
      return isHere()
          ? loadHere(plan, options, bytes, http)
          : loadInProcesses(plan, options, bytes);
    } catch (IllegalArgumentException e) {
      // The fabric may lack what the index needs, or the cache may be too small for its directory.
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private Testbed loadHere(Plan plan, IndexOptions options, long bytes, @Nullable PandoHttp http) {
    IndexSubject subject =
        addresses.isEmpty()
            ? IndexSubject.openLocal(options, memoryServers(), bytes, plan.seed())
            : IndexSubject.open(options, attach(plan));
    index = subject.index();
    if (http != null) {
      http.show(subject.index(), activity);
    }
    return LocalTestbed.load(subject, plan, activity);
  }

  private Testbed loadInProcesses(Plan plan, IndexOptions options, long bytes) throws IOException {
    if (addresses.isEmpty()) {
      return ProcessTestbed.start(
          ownMemoryServers(options, bytes), computeProcesses(), childArguments(options));
    }
    // What is wrong with the addresses is said once, by this process.
    attach(plan).close();
    return ProcessTestbed.attach(
        addresses.stream().map(HostPort::text).toList(),
        computeProcesses(),
        childArguments(options));
  }

  /** Returns the options of the memory servers that this benchmark starts. */
  private List<List<String>> ownMemoryServers(IndexOptions options, long bytes) {
    int servers = memoryServers();
    long bytesPerServer =
        PoolSize.bytesPerServer(
            PoolSize.withKeys(bytes, options.keyBytes()), servers, options.computeServers());
    String size = "--size=" + bytesPerServer;
    return IntStream.range(0, servers).mapToObj(number -> ownMemoryServer(number, size)).toList();
  }

  private List<String> ownMemoryServer(int number, String size) {
    List<String> options = new ArrayList<>(List.of(place(number), "--number=" + number, size));
    if (fabric == Choices.FabricKind.VERBS) {
      options.add("--card=" + cardOption.card());
    }
    return options;
  }

  private String place(int number) {
    return fabric == Choices.FabricKind.SHM
        ? "--name=bench-" + ProcessHandle.current().pid() + "-" + number
        : "--listen=127.0.0.1:0";
  }

  private Fabric attach(Plan plan) {
    return cardOption.attach(fabric, addresses, plan.seed(), authenticationOptions.tcp());
  }

  /** Returns the index, and the given options that compute processes take as well. */
  private List<String> childArguments(IndexOptions options) {
    CommandSpec child = CommandSpec.forAnnotatedObject(new BenchServersCommand());
    List<String> arguments = new ArrayList<>(List.of(ChosenIndex.NAME + "=" + options.system()));
    arguments.addAll(
        GivenOptions.arguments(
            spec, name -> !name.equals(ChosenIndex.NAME) && child.findOption(name) != null));
    return arguments;
  }

  private void report(Plan plan) {
    PrintWriter out = spec.commandLine().getOut();
    ResultsTable table = new ResultsTable(results);
    out.printf("%n%s%nPer operation:%n%s", table.speed(), table.cost());
    if (plan.distribution() == Distribution.ZIPFIAN_DEX) {
      out.printf("zipfian-dex never asks for 36.8 %% of the records, which flatters caches.%n");
    }
    if (results.stream().anyMatch(result -> result.measurement().operations < plan.operations())) {
      out.println("Some workloads were ended early, after the time that --seconds sets.");
    }
    spaces.forEach((system, space) ->
        out.printf(
            "%nThe pool of %s at the end of the last workload:%n%s", system, SpaceTable.of(space)));
    out.flush();
  }
}
