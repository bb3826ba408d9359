package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import pando.bench.console.Numbers;
import pando.door.resp.Password;
import pando.door.resp.RespDoor;
import pando.door.resp.RespOptions;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.metrics.PandoHttp;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Serves an index of byte strings to clients that others have written, until it is interrupted. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "serve",
    description = "Serves an ordered index of byte strings to clients of Redis.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "docs/resp.md lists the commands that clients can send. It runs until it is interrupted;"
          + " what is in a local pool is lost then."
    })
final class ServeCommand implements Callable<Integer> {
  private static final int PORT_MAX = 65_535;

  @Spec private CommandSpec spec;

  @Option(
      names = "--resp",
      paramLabel = "PORT",
      required = true,
      description = "Port for clients of Redis, usually 6379; 0 takes any free one, and prints it.")
  private int port;

  @Option(
      names = "--bind",
      paramLabel = "ADDRESS",
      description = "Address to listen on (default: the loopback interface).")
  private @Nullable String bind;

  @Option(
      names = "--password-file",
      paramLabel = "FILE",
      description = "File whose first line is the password that clients have to give.")
  private @Nullable Path passwordFile;

  @Option(
      names = "--no-password",
      description = "Listens beyond the loopback interface although there is no password.")
  private boolean noPassword;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "Certificates of the server (PEM); connections are encrypted then.")
  private @Nullable Path tlsCert;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "Key of the first certificate (PEM, PKCS #8, not encrypted).")
  private @Nullable Path tlsKey;

  @Option(
      names = "--event-loops",
      paramLabel = "N",
      description = "Threads that serve connections (default: one for each processor).")
  private @Nullable Integer eventLoops;

  @Option(
      names = "--clients",
      paramLabel = "N",
      description = "Connections at the most (default: 10000).")
  private @Nullable Integer clients;

  @Mixin private PoolOption poolOption;

  @Option(
      names = "--cache",
      paramLabel = "SIZE",
      converter = Quantity.class,
      description =
          "Bytes of records and blocks that are cached in this process (default: 256MiB).")
  private @Nullable Long cache;

  @Mixin private HttpOption httpOption;

  @Override
  public Integer call() throws IOException, InterruptedException {
    ByteOptions index = Ranges.accepted(spec, this::indexOptions);
    RespOptions options = respOptions();
    httpOption.check();
    try (Served served = serve(index, options)) {
      Thread hook = new Thread(served::close, "serve-close");
      Runtime.getRuntime().addShutdownHook(hook);
      PrintWriter out = spec.commandLine().getOut();
      out.printf(
          "RESP at %s, pool %s, %s of cache; interrupt it to end it%n",
          text(served.door.address()), poolOption, Numbers.bytes(index.cacheBytes()));
      if (served.http != null) {
        out.printf("live page at %s%n", served.http.uri());
      }
      out.flush();
      served.door.awaitClosed();
    }
    return CommandLine.ExitCode.OK;
  }

  private static String text(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  private ByteOptions indexOptions() {
    ByteOptions options = ByteOptions.defaults();
    return cache == null ? options : options.withCacheBytes(cache);
  }

  private RespOptions respOptions() throws IOException {
    Ranges.check(spec, "--resp", port, 0, PORT_MAX);
    RespOptions options = RespOptions.loopback(port).withOpen(noPassword);
    if (bind != null) {
      options =
          options.withAddress(new InetSocketAddress(Ranges.address(spec, "--bind", bind), port));
    }
    if (eventLoops != null) {
      Ranges.check(spec, "--event-loops", eventLoops, 1, RespOptions.EVENT_LOOPS_MAX);
      options = options.withEventLoops(eventLoops);
    }
    if (clients != null) {
      Ranges.check(spec, "--clients", clients, 1, Integer.MAX_VALUE);
      options = options.withClientsMax(clients);
    }
    if (passwordFile != null) {
      options = options.withPassword(Password.readFrom(passwordFile));
    }
    return options.withTls(tls());
  }

  private RespOptions.@Nullable Tls tls() {
    if (tlsCert == null && tlsKey == null) {
      return null;
    }
    if (tlsCert == null || tlsKey == null) {
      throw new ParameterException(
          spec.commandLine(), "--tls-cert and --tls-key are given together");
    }
    return new RespOptions.Tls(tlsCert, tlsKey);
  }

  /** Opens page, pool, index and door; closes what was opened if one does not open. */
  private Served serve(ByteOptions options, RespOptions respOptions) throws IOException {
    PandoHttp http = httpOption.open();
    try {
      return serve(options, respOptions, http);
    } catch (Throwable e) {
      if (http != null) {
        http.close();
      }
      throw e;
    }
  }

  private Served serve(ByteOptions options, RespOptions respOptions, @Nullable PandoHttp http)
      throws IOException {
    Fabric fabric = Ranges.accepted(spec, poolOption::open);
    try {
      ByteIndex index = Ranges.accepted(spec, () -> index(fabric, options));
      try {
        RespDoor door = opened(index, respOptions);
        if (http != null) {
          http.show(door);
        }
        return new Served(fabric, index, door, http);
      } catch (Throwable e) {
        index.close();
        throw e;
      }
    } catch (Throwable e) {
      fabric.close();
      throw e;
    }
  }

  private RespDoor opened(ByteIndex index, RespOptions options) throws IOException {
    try {
      return RespDoor.open(index, options);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), e.getMessage() + "; --password-file or --no-password", e);
    }
  }

  /** Makes an index, or opens the one that is there. */
  private ByteIndex index(Fabric fabric, ByteOptions options) {
    try {
      return ByteIndex.create(fabric, options);
    } catch (IllegalStateException isThere) {
      if (poolOption.isLocal()) {
        throw isThere;
      }
      return ByteIndex.open(fabric, options);
    }
  }

  /** What is served; closed by the interruption, or by what ends the door, but once. */
  private static final class Served implements AutoCloseable {
    final RespDoor door;
    private final Fabric fabric;
    private final ByteIndex index;
    final @Nullable PandoHttp http;
    private boolean closed;

    Served(Fabric fabric, ByteIndex index, RespDoor door, @Nullable PandoHttp http) {
      this.fabric = fabric;
      this.index = index;
      this.door = door;
      this.http = http;
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        // The page says that the door closes, until it has.
        Runnable page = http == null ? () -> {} : http::close;
        Closing.all(door::close, page, index::close, fabric::close);
      }
    }
  }
}
