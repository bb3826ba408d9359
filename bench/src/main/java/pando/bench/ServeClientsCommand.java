package pando.bench;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import pando.bench.console.Numbers;
import pando.client.Routes;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpException;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Serves an index of 8-byte keys and values to Pando's own clients, until it is interrupted. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "serve-clients",
    description =
        "Serves an index of 8-byte keys and values to pando client, and programs with"
            + " pando.client.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "All compute servers are in this process. It runs until it is interrupted; what is in a"
          + " local pool is lost then."
    })
final class ServeClientsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      required = true,
      converter = HostPort.class,
      description = {
        "Address for clients, such as 127.0.0.1:7480; port 0 takes any free one, and prints it.",
        "Without authentication a loopback address, and any user of the machine can connect."
      })
  private InetSocketAddress listen;

  @Option(
      names = "--lanes",
      paramLabel = "N",
      description = "Threads that serve connections (default: one for each processor).")
  private @Nullable Integer lanes;

  @Option(
      names = "--cache",
      paramLabel = "SIZE",
      converter = Quantity.class,
      description = "Cache of each compute server (default: 256MiB).")
  private @Nullable Long cache;

  @Mixin private ChosenIndex chosenIndex;
  @Mixin private PoolOption poolOption;
  @Mixin private AuthenticationOptions authenticationOptions;
  @Mixin private SettingOptions settingOptions;

  private final CountDownLatch interrupted = new CountDownLatch(1);

  @Override
  public Integer call() throws InterruptedException {
    IndexOptions options = chosenIndex.options(settingOptions);
    IndexOptions cached = cache == null ? options : options.withCacheBytes(cache);
    Fabric fabric = Ranges.accepted(spec, poolOption::open);
    try (fabric;
        RangeIndex index = Ranges.accepted(spec, () -> created(fabric, cached));
        ClientService service = Ranges.accepted(spec, () -> started(index))) {
      Thread hook = new Thread(() -> close(service, index, fabric), "serve-clients-close");
      Runtime.getRuntime().addShutdownHook(hook);
      PrintWriter out = spec.commandLine().getOut();
      out.printf(
          "%s for clients at %s, pool %s, %s of cache for each compute server; interrupt it to end"
              + " it%n",
          index.name(),
          HostPort.text(service.address()),
          poolOption,
          Numbers.bytes(cached.cacheBytes()));
      out.flush();
      interrupted.await();
    }
    return CommandLine.ExitCode.OK;
  }

  /** Ends all in order; the process may end as soon as this returns. */
  private void close(ClientService service, RangeIndex index, Fabric fabric) {
    Closing.all(service::close, index::close, fabric::close, interrupted::countDown);
  }

  private static RangeIndex created(Fabric fabric, IndexOptions options) {
    try {
      return options.create(fabric);
    } catch (IllegalStateException isThere) {
      throw new IllegalArgumentException(isThere.getMessage(), isThere);
    }
  }

  private ClientService started(RangeIndex index) {
    Authentication authentication = authenticationOptions.authentication();
    int count =
        lanes == null
            ? Math.min(Runtime.getRuntime().availableProcessors(), ClientService.LANES_MAX)
            : lanes;
    try {
      return ClientService.start(index, listen, authentication, Routes::alone, count);
    } catch (TcpException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }
}
