package pando.cli;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import pando.cli.option.AuthenticationOptions;
import pando.cli.option.HostPort;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import pando.cli.text.Numbers;
import pando.cluster.CoordinatorLostException;
import pando.cluster.MemoryServerProcess;
import pando.cluster.SessionLostException;
import pando.cluster.WaitOverException;
import pando.durable.ClusterFolder;
import pando.fabric.memory.Closing;
import pando.fabric.server.CallHandler;
import pando.fabric.server.HostedMemoryServer;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmMemoryServer;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpException;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.verbs.VerbsException;
import pando.fabric.verbs.VerbsMemoryServer;
import pando.index.Systems;
import pando.journal.LogOptions;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a memory server until it is interrupted. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "memory-server",
    description = "Runs a memory server for other processes, alone or in a cluster.",
    preprocessor = ConfigFile.class,
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "1:a failure",
      "2:a command or options that make no sense",
      "3:its session with ZooKeeper ended at the start; or, with data folders, the pool has ended"
          + " with another memory server, or its folder cannot be written; start it again",
      "4:ZooKeeper did not answer at the start, or its number was taken for --start-wait;"
          + " start it again",
      "130, 143:interrupted, by SIGINT or SIGTERM"
    },
    footer = {
      "",
      "With a name its memory is committed at the start. It runs until it is interrupted;"
          + " its nodes are lost then, but for what is in data folders."
    })
final class MemoryServerCommand implements Callable<Integer> {
  private static final int SECONDS_MAX = 86_400;

  private static final Pattern NUMBER_AT_END = Pattern.compile(".*?(\\d{1,4})");

  @Spec private CommandSpec spec;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "Name to be found by, such as pool0, by processes of this user and machine.")
  private @Nullable String name;

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      converter = HostPort.class,
      description = {
        "In place of a name: address to be reached at by TCP, such as 127.0.0.1:7460.",
        "Without authentication a loopback address, and any user of the machine can connect."
      })
  private @Nullable InetSocketAddress listen;

  @Option(
      names = "--size",
      paramLabel = "SIZE",
      required = true,
      converter = Quantity.class,
      description = "Bytes for nodes, such as 8GiB.")
  private long size;

  @Option(
      names = "--number",
      paramLabel = "N",
      description =
          "Its place, from 0, among the memory servers of a pool (default: the number that the name"
              + " ends with, or 0).")
  private @Nullable Integer number;

  @Option(
      names = "--processors",
      paramLabel = "N",
      defaultValue = "1",
      description = "Threads that serve CALLs (default: ${DEFAULT-VALUE}).")
  private int processors;

  @SuppressWarnings("UnusedVariable") // ConfigFile reads it.
  @Mixin
  private ConfigOption configOption;

  @Mixin private ClusterOption clusterOption;

  @Option(
      names = "--start-wait",
      paramLabel = "SECONDS",
      defaultValue = "20",
      description =
          "With --cluster, longest wait for an earlier process of its number to be known as ended"
              + " (default: ${DEFAULT-VALUE}).")
  private int startSeconds;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "With --cluster, data folder of memory servers 0 and 1 where compute servers have --log"
              + " data: it has all entries of the cluster. It is made if it is not there.")
  private @Nullable Path data;

  @Option(
      names = "--sync",
      paramLabel = "POLICY",
      description =
          "With --data, when a change is acknowledged, as with pando serve: always, everysec, no"
              + " (default: everysec).")
  private @Nullable String sync;

  @Mixin private AuthenticationOptions authenticationOptions;

  @Option(
      names = "--card",
      paramLabel = "NAME",
      description = {
        "With --listen, RDMA card that reaches its memory, see pando verbs.",
        "The keys of the memory pass the network in clear: for a network of its own."
      })
  private @Nullable String card;

  @Mixin private ParentOption parentOption;

  /** Whether its data folder cannot be written any more. */
  private volatile boolean hasFailed;

  private volatile @Nullable MemoryServerProcess running;

  @Override
  public Integer call() throws InterruptedException {
    parentOption.follow();
    if (clusterOption.isGiven()) {
      try (ClusterFolder folder = folder();
          MemoryServerProcess process =
              Ranges.accepted(spec, () -> startInCluster(handlers(folder)))) {
        running = process;
        serve(process.number(), process.place(), () -> close(process, folder));
        process.awaitEnd();
        return hasFailed || process.isOver() ? ClusterOption.LOST : CommandLine.ExitCode.OK;
      } catch (CoordinatorLostException | WaitOverException e) {
        return CommandFailures.print(e, spec, ClusterOption.OTHERS_GONE);
      } catch (SessionLostException e) {
        return CommandFailures.print(e, spec, ClusterOption.LOST);
      }
    } else {
      Ranges.check(spec, "--data", data == null, String.valueOf(data), "only with --cluster");
      Ranges.check(spec, "--sync", sync == null, String.valueOf(sync), "only with --data");
      try (HostedMemoryServer server = Ranges.accepted(spec, this::start)) {
        serve(server.number(), server.place(), server::close);
        server.awaitClosed();
      }
    }
    return CommandLine.ExitCode.OK;
  }

  private void serve(int serverNumber, String place, Runnable close) {
    Runtime.getRuntime().addShutdownHook(new Thread(close, "memory-server-close"));
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        "memory server %d is ready at %s with %s for nodes; interrupt it to end it%n",
        serverNumber, place, Numbers.size(size));
    out.flush();
  }

  private @Nullable ClusterFolder folder() {
    if (sync != null && data == null) {
      throw new ParameterException(spec.commandLine(), "--sync needs --data DIR: sync=" + sync);
    }
    LogOptions options = Ranges.accepted(spec, () -> LogOptions.ofSync(sync));
    return data == null ? null : new ClusterFolder(data, options, this::endSoon);
  }

  /**
   * Ends the memory server, whose folder cannot be written any more; not by a thread of its own.
   */
  private void endSoon() {
    hasFailed = true;
    MemoryServerProcess its = running;
    if (its != null) {
      Thread.ofPlatform().daemon().name("memory-server-fails").start(its::close);
    }
  }

  private static List<CallHandler> handlers(@Nullable ClusterFolder folder) {
    return folder == null ? Systems.handlers() : folder.handlers();
  }

  private static void close(MemoryServerProcess process, @Nullable ClusterFolder folder) {
    Closing.all(process::close, folder == null ? () -> {} : folder::close);
  }

  private MemoryServerProcess startInCluster(List<CallHandler> handlers) {
    if (listen == null || number == null || name != null) {
      throw new ParameterException(
          spec.commandLine(), "--cluster goes with --listen and --number, not with --name");
    }
    InetSocketAddress address = listen;
    int place = number;
    Ranges.check(spec, "--start-wait", startSeconds, 1, SECONDS_MAX);
    boolean holds = data == null || place < ClusterFolder.FOLDERS_MAX;
    Ranges.check(spec, "--data", holds, String.valueOf(data), "only of memory servers 0 and 1");
    return MemoryServerProcess.start(
        clusterOption::connect,
        place,
        size,
        data != null,
        Duration.ofSeconds(startSeconds),
        () -> listening(address, place, handlers));
  }

  private HostedMemoryServer start() {
    if (name != null && listen == null && card == null) {
      authenticationOptions.checkUnused("--listen");
      return ShmMemoryServer.start(name, number(name), options(Systems.handlers()));
    }
    if (listen != null && name == null) {
      return listening(listen, number == null ? 0 : number, Systems.handlers());
    }
    throw new ParameterException(
        spec.commandLine(), "give either --name or --listen, and --card with the latter alone");
  }

  private TcpMemoryServer listening(
      InetSocketAddress address, int place, List<CallHandler> handlers) {
    Authentication authentication = authenticationOptions.authentication();
    try {
      return card == null
          ? TcpMemoryServer.start(address, place, options(handlers), authentication)
          : VerbsMemoryServer.start(address, place, options(handlers), authentication, card);
    } catch (TcpException | VerbsException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private PoolOptions options(List<CallHandler> handlers) {
    return PoolOptions.defaults()
        .withBytesPerServer(size)
        .withProcessorThreads(processors)
        .withHandlers(handlers);
  }

  /** Returns the number that was given, or that a name ends with. */
  private int number(String found) {
    if (number != null) {
      return number;
    }
    Matcher matcher = NUMBER_AT_END.matcher(found);
    return matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
  }
}
