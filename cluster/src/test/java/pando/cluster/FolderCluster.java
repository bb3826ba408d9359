package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import pando.durable.ClusterFolder;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.index.IndexOptions;
import pando.index.Session;
import pando.index.Systems;
import pando.journal.LogOptions;

/** A cluster in this process whose first two memory servers have data folders. */
final class FolderCluster implements AutoCloseable {
  private static final Duration WAIT = Duration.ofSeconds(30);

  /** Changes are of keys from 0 up to this. */
  static final int KEYS = 1_000;

  /** Bytes of a file of a log. */
  static final int SEGMENT_BYTES = 1 << 20;

  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final MemoryCoordinator coordinator = new MemoryCoordinator(Duration.ofSeconds(5));
  private final Path directory;
  private final List<Memory> memory = new ArrayList<>();
  private final List<ComputeServerProcess> compute = new ArrayList<>();
  final ClusterState state = new ClusterState(coordinator.connect());

  /** What was acknowledged. */
  final TreeMap<Long, Long> model = new TreeMap<>();

  TcpOptions tcp = TcpOptions.defaults().withVerbTimeout(Duration.ofSeconds(2));

  /** A memory server of a number, and its folder, if it has one. */
  private record Memory(MemoryServerProcess process, Optional<ClusterFolder> folder) {
    void close() {
      Closing.all(process::close, () -> folder.ifPresent(ClusterFolder::close));
    }
  }

  /**
   * Prepares a cluster.
   *
   * @param directory that has the data folders
   */
  FolderCluster(Path directory) {
    this.directory = directory;
  }

  Path folder(int number) {
    return directory.resolve(String.valueOf(number));
  }

  // Memory servers.

  /** Starts so many memory servers. */
  void startMemoryServers(int count) {
    for (int number = 0; number < count; number++) {
      startMemory(number);
    }
  }

  void startMemory(int number) {
    LogOptions log = LogOptions.defaults().withSegmentBytes(SEGMENT_BYTES);
    startMemory(
        number,
        number < ClusterFolder.FOLDERS_MAX
            ? Optional.of(new ClusterFolder(folder(number), log, () -> {}))
            : Optional.empty());
  }

  void startMemoryWithoutFolder(int number) {
    startMemory(number, Optional.empty());
  }

  private void startMemory(int number, Optional<ClusterFolder> folder) {
    PoolOptions options =
        PoolOptions.defaults()
            .withBytesPerServer(16 << 20)
            .withHandlers(folder.map(ClusterFolder::handlers).orElseGet(Systems::handlers));
    MemoryServerProcess process =
        MemoryServerProcess.start(
            coordinator::connect,
            number,
            options.bytesPerServer(),
            folder.isPresent(),
            WAIT,
            () -> TcpMemoryServer.start(ANY, number, options, Authentication.none()));
    while (memory.size() <= number) {
      memory.add(new Memory(process, folder));
    }
    memory.set(number, new Memory(process, folder));
  }

  void endMemory(int number) {
    memory.get(number).close();
  }

  void endMemoryServers() {
    memory.forEach(Memory::close);
  }

  /** Starts all memory servers again that have ended with a generation. */
  void startAgain() throws InterruptedException {
    for (int number = 0; number < memory.size(); number++) {
      await(memory.get(number).process::isOver);
      endMemory(number);
      startMemory(number);
    }
  }

  /** Ends a memory server, and starts all again that end with it. */
  void loseMemory(int number, ComputeServerProcess its) throws InterruptedException {
    endMemory(number);
    startMemory(number);
    awaitLost(its);
    for (int other = 0; other < memory.size(); other++) {
      if (other != number) {
        await(memory.get(other).process::isOver);
        endMemory(other);
        startMemory(other);
      }
    }
  }

  // Compute servers.

  ComputeServerProcess startCompute(String system) {
    return startCompute(system, LogMode.DATA);
  }

  ComputeServerProcess startCompute(String system, LogMode log) {
    return startCompute(system, log, WAIT);
  }

  ComputeServerProcess startCompute(String system, LogMode log, Duration startWait) {
    IndexOptions options = Systems.named(system).defaults();
    ComputeServerSettings settings =
        new ComputeServerSettings(
            0,
            options,
            new Config(system, Map.of(), memory.size(), 100, log, 0),
            this::attach,
            Optional.empty(),
            startWait,
            WAIT);
    ComputeServerProcess started = ComputeServerProcess.start(coordinator::connect, settings);
    compute.add(started);
    return started;
  }

  Fabric attach(List<PoolEntry> pool, ComputeServer name) {
    return TcpFabric.attach(
        pool.stream().map(entry -> Machine.address(entry.address())).toList(),
        name.epoch(),
        tcp.withComputeServer(name));
  }

  /** Waits until a compute server has ended with its generation, and closes it. */
  void awaitLost(ComputeServerProcess its) throws InterruptedException {
    assertThat(its.awaitEnd()).isEqualTo(ComputeServerProcess.End.LOST);
    close(its);
  }

  void close(ComputeServerProcess its) {
    compute.remove(its);
    its.close();
  }

  static void await(BooleanSupplier condition) throws InterruptedException {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(60));
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  // Entries.

  void change(ComputeServerProcess its, SplittableRandom random) {
    try (Session session = its.words().orElseThrow().session()) {
      for (int i = 0; i < 2_000; i++) {
        long key = random.nextLong(KEYS);
        if (random.nextInt(4) == 0) {
          session.discard(key);
          model.remove(key);
        } else {
          session.store(key, i);
          model.put(key, (long) i);
        }
      }
    }
  }

  void check(ComputeServerProcess its) {
    check(its, model);
  }

  void check(ComputeServerProcess its, Map<Long, Long> expected) {
    assertThat(entries(its)).isEqualTo(expected);
  }

  Map<Long, Long> entries(ComputeServerProcess its) {
    Map<Long, Long> found = new TreeMap<>();
    try (Session session = its.words().orElseThrow().session()) {
      for (long key = 0; key <= KEYS; key++) {
        if (session.get(key)) {
          found.put(key, session.value());
        }
      }
    }
    return found;
  }

  @Override
  public void close() {
    List<Runnable> steps = new ArrayList<>();
    compute.reversed().forEach(its -> steps.add(its::close));
    memory.forEach(its -> steps.add(its::close));
    steps.add(state.membership()::close);
    Closing.all(steps);
  }
}
