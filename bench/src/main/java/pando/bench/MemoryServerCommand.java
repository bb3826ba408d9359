package pando.bench;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import pando.bench.cluster.JavaProcess;
import pando.bench.console.Numbers;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmMemoryServer;
import pando.index.Systems;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs a memory server until it is interrupted. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "memory-server",
    description = "Runs a memory server for other processes of this user and machine.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Its memory is committed at the start. It runs until it is interrupted;"
          + " its nodes are lost then."
    })
final class MemoryServerCommand implements Callable<Integer> {
  private static final Pattern NUMBER_AT_END = Pattern.compile(".*?(\\d{1,4})");

  @Spec private CommandSpec spec;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      required = true,
      description = "Name to be found by, such as pool0.")
  private String name;

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
      description = {
        "Its place, from 0, among the memory servers of a pool",
        "(default: the number that the name ends with, or 0)."
      })
  private @Nullable Integer number;

  @Option(
      names = "--processors",
      paramLabel = "N",
      defaultValue = "1",
      description = "Threads that serve CALLs (default: ${DEFAULT-VALUE}).")
  private int processors;

  @Option(names = "--parent", hidden = true, description = "Process to end with.")
  private @Nullable Long parent;

  @Override
  public Integer call() throws InterruptedException {
    if (parent != null) {
      JavaProcess.endWith(parent);
    }
    try (ShmMemoryServer server = Ranges.accepted(spec, this::start)) {
      Runtime.getRuntime().addShutdownHook(new Thread(server::close, "memory-server-close"));
      PrintWriter out = spec.commandLine().getOut();
      out.printf(
          "memory server %s is ready with %s for nodes; interrupt it to end it%n",
          name, Numbers.bytes(size));
      out.flush();
      server.awaitClosed();
    }
    return 0;
  }

  private ShmMemoryServer start() {
    PoolOptions options =
        PoolOptions.defaults()
            .withBytesPerServer(size)
            .withProcessorThreads(processors)
            .withHandlers(Systems.handlers());
    return ShmMemoryServer.start(name, number(), options);
  }

  private int number() {
    if (number != null) {
      return number;
    }
    Matcher matcher = NUMBER_AT_END.matcher(name);
    return matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
  }
}
