package pando.cli;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
import pando.durable.DurableIndex;
import pando.durable.DurableStrings;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpException;
import pando.index.IndexOptions;
import pando.index.Partitioned;
import pando.index.RangeIndex;
import pando.index.ServedOptions;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteStrings;
import pando.journal.DataFolder;
import pando.journal.LogFailedException;
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
      "All compute servers are in this process. It runs until it is interrupted. What is in a"
          + " local pool is lost then, unless --data names a folder.",
      "",
      "Exit codes: 5 if the disk of the data folder has failed."
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
  @Mixin private DataOption dataOption;
  @Mixin private AuthenticationOptions authenticationOptions;
  @Mixin private SettingOptions settingOptions;

  private final CountDownLatch interrupted = new CountDownLatch(1);

  @Override
  public Integer call() throws InterruptedException {
    dataOption.check(poolOption.isLocal());
    try {
      return switch (settingOptions.served(defaults, settingOptions.all())) {
        case ByteOptions strings -> serveStrings(strings);
        case IndexOptions words -> serveWords(words);
        default -> throw new IllegalStateException("not served: system=" + defaults.system());
      };
    } catch (LogFailedException e) { // of the close, too
      return CommandFailures.print(e, spec, DataOption.LOG_FAILED);
    }
  }

  private int serveWords(IndexOptions options) throws InterruptedException {
    IndexOptions cached = options.withCacheBytes(cacheBytes(options));
    String size = Numbers.size(cached.cacheBytes()) + " of cache for each compute server";
    try (Fabric fabric = Ranges.accepted(spec, poolOption::open)) {
      if (!dataOption.isGiven()) {
        return serve(Ranges.accepted(spec, () -> created(fabric, cached)), size, fabric, null);
      }
      try (DataFolder folder = dataOption.open(DurableIndex.KIND)) {
        DurableIndex index =
            DataOption.load(folder, () -> DurableIndex.open(folder, cached, fabric));
        return serve(index, size, fabric, folder);
      }
    }
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
    String size = Numbers.size(options.cacheBytes()) + " of cache";
    try (Fabric fabric = Ranges.accepted(spec, poolOption::open)) {
      if (!dataOption.isGiven()) {
        ByteIndex index = Ranges.accepted(spec, () -> poolOption.strings(fabric, options));
        return serve(index, size, fabric, null);
      }
      try (DataFolder folder = dataOption.open(DurableStrings.KIND)) {
        DurableStrings strings =
            DataOption.load(folder, () -> DurableStrings.open(folder, options, fabric));
        return serve(strings, size, fabric, folder);
      }
    }
  }

  /**
   * Serves an index until the interruption, which ends all in order, or until the log has failed.
   * Returns the exit code.
   */
  private int serve(Partitioned index, String size, Fabric fabric, @Nullable DataFolder folder)
      throws InterruptedException {
    try (index;
        ClientService service = started(index)) {
      List<Runnable> ends =
          List.of(
              () -> printEnding(folder),
              service::close,
              index::close,
              folder == null ? () -> {} : folder::close,
              fabric::close,
              interrupted::countDown); // the process may end as soon as this returns
      Thread hook = new Thread(() -> Closing.all(ends), "serve-clients-close");
      Runtime.getRuntime().addShutdownHook(hook);
      PrintWriter out = spec.commandLine().getOut();
      out.printf(
          "%s for clients at %s, pool %s, %s%s; interrupt it to end it%n",
          index.name(), HostPort.text(service.address()), poolOption, size, dataOption);
      out.flush();
      while (!interrupted.await(1, TimeUnit.SECONDS)) {
        if (folder != null && folder.log().hasFailed()) {
          return DataOption.LOG_FAILED;
        }
      }
      return CommandLine.ExitCode.OK;
    }
  }

  private void printEnding(@Nullable DataFolder folder) {
    if (folder == null) {
      poolOption.printEnding();
    } else {
      dataOption.printEnding(folder);
    }
  }

  private static RangeIndex created(Fabric fabric, IndexOptions options) {
    try {
      return options.create(fabric);
    } catch (IllegalStateException isThere) {
      throw new IllegalArgumentException(isThere.getMessage(), isThere);
    }
  }

  private ClientService started(Partitioned index) {
    try {
      return Ranges.accepted(spec, () -> start(index));
    } catch (TcpException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private ClientService start(Partitioned index) {
    InetSocketAddress address = serviceOptions.address();
    Authentication authentication = authenticationOptions.authentication();
    int lanes = serviceOptions.lanes();
    return index instanceof ByteStrings strings
        ? ClientService.start(strings, address, authentication, Routes::alone, lanes)
        : ClientService.start((RangeIndex) index, address, authentication, Routes::alone, lanes);
  }
}
