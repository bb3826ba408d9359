package pando.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.cli.option.AuthenticationOptions;
import pando.cli.option.ClientServiceOptions;
import pando.cli.option.HostPort;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import pando.cli.option.ServedIndex;
import pando.cli.option.SettingOptions;
import pando.cli.text.Numbers;
import pando.client.Routes;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpException;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.ServedOptions;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Serves an index of 8-byte keys and values, or of byte strings, to Pando's own clients, until it
 * is interrupted.
 */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "serve-clients",
    description =
        "Serves an index of 8-byte keys and values, or of byte strings, to pando client, to pando"
            + " serve --server, and to programs with pando.client.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "All compute servers are in this process. It runs until it is interrupted; what is in a"
          + " local pool is lost then."
    })
final class ServeClientsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private ClientServiceOptions serviceOptions;

  @Option(
      names = "--cache",
      paramLabel = "SIZE",
      converter = Quantity.class,
      description =
          "Cache of each compute server, or of byte strings (default: 256MiB, or"
              + " a sixteenth of the memory of the machine or container if that is less).")
  private @Nullable Long cache;

  @Option(
      names = "--index",
      paramLabel = "NAME",
      defaultValue = Systems.DEFAULT,
      converter = ServedIndex.Converter.class,
      completionCandidates = ServedIndex.Names.class,
      description = {
        "What is served (default: ${DEFAULT-VALUE}): byte strings, or an index of 8-byte keys and"
            + " values, ${COMPLETION-CANDIDATES}. What each is, and its settings, are listed below."
      })
  private ServedOptions defaults;

  @Mixin private PoolOption poolOption;
  @Mixin private AuthenticationOptions authenticationOptions;
  @Mixin private SettingOptions settingOptions;

  private final CountDownLatch interrupted = new CountDownLatch(1);

  @Override
  public Integer call() throws InterruptedException {
    return switch (settingOptions.served(defaults, settingOptions.all())) {
      case ByteOptions strings -> serveStrings(strings);
      case IndexOptions words -> serveWords(words);
      default -> throw new IllegalStateException("not served: system=" + defaults.system());
    };
  }

  private int serveWords(IndexOptions options) throws InterruptedException {
    IndexOptions cached = options.withCacheBytes(cacheBytes(options));
    Fabric fabric = Ranges.accepted(spec, poolOption::open);
    try (fabric;
        RangeIndex index = Ranges.accepted(spec, () -> created(fabric, cached));
        ClientService service =
            started(() ->
                ClientService.start(
                    index,
                    serviceOptions.address(),
                    authentication(),
                    Routes::alone,
                    serviceOptions.lanes()))) {
      String size = Numbers.size(cached.cacheBytes()) + " of cache for each compute server";
      serve(index.name(), service, size, index::close, fabric::close);
    }
    return CommandLine.ExitCode.OK;
  }

  private long cacheBytes(ServedOptions options) {
    if (cache != null) {
      return cache;
    }
    return settingOptions.all().containsKey("cache-bytes")
        ? options.cacheBytes()
        : Math.min(options.cacheBytes(), IndexOptions.cacheBytesOfThisMachine());
  }

  private int serveStrings(ByteOptions given) throws InterruptedException {
    ByteOptions options = ServedIndex.cached(spec, given, cacheBytes(given));
    Fabric fabric = Ranges.accepted(spec, poolOption::open);
    try (fabric;
        ByteIndex index = Ranges.accepted(spec, () -> poolOption.strings(fabric, options));
        ClientService service =
            started(() ->
                ClientService.start(
                    index,
                    serviceOptions.address(),
                    authentication(),
                    Routes::alone,
                    serviceOptions.lanes()))) {
      String size = Numbers.size(options.cacheBytes()) + " of cache";
      serve(index.name(), service, size, index::close, fabric::close);
    }
    return CommandLine.ExitCode.OK;
  }

  /** Says what is served, and waits for the interruption, which ends all in order. */
  private void serve(String name, ClientService service, String size, Runnable... behind)
      throws InterruptedException {
    List<Runnable> ends = new ArrayList<>(List.of(poolOption::printEnding, service::close));
    ends.addAll(List.of(behind));
    ends.add(interrupted::countDown); // the process may end as soon as this returns
    Thread hook = new Thread(() -> Closing.all(ends), "serve-clients-close");
    Runtime.getRuntime().addShutdownHook(hook);
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        "%s for clients at %s, pool %s, %s; interrupt it to end it%n",
        name, HostPort.text(service.address()), poolOption, size);
    out.flush();
    interrupted.await();
  }

  private static RangeIndex created(Fabric fabric, IndexOptions options) {
    try {
      return options.create(fabric);
    } catch (IllegalStateException isThere) {
      throw new IllegalArgumentException(isThere.getMessage(), isThere);
    }
  }

  private Authentication authentication() {
    return authenticationOptions.authentication();
  }

  private ClientService started(Supplier<ClientService> starting) {
    try {
      return Ranges.accepted(spec, starting);
    } catch (TcpException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }
}
