package pando.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import pando.cli.cluster.LocalCluster;
import pando.cli.cluster.WatchedCluster;
import pando.cli.option.HttpOption;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import pando.cli.option.ServedIndex;
import pando.cli.option.SettingOptions;
import pando.cli.text.Numbers;
import pando.fabric.server.PoolOptions;
import pando.index.IndexOptions;
import pando.index.ServedOptions;
import pando.index.bytes.ByteOptions;
import pando.metrics.PandoHttp;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs a whole cluster on this machine, until it is interrupted. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "up",
    description = {
      "Runs a cluster on this machine by one command: ZooKeeper, memory servers, compute servers.",
      "All listen on loopback addresses, and clients need a secret that this command makes."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "It runs until it is interrupted; all that was stored is lost then, unless there is --data."
          + " Processes of compute servers may be killed meanwhile: others take over their ranges,"
          + " and they start again. Where all stand still for a while, as on a laptop that sleeps,"
          + " nothing is lost."
    })
final class UpCommand implements Callable<Integer> {
  private static final int SERVERS_MAX = 16;
  private static final int RANGES_MIN = 4;
  private static final int SESSION_SECONDS_MAX = 60;

  @Spec private CommandSpec spec;

  @Option(
      names = "--memory",
      paramLabel = "N",
      defaultValue = "2",
      description = "Memory servers (default: ${DEFAULT-VALUE}).")
  private int memoryServers;

  @Option(
      names = "--compute",
      paramLabel = "N",
      defaultValue = "2",
      description = "Compute servers (default: ${DEFAULT-VALUE}).")
  private int computeServers;

  @Option(
      names = "--size",
      paramLabel = "SIZE",
      converter = Quantity.class,
      description =
          "Bytes for nodes of each memory server, taken as they are used (default: 1GiB, or"
              + " together half of the memory of the machine or container if that is less).")
  private @Nullable Long size;

  @Option(
      names = "--cache",
      paramLabel = "SIZE",
      defaultValue = "64MiB",
      converter = Quantity.class,
      description = "Cache of each compute server (default: ${DEFAULT-VALUE}).")
  private long cache;

  @Option(
      names = "--session-timeout",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description =
          "After how long without a sign of life a server counts as lost (default:"
              + " ${DEFAULT-VALUE}).")
  private int sessionSeconds;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description =
          "Where it makes a directory for what it keeps while it runs (default: among the"
              + " temporary files).")
  private @Nullable Path directory;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "Where the data folders of memory servers are: what is acknowledged is there at the next"
              + " start, however this one ends. It is made if it is not there (default: none).")
  private @Nullable Path data;

  @Mixin private HttpOption httpOption;
  @Mixin private ServedIndex servedIndex;
  @Mixin private SettingOptions settingOptions;

  private volatile @Nullable WatchedCluster watched;

  @Override
  public Integer call() throws IOException, InterruptedException {
    checkRanges();
    ServedOptions options = ServedIndex.cached(spec, servedIndex.options(settingOptions), cache);
    long start = System.nanoTime();
    PandoHttp http = httpOption.open();
    try (http;
        LocalCluster cluster =
            LocalCluster.start(
                new LocalCluster.Plan(
                    memoryServers,
                    computeServers,
                    String.valueOf(sizeBytes()),
                    Duration.ofSeconds(sessionSeconds),
                    indexOptions(options),
                    directory,
                    data),
                this::print);
        WatchedCluster shown = new WatchedCluster(cluster::openSession, this::printLine)) {
      watched = shown;
      shown.look();
      if (http != null) {
        http.show(shown);
      }
      introduce(cluster, options, System.nanoTime() - start, http);
      while (!cluster.awaitEnd(ClusterCommand.LOOK_INTERVAL)) {
        if (!cluster.isClosed()) {
          shown.look();
        }
      }
      if (!cluster.isClosed()) {
        print("no compute server is left, and none is started again, so this ends");
      }
    }
    return CommandLine.ExitCode.SOFTWARE;
  }

  private void checkRanges() {
    Ranges.check(spec, "--memory", memoryServers, 1, SERVERS_MAX);
    Ranges.check(spec, "--compute", computeServers, 1, SERVERS_MAX);
    Ranges.check(spec, "--session-timeout", sessionSeconds, 1, SESSION_SECONDS_MAX);
    if (data != null) {
      boolean isLogged = servedIndex.options(settingOptions).isLogged();
      Ranges.check(
          spec, "--data", isLogged, data, "for byte-strings, orca, and dex with keys of 8 bytes");
    }
    httpOption.check();
    if (size != null) {
      Ranges.check(spec, "--size", size, PoolOptions.defaults().chunkBytes(), Long.MAX_VALUE);
    }
  }

  /** Returns what each compute server is started with that is about the index. */
  private List<String> indexOptions(ServedOptions options) {
    List<String> index =
        new ArrayList<>(List.of("--index=" + options.system(), "--cache=" + cache));
    if (options instanceof IndexOptions && !settingOptions.all().containsKey("compute-servers")) {
      // As many ranges as an empty index of words can be divided into.
      index.add("--set=compute-servers=" + Math.max(RANGES_MIN, computeServers));
    }
    settingOptions.all().forEach((name, value) -> index.add("--set=" + name + "=" + value));
    return index;
  }

  private long sizeBytes() {
    PoolOptions most =
        PoolOptions.defaults()
            .withMemoryServers(memoryServers)
            .withBytes(PoolOptions.bytesOfThisMachine());
    return size == null ? Math.min(1 << 30, most.bytesPerServer()) : size;
  }

  private void introduce(
      LocalCluster cluster, ServedOptions options, long nanos, @Nullable PandoHttp http) {
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        "%d memory servers and %d compute servers with %s are ready after %s s.%n%n",
        memoryServers, computeServers, options.system(), Numbers.decimal(nanos / 1e9, 1));
    // As the launcher names itself.
    String pando = quoted(System.getProperty("pando.launcher", "./pando"));
    String access =
        " --server=" + cluster.clients() + " --token-file=" + quoted(cluster.secret().toString());
    boolean isOfStrings = options.system().equals(ByteOptions.SYSTEM);
    String key = isOfStrings ? "apple" : "10";
    out.printf("  %s client put%s %s 100%n", pando, access, key);
    out.printf("  %s client get%s %s%n", pando, access, key);
    if (isOfStrings) {
      out.printf("  %s serve --resp=6379%s%n", pando, access);
    }
    out.printf("  %s cluster status --cluster=%s%n", pando, cluster.address());
    out.printf(
        "  %s compute-server --cluster=%s --token-file=%s --number=%d --listen=127.0.0.1:0"
            + " --cache=%d%n%n",
        pando, cluster.address(), quoted(cluster.secret().toString()), computeServers, cache);
    for (int number = 0; number < computeServers; number++) {
      out.printf("compute server %d is process %d%n", number, cluster.computeProcess(number));
    }
    if (http != null) {
      out.printf("live page at %s%n", http.uri());
    }
    out.printf("Ctrl-C ends all.%n");
    out.flush();
  }

  /** Returns a path as a shell takes it for one word. */
  private static String quoted(String path) {
    return path.contains(" ") ? "'" + path.replace("'", "'\\''") + "'" : path;
  }

  private void printLine(String line) {
    PrintWriter err = spec.commandLine().getErr();
    err.println("pando up: " + line);
    err.flush();
  }

  private void print(String line) {
    printLine(line);
    WatchedCluster shown = watched;
    if (shown != null) {
      shown.happened(line);
    }
  }
}
