package pando.cli.cluster;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.client.ClientOptions;
import pando.client.PandoClient;
import pando.cluster.ClusterAddress;
import pando.cluster.ClusterState;
import pando.cluster.Config;
import pando.cluster.Membership;
import pando.cluster.MembershipProvider;
import pando.durable.ClusterFolder;
import pando.fabric.tcp.Authentication;

/** A cluster whose servers, ZooKeeper too, are processes that are killed and start again. */
final class TestedCluster implements AutoCloseable {
  private static final long READY_SECONDS = 120;
  private static final Duration OWN_SESSION = Duration.ofSeconds(20);
  private static final String ZOOKEEPER = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

  /** Processes that live for seconds are compiled quickly, and little. */
  private static final List<String> JVM = List.of("-Xmx512m", "-XX:TieredStopAtLevel=1");

  private final Plan plan;
  private final Path directory;
  private final Path secret;
  private final int zooKeeperPort;
  private final int[] ports;
  private final Map<Integer, TestedProcess> compute = new ConcurrentSkipListMap<>();
  private final Map<Integer, TestedProcess> memory = new TreeMap<>();
  private @Nullable TestedProcess zooKeeper;
  private @Nullable Membership membership;
  private String name = "tested";

  /**
   * What a cluster consists of.
   *
   * @param machines on which it runs
   * @param system of the index
   * @param memoryServers how many
   * @param computeServers how many
   * @param sessionSeconds after which one without a sign of life is lost
   * @param leaseMillis for how long answers from caches count
   * @param cache bytes of each compute server
   * @param data whether memory servers have data folders
   */
  record Plan(
      Machines machines,
      String system,
      int memoryServers,
      int computeServers,
      int sessionSeconds,
      int leaseMillis,
      String cache,
      boolean data) {}

  private TestedCluster(Plan plan, Path directory) {
    this.plan = plan;
    this.directory = directory;
    this.secret = directory.resolve("secret");
    this.zooKeeperPort = plan.machines.port(0);
    this.ports = IntStream.rangeClosed(1, plan.computeServers).map(plan.machines::port).toArray();
  }

  /** Starts a cluster of which compute server 0 alone runs. */
  static TestedCluster start(Plan plan, Path directory) {
    TestedCluster cluster = new TestedCluster(plan, directory);
    try {
      cluster.begin();
      return cluster;
    } catch (Throwable e) {
      cluster.close();
      throw e;
    }
  }

  private void begin() {
    try {
      Files.createFile(
          secret,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(secret, "a secret of these tests");
      Files.createDirectory(directory.resolve("zookeeper"));
      Files.write(
          directory.resolve("zoo.cfg"),
          List.of(
              "tickTime=500",
              "dataDir=" + directory.resolve("zookeeper"),
              "clientPortAddress=" + plan.machines.address(0),
              "clientPort=" + zooKeeperPort,
              "maxSessionTimeout=60000",
              "admin.enableServer=false"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    startZooKeeper();
    startServers();
  }

  private void startServers() {
    IntStream.range(0, plan.memoryServers).forEach(this::startMemory);
    startCompute(0);
    memory.values().forEach(process -> process.awaitReady(READY_SECONDS));
    compute(0).awaitReady(READY_SECONDS);
  }

  /** Ends all servers but ZooKeeper, and starts an empty cluster of another name. */
  void startAnew(String newName) {
    endServers();
    name = newName;
    Membership old = membership;
    membership = null;
    if (old != null) {
      old.close();
    }
    startServers();
  }

  // ZooKeeper.

  /** Starts ZooKeeper, with the files that it has. */
  void startZooKeeper() {
    List<String> command = new ArrayList<>(plan.machines.command(0));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM);
    command.add("-XX:+UseSerialGC");
    command.add("-Dzookeeper.preAllocSize=1024");
    command.addAll(List.of("--class-path", classPath(), ZOOKEEPER));
    command.add(directory.resolve("zoo.cfg").toString());
    zooKeeper = TestedProcess.start(command, log("zookeeper"));
  }

  /** ZooKeeper knows no modules; some of what it needs is among those of this process. */
  private static String classPath() {
    return System.getProperty("java.class.path")
        + File.pathSeparator
        + System.getProperty("jdk.module.path", "");
  }

  void killZooKeeper() {
    Objects.requireNonNull(zooKeeper).kill();
  }

  /** Returns ZooKeeper's process. */
  TestedProcess zooKeeper() {
    return Objects.requireNonNull(zooKeeper);
  }

  boolean isZooKeeperAlive() {
    return Objects.requireNonNull(zooKeeper).isAlive();
  }

  private Path ballast() {
    return directory.resolve("ballast");
  }

  /** Fills the file system under ZooKeeper, which should be a small one. */
  void fillDisk() {
    byte[] some = new byte[1 << 12];
    try (OutputStream ballast = Files.newOutputStream(ballast())) {
      while (true) {
        ballast.write(some);
      }
    } catch (IOException isFull) {
      if (Files.exists(directory) && directory.toFile().getUsableSpace() > some.length) {
        throw new UncheckedIOException(isFull);
      }
    }
  }

  /** Frees what {@link #fillDisk} took. */
  void freeDisk() {
    try {
      Files.delete(ballast());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // Servers.

  private TestedProcess server(String kind, int number, int port, List<String> more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                kind,
                "--number=" + number,
                "--listen=" + plan.machines.address(number) + ":" + port,
                "--cluster=" + address(),
                "--session-timeout=" + plan.sessionSeconds,
                "--token-file=" + secret,
                "--trusted-network",
                "--parent=" + ProcessHandle.current().pid()));
    arguments.addAll(more);
    List<String> command = new ArrayList<>(plan.machines.command(number));
    command.addAll(JavaProcess.command(JVM, arguments));
    return TestedProcess.start(command, log(kind + "-" + number));
  }

  private Path log(String of) {
    return directory.resolve(of + ".log");
  }

  void startMemory(int number) {
    List<String> options = new ArrayList<>(List.of("--size=128MiB"));
    if (plan.data && number < ClusterFolder.FOLDERS_MAX) {
      options.add("--data=" + directory.resolve("data-" + number));
    }
    memory.put(number, server("memory-server", number, 0, options));
  }

  void startCompute(int number) {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--index=" + plan.system,
                "--cache=" + plan.cache,
                "--set=compute-servers=8",
                "--lanes=1",
                "--lease=" + plan.leaseMillis,
                "--memory-servers=" + plan.memoryServers));
    if (plan.data) {
      options.add("--log=data");
    }
    compute.put(number, server("compute-server", number, ports[number], options));
  }

  /** Returns whether all memory servers and compute servers run. */
  boolean isWhole() {
    return Stream.concat(memory.values().stream(), compute.values().stream())
        .allMatch(TestedProcess::isAlive);
  }

  /** Starts all memory servers and compute servers again that have ended. */
  void startEnded() {
    IntStream.range(0, plan.memoryServers)
        .filter(number -> !memory(number).isAlive())
        .forEach(this::startMemory);
    IntStream.range(0, plan.computeServers)
        .filter(number -> !compute(number).isAlive())
        .forEach(this::startCompute);
  }

  /** Returns the generation that serves, 0 if none does. */
  long generation() {
    return state().config().map(Config::generation).orElse(0L);
  }

  TestedProcess compute(int number) {
    return Objects.requireNonNull(compute.get(number));
  }

  TestedProcess memory(int number) {
    return Objects.requireNonNull(memory.get(number));
  }

  /** Returns the processes of all servers, ZooKeeper's too. */
  List<TestedProcess> all() {
    List<TestedProcess> all = new ArrayList<>(List.of(zooKeeper()));
    all.addAll(memory.values());
    all.addAll(compute.values());
    return all;
  }

  /** Returns what it consists of. */
  Plan plan() {
    return plan;
  }

  // What others see.

  ClusterAddress address() {
    return ClusterAddress.parse(plan.machines.address(0) + ":" + zooKeeperPort + "/" + name);
  }

  /** Returns the cluster's state, by a session that is opened anew where it has ended. */
  ClusterState state() {
    Membership open = membership;
    if (open != null && open.status() == Membership.Status.LOST) {
      open.close();
      open = null;
    }
    if (open == null) {
      open = MembershipProvider.installed().connect(address(), OWN_SESSION);
      membership = open;
    }
    return new ClusterState(open);
  }

  /** Connects a client that waits for as long as a cluster may take to recover. */
  PandoClient connect(Duration patience) {
    String addresses =
        IntStream.range(0, ports.length)
            .mapToObj(number -> plan.machines.address(number) + ":" + ports[number])
            .collect(Collectors.joining(","));
    return PandoClient.connect(
        addresses,
        ClientOptions.defaults()
            .withAuthentication(Authentication.token(secret).onTrustedNetwork())
            .withPatience(patience)
            .withAnswerTimeout(Duration.ofSeconds(5)));
  }

  private void endServers() {
    compute.values().forEach(TestedProcess::close);
    memory.values().forEach(TestedProcess::close);
  }

  @Override
  public void close() {
    endServers();
    Membership open = membership;
    if (open != null) {
      open.close();
    }
    TestedProcess running = zooKeeper;
    if (running != null) {
      running.close();
    }
  }
}
