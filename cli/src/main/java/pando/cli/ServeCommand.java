package pando.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.cli.option.HostPort;
import pando.cli.option.HttpOption;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import pando.cli.text.Numbers;
import pando.client.PandoClient;
import pando.door.resp.Password;
import pando.door.resp.RespDoor;
import pando.door.resp.RespOptions;
import pando.durable.DurableStrings;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.memory.Closing;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteStrings;
import pando.journal.DataFolder;
import pando.journal.Log;
import pando.journal.LogFailedException;
import pando.metrics.PandoHttp;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Serves byte strings to clients that others have written, until it is interrupted. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "serve",
    description = "Serves ordered byte strings to clients of Redis.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "docs/resp.md lists the commands that clients can send. It runs until it is interrupted."
          + " What is in a local pool is lost then, unless --data names a folder.",
      "",
      "Exit codes: 5 if the disk of the data folder has failed."
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
      description =
          "Threads that serve connections (default: one for each processor; with --server at least"
              + " 8, as operations wait for the network).")
  private @Nullable Integer eventLoops;

  @Option(
      names = "--clients",
      paramLabel = "N",
      description = "Connections at the most (default: 10000).")
  private @Nullable Integer clients;

  @Mixin private DoorServersOption serversOption;
  @Mixin private PoolOption poolOption;
  @Mixin private DataOption dataOption;

  @Option(
      names = "--cache",
      paramLabel = "SIZE",
      converter = Quantity.class,
      description =
          "Bytes of records and blocks that are cached in this process (default: 256MiB, or"
              + " a sixteenth of the memory of the machine or container if that is less).")
  private @Nullable Long cache;

  @Mixin private HttpOption httpOption;

  @Override
  public Integer call() throws IOException, InterruptedException {
    serversOption.check();
    dataOption.check(poolOption.isLocal() && !serversOption.isGiven());
    ByteOptions index = poolOption.stringOptions(cache);
    RespOptions options = respOptions();
    httpOption.check();
    try (OpenDoor open = serversOption.isGiven() ? serveShared(options) : serve(index, options)) {
      Thread hook = new Thread(open::close, "serve-close");
      Runtime.getRuntime().addShutdownHook(hook);
      PrintWriter out = spec.commandLine().getOut();
      String what =
          serversOption.isGiven()
              ? "byte strings of " + serversOption
              : "pool %s, %s of cache%s"
                  .formatted(poolOption, Numbers.size(index.cacheBytes()), dataOption);
      out.printf(
          "RESP at %s, %s; interrupt it to end it%n", HostPort.text(open.door.address()), what);
      if (open.http != null) {
        out.printf("live page at %s%n", open.http.uri());
      }
      out.flush();
      return awaitClosed(open);
    } catch (LogFailedException e) { // of the close, too
      return CommandFailures.print(e, spec, DataOption.LOG_FAILED);
    }
  }

  /**
   * Waits until the door is closed or its log has failed; has memory given back once little is
   * asked for. Returns the exit code.
   */
  private int awaitClosed(OpenDoor open) throws InterruptedException {
    Rests rests = new Rests();
    long heap = 0; // of the JVM when it was collected last
    while (!open.door.awaitClosed(Rests.INTERVAL)) {
      if (open.log != null && open.log.hasFailed()) {
        return DataOption.LOG_FAILED;
      }
      switch (rests.look(open.door.served())) {
        case ALL -> {
          if (!open.giveMemoryBack()) {
            rests.repeat();
          }
          heap = collectedHeap();
        }
        case ROOM -> {
          open.giveRoomBack();
          heap = isGrown(heap) ? collectedHeap() : heap;
        }
        case NOTHING -> {}
      }
    }
    return CommandLine.ExitCode.OK;
  }

  private static boolean isGrown(long heap) {
    return Runtime.getRuntime().totalMemory() > heap + heap / 4;
  }

  /** Has the heap collected; returns how large it is then. */
  private static long collectedHeap() {
    System.gc();
    return Runtime.getRuntime().totalMemory();
  }

  private RespOptions respOptions() {
    Ranges.check(spec, "--resp", port, 0, PORT_MAX);
    RespOptions options = RespOptions.loopback(port).withOpen(noPassword);
    if (bind != null) {
      options =
          options.withAddress(new InetSocketAddress(Ranges.address(spec, "--bind", bind), port));
    }
    if (eventLoops != null) {
      Ranges.check(spec, "--event-loops", eventLoops, 1, RespOptions.EVENT_LOOPS_MAX);
      options = options.withEventLoops(eventLoops);
    } else if (serversOption.isGiven()) {
      options =
          options.withEventLoops(Math.max(options.eventLoops(), RespOptions.EVENT_LOOPS_SHARED));
    }
    if (clients != null) {
      Ranges.check(spec, "--clients", clients, 1, Integer.MAX_VALUE);
      options = options.withClientsMax(clients);
    }
    if (passwordFile != null) {
      options = options.withPassword(password(passwordFile));
    }
    return options.withTls(tls());
  }

  private Password password(Path file) {
    try {
      return Password.readFrom(file);
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(), "--password-file cannot be used: " + CommandFailures.message(e), e);
    }
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
  private OpenDoor serve(ByteOptions options, RespOptions respOptions) throws IOException {
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

  private OpenDoor serve(ByteOptions options, RespOptions respOptions, @Nullable PandoHttp http)
      throws IOException {
    Deque<Runnable> closings = new ArrayDeque<>();
    try {
      Fabric fabric = Ranges.accepted(spec, poolOption::open);
      closings.push(fabric::close);
      return dataOption.isGiven()
          ? serveFolder(fabric, options, respOptions, http, closings)
          : servePool(fabric, options, respOptions, http, closings);
    } catch (Throwable e) {
      Closing.after(e, closings.toArray(Runnable[]::new));
      throw e;
    }
  }

  private OpenDoor servePool(
      Fabric fabric,
      ByteOptions options,
      RespOptions respOptions,
      @Nullable PandoHttp http,
      Deque<Runnable> closings)
      throws IOException {
    ByteIndex index = Ranges.accepted(spec, () -> poolOption.strings(fabric, options));
    closings.push(index::close);
    RespDoor door = opened(() -> RespDoor.open(index, respOptions));
    if (http != null) {
      http.show(door);
    }
    ByteIndex own = poolOption.isLocal() ? index : null;
    return new OpenDoor(door, http, own, null, poolOption::printEnding, closings);
  }

  private OpenDoor serveFolder(
      Fabric fabric,
      ByteOptions options,
      RespOptions respOptions,
      @Nullable PandoHttp http,
      Deque<Runnable> closings)
      throws IOException {
    DataFolder folder = dataOption.open(DurableStrings.KIND);
    closings.push(folder::close);
    if (http != null) {
      http.opening(() -> DataOption.loaded(folder));
    }
    DurableStrings strings =
        DataOption.load(folder, () -> DurableStrings.open(folder, options, fabric));
    closings.push(strings::close);
    RespDoor door = opened(() -> RespDoor.open(strings, respOptions));
    if (http != null) {
      http.show(door);
    }
    return new OpenDoor(
        door, http, strings.index(), folder.log(), () -> dataOption.printEnding(folder), closings);
  }

  /** Opens a door to the compute servers' byte strings. */
  private OpenDoor serveShared(RespOptions options) throws IOException {
    PandoClient client = serversOption.connect();
    try {
      ByteStrings strings = strings(client);
      RespDoor door = opened(() -> RespDoor.openShared(strings, options));
      return new OpenDoor(
          door,
          null,
          null,
          null,
          serversOption::printEnding,
          List.of(strings::close, client::close));
    } catch (Throwable e) {
      client.close();
      throw e;
    }
  }

  private ByteStrings strings(PandoClient client) {
    try {
      return client.byteStrings();
    } catch (IllegalStateException isOfWords) {
      throw new ParameterException(
          spec.commandLine(),
          isOfWords.getMessage()
              + "; clients of Redis need byte strings: start them with --index byte-strings",
          isOfWords);
    }
  }

  /** How a door is opened. */
  @FunctionalInterface
  private interface Opening {
    RespDoor open() throws IOException;
  }

  private RespDoor opened(Opening opening) throws IOException {
    try {
      return opening.open();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), e.getMessage() + "; --password-file or --no-password", e);
    }
  }

  /**
   * A door and what it is opened over; closed by the interruption, or by what ends the door, but
   * once.
   */
  private static final class OpenDoor implements AutoCloseable {
    final RespDoor door;
    final @Nullable PandoHttp http;
    final @Nullable Log log;
    private final @Nullable ByteIndex own;
    private final Runnable ending;
    private final List<Runnable> behind;
    private boolean closed;

    /**
     * Takes a door and its page, its index if the pool is in this process, its log if it has one,
     * what says that it ends, and what closes behind, in this order.
     */
    OpenDoor(
        RespDoor door,
        @Nullable PandoHttp http,
        @Nullable ByteIndex own,
        @Nullable Log log,
        Runnable ending,
        Collection<Runnable> behind) {
      this.door = door;
      this.http = http;
      this.own = own;
      this.log = log;
      this.ending = ending;
      this.behind = List.copyOf(behind);
    }

    /**
     * Gives memory of the door, the pool and the caches back; returns {@code false} if it fails.
     */
    boolean giveMemoryBack() {
      return give(ByteIndex::giveMemoryBack);
    }

    /** Gives what large requests have left in the door and in the pool back to the system. */
    void giveRoomBack() {
      give(ByteIndex::giveFreePlacesBack);
    }

    /** Returns {@code false} if it fails. */
    private synchronized boolean give(Consumer<ByteIndex> fromIndex) {
      if (!closed) {
        try {
          door.giveMemoryBack();
          if (own != null) {
            fromIndex.accept(own);
          }
        } catch (PandoException | VirtualMachineError e) {
          return false; // clients meet the cause, too
        }
      }
      return true;
    }

    @Override
    public synchronized void close() {
      if (!closed) {
        closed = true;
        // The page says that the door closes, until it has.
        Runnable page = http == null ? () -> {} : http::close;
        Closing.all(Stream.concat(Stream.of(ending, door::close, page), behind.stream()).toList());
      }
    }
  }
}
