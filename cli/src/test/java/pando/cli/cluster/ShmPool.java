package pando.cli.cluster;

import java.io.File;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import pando.client.ClientOptions;
import pando.client.PandoClient;
import pando.client.Routes;
import pando.index.IndexOptions;
import pando.index.Systems;

/**
 * An index in shared memory: memory servers and compute servers, all of them processes that are
 * stopped, killed and started again. There is no coordinator: who uses this asks for each change of
 * ranges.
 */
final class ShmPool implements AutoCloseable {
  private static final long READY_SECONDS = 120;
  private static final long ANSWER_SECONDS = 60;
  private static final List<String> JVM =
      List.of("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  private final Plan plan;
  private final Path directory;
  private final List<Integer> ports;
  private final List<TestedProcess> memory = new ArrayList<>();
  private final List<TestedProcess> compute = new ArrayList<>();

  /**
   * What it consists of.
   *
   * @param system of the index
   * @param memoryServers how many
   * @param computeServers how many
   * @param cache bytes of each compute server
   */
  record Plan(String system, int memoryServers, int computeServers, String cache) {
    /** Returns whether each compute server has a range of its own. */
    boolean hasRanges() {
      return options().hasMovablePartitions();
    }

    /** Returns whether a compute server may have changes that are not in the pool. */
    boolean keepsChanges() {
      return options().documentation().containsKey("write-back-interval");
    }

    /**
     * Returns whether a kill leaves no key unserved. DEX may be killed in a change of its tree, and
     * where all serve all keys, a lock stays with one that dies.
     */
    boolean outlivesKills() {
      return hasRanges() && !system.equals("dex");
    }

    private IndexOptions options() {
      return Systems.named(system).defaults();
    }
  }

  private ShmPool(Plan plan, Path directory) {
    this.plan = plan;
    this.directory = directory;
    this.ports = IntStream.range(0, plan.computeServers).map(Machines.ONE::port).boxed().toList();
  }

  /**
   * Starts memory servers, and compute server 0, which has all keys.
   *
   * @param directory for their files, empty
   */
  static ShmPool start(Plan plan, Path directory) {
    ShmPool pool = new ShmPool(plan, directory);
    try {
      pool.startMemory();
      pool.compute.add(pool.computeServer(0, true));
      return pool;
    } catch (Throwable e) {
      pool.close();
      throw e;
    }
  }

  private void startMemory() {
    List<String> options = new ArrayList<>(JVM);
    options.add(registry());
    for (int number = 0; number < plan.memoryServers; number++) {
      List<String> arguments =
          List.of(
              "memory-server",
              "--name=" + name(number),
              "--size=128MiB",
              "--parent=" + ProcessHandle.current().pid());
      memory.add(
          TestedProcess.start(JavaProcess.command(options, arguments), log("memory-" + number)));
    }
    memory.forEach(process -> process.awaitReady(READY_SECONDS));
  }

  /** Starts the other compute servers, each of which gets a half of the range of the one before. */
  void startOthers() {
    for (int number = 1; number < plan.computeServers; number++) {
      compute.add(computeServer(number, false));
      giveHalf(number - 1, number);
    }
  }

  /** Starts a compute server that has ended; it takes up the range that the pool says it has. */
  void restart(int number) {
    compute.set(number, computeServer(number, false));
  }

  private TestedProcess computeServer(int number, boolean isFirst) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM);
    command.addAll(List.of("-ea", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(List.of("--add-opens=java.base/java.lang=ALL-UNNAMED", registry()));
    command.addAll(List.of("--class-path", classPath(), ShmComputeServer.class.getName()));
    command.addAll(List.of(String.valueOf(number), String.valueOf(isFirst)));
    command.addAll(List.of(plan.system, plan.cache));
    command.add(joined(IntStream.range(0, plan.memoryServers).mapToObj(ShmPool::name)));
    command.add(joined(ports.stream().map(String::valueOf)));
    TestedProcess process = TestedProcess.start(command, log("compute-" + number));
    process.awaitReady(READY_SECONDS);
    return process;
  }

  private static String joined(Stream<String> parts) {
    return parts.collect(Collectors.joining(","));
  }

  private static String name(int memoryServer) {
    return "campaign" + memoryServer;
  }

  private String registry() {
    return "-Dpando.shm.directory=" + directory.resolve("registry");
  }

  private Path log(String of) {
    return directory.resolve(of + ".log");
  }

  /** Classes of tests are in no module. */
  private static String classPath() {
    Class<?> main = ShmComputeServer.class;
    String file = main.getSimpleName() + ".class";
    Path found = Path.of(URI.create(Objects.requireNonNull(main.getResource(file)).toString()));
    Path tests = found.resolve("../".repeat(main.getName().split("\\.").length)).normalize();
    return String.join(
        File.pathSeparator,
        tests.toString(),
        System.getProperty("java.class.path"),
        System.getProperty("jdk.module.path", ""));
  }

  PandoClient connect(ClientOptions options) {
    return PandoClient.connect(joined(ports.stream().map(port -> "127.0.0.1:" + port)), options);
  }

  TestedProcess compute(int number) {
    return compute.get(number);
  }

  TestedProcess memory(int number) {
    return memory.get(number);
  }

  List<TestedProcess> all() {
    return Stream.concat(memory.stream(), compute.stream()).toList();
  }

  // Ranges.

  /** Gives a half of a compute server's range to another; nothing where all serve all keys. */
  void giveHalf(int giver, int receiver) {
    if (plan.hasRanges()) {
      Routes table = ask(giver, "give-half " + receiver);
      if (ClusterView.ranges(table, receiver).isEmpty()) {
        throw new IllegalStateException("no range was given: receiver=" + receiver + ", " + table);
      }
      look(receiver);
    }
  }

  /** Has all compute servers look at the table in the pool. */
  void lookAll() {
    IntStream.range(0, plan.computeServers).forEach(this::look);
  }

  /** Has a compute server look at the table in the pool; returns that. */
  Routes look(int number) {
    return ask(number, "look");
  }

  /** Has a compute server do something; returns the table in the pool afterwards. */
  Routes ask(int number, String request) {
    compute.get(number).send(request);
    return table(number);
  }

  /** Returns the table that a compute server answers with. */
  Routes table(int number) {
    return ShmComputeServer.table(compute.get(number).answer(ANSWER_SECONDS));
  }

  @Override
  public void close() {
    compute.forEach(TestedProcess::close);
    memory.forEach(TestedProcess::close);
  }
}
