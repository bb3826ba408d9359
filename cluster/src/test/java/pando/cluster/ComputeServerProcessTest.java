package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpOptions;
import pando.index.IndexOptions;
import pando.index.NotServedHereException;
import pando.index.Session;
import pando.index.Systems;
import pando.index.dex.DexOptions;

/** Servers with threads and sockets, by a coordinator in this process. */
@Timeout(120)
class ComputeServerProcessTest {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final PoolOptions POOL =
      PoolOptions.defaults().withBytesPerServer(16 << 20).withHandlers(Systems.handlers());
  private static final IndexOptions OPTIONS =
      DexOptions.defaults()
          .with("node-bytes", "192")
          .with("cache-bytes", String.valueOf(256 * 192))
          .with("compute-servers", "8");
  private static final Config CONFIG = new Config(1, "dex", Map.of(), 2, 100);

  private final MemoryCoordinator coordinator = new MemoryCoordinator(Duration.ofSeconds(5));
  private final ClusterState state = new ClusterState(coordinator.connect());
  private final List<AutoCloseable> closing = new ArrayList<>();

  @AfterEach
  void end() throws Exception {
    for (AutoCloseable each : closing.reversed()) {
      each.close();
    }
  }

  private MemoryServerProcess startMemory(int number) {
    return startMemory(number, coordinator.connect());
  }

  private MemoryServerProcess startMemory(int number, Membership membership) {
    MemoryServerProcess server =
        MemoryServerProcess.start(
            new ClusterState(membership),
            number,
            ANY,
            POOL,
            Authentication.none(),
            Duration.ofMillis(300));
    closing.add(server);
    return server;
  }

  private static ComputeServerSettings settings(int number, Config config, Duration wait) {
    return new ComputeServerSettings(
        number,
        OPTIONS,
        config,
        (pool, name) ->
            TcpFabric.attach(
                pool.stream().map(entry -> Machine.address(entry.address())).toList(),
                name.epoch(),
                TcpOptions.defaults().withComputeServer(name)),
        wait,
        WAIT);
  }

  private ComputeServerProcess startCompute(int number, MemoryMembership membership) {
    ComputeServerProcess server =
        ComputeServerProcess.start(
            new ClusterState(membership), settings(number, CONFIG, WAIT), DoorStub::new);
    closing.add(server);
    return server;
  }

  /** A door that nobody comes through. */
  private record DoorStub(
      pando.index.RangeIndex index, java.util.function.Supplier<Optional<Routes>> routes)
      implements ClientDoor {
    @Override
    public String address() {
      return "127.0.0.1:7";
    }

    @Override
    public void close() {}
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(60));
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  private List<Integer> owners() {
    return state
        .routes()
        .map(routes -> routes.ranges().stream().map(Routes.Range::server).toList())
        .orElse(List.of());
  }

  @Test
  void shouldServeTakeOverAndEnd() throws Exception {
    startMemory(0);
    startMemory(1);
    MemoryMembership lostSession = coordinator.connect();
    ComputeServerProcess first = startCompute(0, coordinator.connect());
    ComputeServerProcess second = startCompute(1, lostSession);
    await(() -> owners().size() == 2);
    await(() -> state.routes().orElseThrow().ranges().get(1).address().equals("127.0.0.1:7"));
    await(() -> second.index().serves(Long.MAX_VALUE));
    try (Session low = first.index().session();
        Session high = second.index().session()) {
      assertThat(low.put(Long.MIN_VALUE, 1)).as("replaced").isFalse();
      assertThat(high.put(Long.MAX_VALUE, 2)).as("replaced").isFalse();
      assertThat(high.get(Long.MAX_VALUE)).isTrue();
      assertThatThrownBy(() -> high.get(Long.MIN_VALUE)).isInstanceOf(NotServedHereException.class);
      coordinator.disconnect(lostSession);
      coordinator.advance(Duration.ofSeconds(5));
      await(() -> owners().equals(List.of(0)));
      await(() -> first.index().serves(Long.MAX_VALUE));
      assertThat(low.put(Long.MAX_VALUE, 3)).isIn(true, false);
      // It runs on, has no session, and answers nothing from its cache.
      assertThatThrownBy(() -> high.get(Long.MAX_VALUE)).isInstanceOf(FencedException.class);
      assertThatThrownBy(() -> high.put(Long.MAX_VALUE, 9))
          .isInstanceOfAny(UnknownOutcomeException.class, FencedException.class);
      assertThat(low.get(Long.MAX_VALUE)).isTrue();
      assertThat(low.value()).isEqualTo(3);
    }
    coordinator.reconnect(lostSession);
    assertThat(second.awaitEnd()).isEqualTo(ComputeServerProcess.End.LOST);
    closing.remove(second);
    int removal = state.ask(Change.remove(0));
    await(() -> state.change(removal).orElseThrow().isOver());
    assertThat(state.change(removal).orElseThrow().why()).contains("last compute server");
    ComputeServerProcess third = startCompute(2, coordinator.connect());
    await(() -> owners().size() == 2);
    int last = state.ask(Change.remove(2));
    await(() -> state.change(last).orElseThrow().isOver());
    assertThat(third.awaitEnd()).isEqualTo(ComputeServerProcess.End.REMOVED);
  }

  @Test
  void shouldRefuseTwoServersOfOneNumber() {
    startMemory(0);
    assertThatThrownBy(() -> startMemory(0))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("another memory server has this number");
    startMemory(1);
    startCompute(3, coordinator.connect());
    ClusterState other = new ClusterState(coordinator.connect());
    assertThatThrownBy(() ->
            ComputeServerProcess.start(other, settings(3, CONFIG, Duration.ofMillis(300)), null))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("another compute server has this number");
  }

  @Test
  void shouldRefuseAnotherIndexAndMissingMemoryServers() {
    MemoryMembership session = coordinator.connect();
    startMemory(0, session);
    ClusterState own = new ClusterState(coordinator.connect());
    assertThatThrownBy(() ->
            ComputeServerProcess.start(own, settings(5, CONFIG, Duration.ofMillis(300)), null))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("memory servers are missing: needed=2");
    startMemory(1);
    startCompute(0, coordinator.connect());
    Config other = new Config(2, "dex", Map.of("node-bytes", "512"), 2, 100);
    assertThatThrownBy(() -> ComputeServerProcess.start(own, settings(6, other, WAIT), null))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("node-bytes=512");
    assertThatThrownBy(() -> startMemory(2))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("made without this memory server");
    session.close();
    assertThatThrownBy(() -> startMemory(0))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("is gone, and the index needs it");
  }

  @Test
  void shouldRefuseASystemWhoseRangesDoNotMove() {
    IndexOptions sherman =
        Systems.all().stream()
            .map(pando.index.IndexSystem::defaults)
            .filter(options -> options.system().equals("sherman"))
            .findFirst()
            .orElseThrow();
    assertThatThrownBy(() ->
            new ComputeServerSettings(
                0, sherman, CONFIG, ComputeServerProcessTest::noPool, WAIT, WAIT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sherman");
  }

  private static Fabric noPool(List<PoolEntry> pool, pando.fabric.ComputeServer name) {
    throw new IllegalStateException("not attached: " + pool + name);
  }
}
