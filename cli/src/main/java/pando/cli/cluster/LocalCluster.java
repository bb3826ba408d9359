package pando.cli.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.client.ClientOptions;
import pando.client.PandoClient;
import pando.cluster.ClusterAddress;
import pando.cluster.ClusterState;
import pando.cluster.EmbeddedCoordinator;
import pando.cluster.Membership;
import pando.cluster.MembershipProvider;
import pando.durable.ClusterFolder;
import pando.fabric.memory.Closing;
import pando.fabric.tcp.Authentication;

/**
 * A cluster on this machine, on loopback addresses: a coordinator in this process, and each memory
 * server and compute server in a process of its own, which ends with this one. Compute servers that
 * end by themselves start again, and memory servers that have data folders. All prove who they are
 * by a secret that is made for it.
 */
public final class LocalCluster implements AutoCloseable {
  private static final String NAME = "up";
  private static final String PREFIX = "pando-up-";
  private static final int SECRET_BYTES = 24;

  /** How long compute servers wait for one of them to load what data folders have: a day. */
  private static final int LOAD_SECONDS_MAX = 86_400;

  private static final String HOST = "127.0.0.1";
  private static final Duration START_MAX = Duration.ofMinutes(2);

  private final Plan plan;
  private final Path directory;
  private final Path secret;
  private final Consumer<String> lines;
  private final List<KeptServer> memoryServers = new CopyOnWriteArrayList<>();
  private final List<KeptServer> computeServers = new CopyOnWriteArrayList<>();
  private final AtomicInteger kept = new AtomicInteger();
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile @Nullable EmbeddedCoordinator coordinator;
  private volatile String clients = "";
  private volatile boolean closing;

  /**
   * What a cluster consists of.
   *
   * @param memoryServers how many, 1 or more
   * @param computeServers how many, 1 or more
   * @param size bytes for nodes of each memory server, as an option takes them
   * @param sessionTimeout after how long without a sign of life a server counts as lost, in whole
   *     seconds
   * @param index options of each compute server that say which index it is
   * @param directory in which it makes one for the secret and what the coordinator keeps, which
   *     goes away with the cluster; {@code null} for that of temporary files
   * @param data in which memory servers have their data folders; {@code null} if they have none
   */
  public record Plan(
      int memoryServers,
      int computeServers,
      String size,
      Duration sessionTimeout,
      List<String> index,
      @Nullable Path directory,
      @Nullable Path data) {
    /** Keeps a copy. */
    public Plan {
      index = List.copyOf(index);
    }
  }

  private LocalCluster(Plan plan, Path directory, Consumer<String> lines) {
    this.plan = plan;
    this.directory = directory;
    this.secret = directory.resolve("secret");
    this.lines = lines;
  }

  /**
   * Starts a cluster; when this returns, all servers run, and all keys are served. It ends with
   * this process, at the latest.
   *
   * @param lines receives a line about each process that ends by itself, and what is lost with it
   * @throws IOException if a process does not start, or the directory cannot be used
   */
  public static LocalCluster start(Plan plan, Consumer<String> lines) throws IOException {
    Path given = plan.directory();
    Path directory =
        given == null
            ? Files.createTempDirectory(PREFIX)
            : Files.createTempDirectory(Files.createDirectories(given), PREFIX);
    LocalCluster cluster = new LocalCluster(plan, directory, lines);
    Runtime.getRuntime().addShutdownHook(new Thread(cluster::close, "local-cluster-close"));
    try {
      cluster.begin();
      return cluster;
    } catch (Throwable e) {
      cluster.close();
      throw e;
    }
  }

  private void begin() throws IOException {
    writeSecret(secret);
    InetSocketAddress free = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    Path kept = Files.createDirectories(directory.resolve("zookeeper"));
    coordinator = MembershipProvider.installed().startCoordinator(free, kept);
    startAll();
    awaitServing();
  }

  private static void writeSecret(Path file) throws IOException {
    byte[] bytes = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(bytes);
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(file, HexFormat.of().formatHex(bytes), StandardOpenOption.WRITE);
  }

  private void startAll() throws IOException {
    for (int number = 0; number < plan.memoryServers(); number++) {
      int own = number;
      String name = "memory server " + number;
      KeptServer server =
          new KeptServer(
              name,
              port -> startMemory(own, port),
              this::whatHappenedToMemory,
              plan.data() != null,
              lines,
              () -> {});
      memoryServers.add(server);
      server.start();
    }
    for (int number = 0; number < plan.computeServers(); number++) {
      int own = number;
      String name = "compute server " + number;
      KeptServer server =
          new KeptServer(
              name,
              port -> startCompute(own, port),
              KeptServer::ofCompute,
              true,
              lines,
              this::onEndOfCompute);
      computeServers.add(server);
      kept.incrementAndGet();
      server.start();
    }
    for (KeptServer server : memoryServers) {
      server.awaitReady();
    }
    for (KeptServer server : computeServers) {
      server.awaitReady();
    }
    clients =
        computeServers.stream()
            .map(server -> HOST + ":" + server.port())
            .collect(Collectors.joining(","));
  }

  private JavaProcess startMemory(int number, int port) throws IOException {
    List<String> options = new ArrayList<>(List.of("--size=" + plan.size()));
    Path data = plan.data();
    if (data != null && number < ClusterFolder.FOLDERS_MAX) {
      options.add("--data=" + data.resolve("memory-" + number));
    }
    return start("memory-server", number, port, options);
  }

  private JavaProcess startCompute(int number, int port) throws IOException {
    List<String> index = new ArrayList<>(plan.index());
    index.add("--memory-servers=" + plan.memoryServers());
    if (plan.data() != null) {
      index.add("--log=data");
      index.add("--start-wait=" + LOAD_SECONDS_MAX);
    }
    return start("compute-server", number, port, index);
  }

  private JavaProcess start(String command, int number, int port, List<String> more)
      throws IOException {
    List<String> arguments = new ArrayList<>(List.of(command, "--number=" + number));
    arguments.add("--listen=" + HOST + ":" + port);
    arguments.add("--cluster=" + address());
    arguments.add("--session-timeout=" + plan.sessionTimeout().toSeconds());
    arguments.add("--token-file=" + secret);
    arguments.addAll(more);
    arguments.add("--parent=" + ProcessHandle.current().pid());
    if (closing) {
      throw new IOException("closed while it starts");
    }
    // What it logs is a line, with its name.
    String format =
        "-Djava.util.logging.SimpleFormatter.format=pando up: %s %d: %%5$s%%6$s%%n"
            .formatted(command.replace('-', ' '), number);
    return JavaProcess.start(List.of(format), arguments);
  }

  private String whatHappenedToMemory(int exitCode) {
    String what =
        plan.data() == null
            ? "what it held is lost for good; Ctrl-C ends this cluster, for another one to be"
                + " started and loaded"
            : "its data folder has what was acknowledged";
    return "has ended, exit code %d: %s".formatted(exitCode, what);
  }

  private void onEndOfCompute() {
    if (kept.decrementAndGet() == 0) {
      ended.countDown();
    }
  }

  private void awaitServing() {
    try (Membership membership = openSession()) {
      Duration longest = plan.data() == null ? START_MAX : Duration.ofSeconds(LOAD_SECONDS_MAX);
      new ClusterState(membership).awaitServing(1, longest);
    }
  }

  /** Opens a session with the coordinator. */
  public Membership openSession() {
    return MembershipProvider.installed().connect(address(), plan.sessionTimeout());
  }

  /** Returns the cluster's address. */
  public ClusterAddress address() {
    InetSocketAddress at = Objects.requireNonNull(coordinator).address();
    return ClusterAddress.parse(at.getAddress().getHostAddress() + ":" + at.getPort() + "/" + NAME);
  }

  /**
   * Returns where clients are served, {@code HOST:PORT} of each compute server that was started.
   */
  public String clients() {
    return clients;
  }

  /** Connects a client, by the secret. */
  public PandoClient connect() {
    return PandoClient.connect(
        clients, ClientOptions.defaults().withAuthentication(Authentication.token(secret)));
  }

  /** Returns the file with the secret. */
  public Path secret() {
    return secret;
  }

  /** Returns the process of a compute server that was started last. */
  public long computeProcess(int number) {
    return computeServers.get(number).pid();
  }

  /**
   * Waits until no compute server is left, and none will be started, or until the time is over;
   * returns whether none is left.
   */
  public boolean awaitEnd(Duration most) throws InterruptedException {
    return ended.await(most.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Returns whether it was closed, or is being closed. */
  public boolean isClosed() {
    return closing;
  }

  /** Ends compute servers, which write back what they cache, then memory servers, then the rest. */
  @Override
  public synchronized void close() {
    if (!closing && !clients.isEmpty()) {
      Path data = plan.data();
      lines.accept(
          data == null
              ? "ending; all that was stored is lost"
              : "ending; what was acknowledged is in " + data);
    }
    closing = true;
    Closing.all(
        () -> computeServers.forEach(KeptServer::end),
        () -> computeServers.forEach(KeptServer::close),
        () -> memoryServers.forEach(KeptServer::end),
        () -> memoryServers.forEach(KeptServer::close),
        this::endCoordinator,
        this::deleteDirectory,
        ended::countDown);
  }

  private void endCoordinator() {
    EmbeddedCoordinator running = coordinator;
    if (running != null) {
      running.close();
    }
  }

  private void deleteDirectory() {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot be deleted: directory=" + directory, e);
    }
  }
}
