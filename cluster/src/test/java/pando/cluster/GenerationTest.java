package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.durable.ClusterFolder;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.index.IndexOptions;
import pando.index.Session;
import pando.index.Systems;
import pando.journal.LogOptions;

/** A cluster whose memory servers have data folders, and end. */
@Timeout(120)
class GenerationTest {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final MemoryCoordinator coordinator = new MemoryCoordinator(Duration.ofSeconds(5));
  private final ClusterState state = new ClusterState(coordinator.connect());
  private final TreeMap<Long, Long> model = new TreeMap<>();
  private final Memory[] memory = new Memory[2];
  private final List<AutoCloseable> closing = new ArrayList<>();

  @TempDir private Path directory;

  /** A memory server, and its folder. */
  private record Memory(MemoryServerProcess process, ClusterFolder folder)
      implements AutoCloseable {
    @Override
    public void close() {
      process.close();
      folder.close();
    }
  }

  @AfterEach
  void end() throws Exception {
    for (AutoCloseable each : closing.reversed()) {
      each.close();
    }
  }

  private void startMemory(int number) {
    LogOptions log = LogOptions.defaults().withSegmentBytes(1 << 20);
    ClusterFolder folder =
        new ClusterFolder(directory.resolve(String.valueOf(number)), log, () -> {});
    PoolOptions options =
        PoolOptions.defaults().withBytesPerServer(16 << 20).withHandlers(folder.handlers());
    MemoryServerProcess process =
        MemoryServerProcess.start(
            coordinator::connect,
            number,
            options.bytesPerServer(),
            WAIT,
            () -> TcpMemoryServer.start(ANY, number, options, Authentication.none()));
    memory[number] = new Memory(process, folder);
    closing.add(memory[number]);
  }

  private ComputeServerProcess startCompute(String system, LogMode log) {
    IndexOptions options = Systems.named(system).defaults();
    ComputeServerSettings settings =
        new ComputeServerSettings(
            0,
            options,
            new Config(system, Map.of(), 2, 100, log, 0),
            (pool, name) ->
                TcpFabric.attach(
                    pool.stream().map(entry -> Machine.address(entry.address())).toList(),
                    name.epoch(),
                    TcpOptions.defaults()
                        .withComputeServer(name)
                        .withVerbTimeout(Duration.ofMillis(200))),
            Optional.empty(),
            WAIT,
            WAIT);
    ComputeServerProcess started = ComputeServerProcess.start(coordinator::connect, settings);
    closing.add(started);
    return started;
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(60));
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  private void change(ComputeServerProcess compute, SplittableRandom random) {
    try (Session session = compute.words().orElseThrow().session()) {
      for (int i = 0; i < 2_000; i++) {
        long key = random.nextLong(1_000);
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

  private void check(ComputeServerProcess compute) {
    try (Session session = compute.words().orElseThrow().session()) {
      for (long key = 0; key < 1_000; key++) {
        Long found = session.get(key) ? (Long) session.value() : null;
        assertThat(found).as("key %d", key).isEqualTo(model.get(key));
      }
    }
  }

  /** Ends a memory server, and starts all again that end with it. */
  private void loseMemory(int number, ComputeServerProcess compute) throws Exception {
    memory[number].close();
    startMemory(number);
    assertThat(compute.awaitEnd()).isEqualTo(ComputeServerProcess.End.LOST);
    closing.remove(compute);
    compute.close();
    Memory other = memory[1 - number];
    await(() -> other.process.isOver());
    other.close();
    startMemory(1 - number);
  }

  @Tag("campaign")
  @ParameterizedTest
  @ValueSource(strings = {"orca", "dex"})
  void shouldHaveEverythingAgainWhereAMemoryServerHasEnded(String system) throws Exception {
    SplittableRandom random = new SplittableRandom(8301);
    startMemory(0);
    startMemory(1);
    for (int generation = 1; generation <= 2; generation++) {
      ComputeServerProcess compute = startCompute(system, LogMode.DATA);
      assertThat(state.config().orElseThrow().generation()).isEqualTo(generation);
      check(compute);
      change(compute, random);
      loseMemory(generation % 2, compute);
    }
    check(startCompute(system, LogMode.DATA));
  }

  @Tag("campaign")
  @Test
  void shouldBeginNoGenerationWithOlderFolders() throws Exception {
    startMemory(0);
    startMemory(1);
    ComputeServerProcess first = startCompute("orca", LogMode.DATA);
    change(first, new SplittableRandom(8302));
    loseMemory(0, first);
    for (Memory each : memory) {
      each.close();
    }
    for (int number = 0; number < 2; number++) {
      Files.move(directory.resolve("" + number), directory.resolve(number + "-away"));
      startMemory(number);
    }
    assertThatThrownBy(() -> startCompute("orca", LogMode.DATA))
        .isInstanceOf(GenerationException.class)
        .hasMessageContaining("older generation");
    for (int number = 0; number < 2; number++) {
      memory[number].close();
      Files.move(directory.resolve("" + number), directory.resolve(number + "-new"));
      Files.move(directory.resolve(number + "-away"), directory.resolve("" + number));
      startMemory(number);
    }
    check(startCompute("orca", LogMode.DATA));
  }

  /** It would make an empty index between two generations. */
  @Test
  void shouldRefuseComputeServersThatLogElsewhere() throws Exception {
    startMemory(0);
    startMemory(1);
    ComputeServerProcess first = startCompute("orca", LogMode.DATA);
    change(first, new SplittableRandom(8303));
    loseMemory(1, first);
    assertThatThrownBy(() -> startCompute("orca", LogMode.MEMORY))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("data folders");
    check(startCompute("orca", LogMode.DATA));
  }

  @Test
  void shouldRefuseMemoryServersWithoutFolders() {
    PoolOptions options =
        PoolOptions.defaults().withBytesPerServer(16 << 20).withHandlers(Systems.handlers());
    for (int number = 0; number < 2; number++) {
      int own = number;
      closing.add(
          MemoryServerProcess.start(
              coordinator::connect,
              number,
              options.bytesPerServer(),
              WAIT,
              () -> TcpMemoryServer.start(ANY, own, options, Authentication.none())));
    }
    assertThatThrownBy(() -> startCompute("orca", LogMode.DATA))
        .isInstanceOf(GenerationException.class)
        .hasMessageContaining("no data folder");
    assertThat(state.config()).isEmpty();
  }
}
