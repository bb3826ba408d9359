package pando.cluster;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.ClientOptions;
import pando.client.ClientSession;
import pando.client.PandoClient;
import pando.client.Routes;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.index.IndexOptions;
import pando.index.NotServedHereException;
import pando.index.RangeIndex;
import pando.index.ServedOptions;
import pando.index.Session;
import pando.index.Systems;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.KeyBounds;
import pando.index.dex.DexOptions;

/** Servers with threads and sockets, by a coordinator in this process. */
@Timeout(120)
class ComputeServerProcessTest {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private final PoolOptions poolOptions =
      PoolOptions.defaults().withBytesPerServer(16 << 20).withHandlers(Systems.handlers());
  private static final IndexOptions OPTIONS =
      DexOptions.defaults()
          .with("node-bytes", "192")
          .with("cache-bytes", String.valueOf(256 * 192))
          .with("compute-servers", "8");
  private static final Config CONFIG = new Config("dex", Map.of(), 2, 100);

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
    return startMemory(number, coordinator::connect);
  }

  private MemoryServerProcess startMemory(int number, Supplier<Membership> sessions) {
    MemoryServerProcess server =
        MemoryServerProcess.start(
            sessions,
            number,
            poolOptions.bytesPerServer(),
            /* hasFolder= */ false,
            Duration.ofMillis(300),
            () -> TcpMemoryServer.start(ANY, number, poolOptions, Authentication.none()));
    closing.add(server);
    return server;
  }

  private static ComputeServerSettings settings(int number, Config config, Duration wait) {
    return settings(number, config, wait, WAIT);
  }

  private static ComputeServerSettings settings(
      int number, Config config, Duration wait, Duration coordinatorWait) {
    return settings(OPTIONS, number, config, wait, coordinatorWait);
  }

  private static ComputeServerSettings settings(
      ServedOptions options, int number, Config config, Duration wait, Duration coordinatorWait) {
    return new ComputeServerSettings(
        number,
        options,
        config,
        (pool, name) ->
            TcpFabric.attach(
                pool.stream().map(entry -> Machine.address(entry.address())).toList(),
                name.epoch(),
                TcpOptions.defaults().withComputeServer(name)),
        Optional.of(new ClientListener(ANY, Authentication.none(), 1)),
        wait,
        coordinatorWait);
  }

  /** Returns a session, and new ones behind it. */
  private Supplier<Membership> sessions(MemoryMembership first) {
    Iterator<MemoryMembership> sessions = List.of(first).iterator();
    return () -> sessions.hasNext() ? sessions.next() : coordinator.connect();
  }

  private ComputeServerProcess startCompute(int number, MemoryMembership membership) {
    ComputeServerProcess server =
        ComputeServerProcess.start(sessions(membership), settings(number, CONFIG, WAIT));
    closing.add(server);
    return server;
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
        .map(routes -> routes.routes().stream().map(Routes.Route::owner).toList())
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
    await(() -> !state.routes().orElseThrow().routes().get(1).address().isEmpty());
    await(() -> second.words().orElseThrow().serves(Long.MAX_VALUE));
    assertThat(first.strings()).isEmpty();
    try (Session low = first.words().orElseThrow().session();
        Session high = second.words().orElseThrow().session()) {
      assertThat(low.put(Long.MIN_VALUE, 1)).as("replaced").isFalse();
      assertThat(high.put(Long.MAX_VALUE, 2)).as("replaced").isFalse();
      assertThat(high.get(Long.MAX_VALUE)).isTrue();
      assertThatThrownBy(() -> high.get(Long.MIN_VALUE)).isInstanceOf(NotServedHereException.class);
      coordinator.disconnect(lostSession);
      coordinator.advance(Duration.ofSeconds(5));
      await(() -> owners().equals(List.of(0)));
      await(() -> first.words().orElseThrow().serves(Long.MAX_VALUE));
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
    second.close();
    int removal = state.ask(Change.remove(0));
    await(() -> state.change(removal).orElseThrow().isOver());
    assertThat(state.change(removal).orElseThrow().why()).contains("last compute server");
    ComputeServerProcess third = startCompute(2, coordinator.connect());
    await(() -> owners().size() == 2);
    int last = state.ask(Change.remove(2));
    await(() -> state.change(last).orElseThrow().isOver());
    assertThat(third.awaitEnd()).isEqualTo(ComputeServerProcess.End.REMOVED);
  }

  private ComputeServerProcess startStrings(int number, MemoryMembership membership) {
    ByteOptions options = ByteOptions.defaults().withCacheBytes(1 << 20);
    Config config = new Config(options.system(), Map.of(), 2, 100);
    ComputeServerProcess server =
        ComputeServerProcess.start(
            sessions(membership), settings(options, number, config, WAIT, WAIT));
    closing.add(server);
    return server;
  }

  private static MemorySegment string(int number) {
    return MemorySegment.ofArray(
        "%c: a string with the number %d".formatted(number % 256, number).getBytes(ISO_8859_1));
  }

  private static boolean serves(ComputeServerProcess process, MemorySegment key) {
    try (ByteSession session = process.strings().orElseThrow().session()) {
      session.get(key);
      return true;
    } catch (NotServedHereException e) {
      return false;
    }
  }

  /** An empty index is divided in the middle of all first bytes. */
  @Test
  void shouldShareByteStrings() throws Exception {
    startMemory(0);
    startMemory(1);
    MemoryMembership lostSession = coordinator.connect();
    ComputeServerProcess first = startStrings(0, coordinator.connect());
    ComputeServerProcess second = startStrings(1, lostSession);
    await(() -> owners().size() == 2);
    await(() -> serves(second, string(255)));
    assertThat(first.words()).isEmpty();
    ByteStrings low = first.strings().orElseThrow();
    ByteStrings high = second.strings().orElseThrow();
    assertThat(low.keyBytesMax()).isEqualTo(65_535);
    try (ByteSession one = low.session();
        ByteSession other = high.session()) {
      for (int i = 0; i < 1_024; i++) {
        boolean isLow = KeyBounds.rangeOfKey(low.partitioning(), string(i)) == 0;
        assertThat((isLow ? one : other).put(string(i), string(i))).isFalse();
      }
      assertThat(one.get(string(0))).isTrue();
      assertThatThrownBy(() -> one.get(string(255))).isInstanceOf(NotServedHereException.class);
      assertThatThrownBy(() -> other.get(string(0))).isInstanceOf(NotServedHereException.class);
      // A third one comes and goes: all is written back meanwhile.
      ComputeServerProcess third = startStrings(2, coordinator.connect());
      await(() -> owners().size() == 3);
      int removal = state.ask(Change.remove(2));
      await(() -> state.change(removal).orElseThrow().isOver());
      assertThat(third.awaitEnd()).isEqualTo(ComputeServerProcess.End.REMOVED);
      await(() -> owners().equals(List.of(0, 1)));
      coordinator.disconnect(lostSession);
      coordinator.advance(Duration.ofSeconds(5));
      await(() -> owners().equals(List.of(0)));
      await(() -> serves(first, string(255)));
      // It runs on, has no session, and answers nothing from its cache.
      assertThatThrownBy(() -> other.get(string(255))).isInstanceOf(FencedException.class);
      assertThatThrownBy(() -> other.put(string(255), string(1)))
          .isInstanceOfAny(UnknownOutcomeException.class, FencedException.class);
      long entries =
          one.scan(
              MemorySegment.ofArray(new byte[0]),
              null,
              Long.MAX_VALUE,
              (key, value) -> key.mismatch(value) < 0);
      assertThat(entries).isBetween(512L, 1_024L);
      for (int i = 0; i < 1_024; i++) {
        one.store(string(i), string(i + 1));
      }
      assertThat(one.get(string(255))).isTrue();
      assertThat(one.value().mismatch(string(256))).isEqualTo(-1);
    }
    coordinator.reconnect(lostSession);
    assertThat(second.awaitEnd()).isEqualTo(ComputeServerProcess.End.LOST);
    closing.remove(second);
    second.close();
    assertThatThrownBy(high::session).isInstanceOf(IllegalStateException.class);
    assertThat(low.isClosed()).isFalse();
  }

  @Test
  void shouldServeClientsWhereverARangeGoes() throws Exception {
    startMemory(0);
    startMemory(1);
    ComputeServerProcess first = startCompute(0, coordinator.connect());
    ClientOptions patient = ClientOptions.defaults().withPatience(Duration.ofSeconds(30));
    String address = Machine.text(first.clientAddress().orElseThrow());
    try (PandoClient client = PandoClient.connect(address, patient);
        ClientSession session = client.session()) {
      for (long key = 0; key < 1_000; key++) {
        assertThat(session.put(key << 50, key)).as("replaced %s", key).isFalse();
      }
      ComputeServerProcess second = startCompute(1, coordinator.connect());
      await(() -> owners().size() == 2);
      assertEntries(session);
      assertThat(client.routes().routes()).hasSize(2).noneMatch(route -> route.address().isEmpty());
      int removal = state.ask(Change.remove(0));
      await(() -> state.change(removal).orElseThrow().isOver());
      assertThat(first.awaitEnd()).isEqualTo(ComputeServerProcess.End.REMOVED);
      closing.remove(first);
      first.close();
      assertEntries(session);
      assertThat(session.put(0, 7)).isTrue();
      try (Session own = second.words().orElseThrow().session()) {
        assertThat(own.get(0)).isTrue();
        assertThat(own.value()).isEqualTo(7);
        assertThat(own.put(0, 0)).isTrue();
      }
      assertEntries(session);
    }
  }

  private static void assertEntries(Session session) {
    AtomicLong next = new AtomicLong();
    long entries =
        session.scan(
            0,
            Long.MAX_VALUE,
            Long.MAX_VALUE,
            (key, value) -> key == next.get() << 50 && value == next.getAndIncrement());
    assertThat(entries).isEqualTo(1_000);
    for (long key = 0; key < 1_000; key++) {
      assertThat(session.get(key << 50)).as("%s", key).isTrue();
      assertThat(session.value()).isEqualTo(key);
    }
  }

  @Test
  void shouldAnnounceAMemoryServerAgainWhoseSessionHasEnded() throws Exception {
    MemoryMembership lost = coordinator.connect();
    Iterator<Supplier<Membership>> sessions =
        List.<Supplier<Membership>>of(
                () -> lost, ComputeServerProcessTest::silent, coordinator::connect)
            .iterator();
    startMemory(0, () -> sessions.next().get());
    startMemory(1);
    ComputeServerProcess compute = startCompute(0, coordinator.connect());
    await(() -> state.routes().isPresent());
    coordinator.disconnect(lost);
    coordinator.advance(Duration.ofSeconds(5));
    await(() -> state.pool().getFirst().state() == ServerState.LOST);
    try (Session session = compute.words().orElseThrow().session()) {
      assertThat(session.put(1, 2)).isFalse();
    }
    coordinator.reconnect(lost);
    await(() -> state.pool().getFirst().state() == ServerState.SERVING);
    assertThat(state.memoryServers()).hasSize(2);
  }

  /** What was fenced while it counted as lost may have been given to others. */
  @ParameterizedTest(name = "whileItIsAnnounced={0}")
  @ValueSource(booleans = {false, true})
  void shouldFenceAtAMemoryServerThatIsBackWhatWasFencedMeanwhile(boolean whileItIsAnnounced)
      throws Exception {
    MemoryMembership lost = coordinator.connect();
    Runnable[] atAnnouncement = {() -> {}};
    Membership next = beforeItsFirstCommit(coordinator.connect(), () -> atAnnouncement[0].run());
    Iterator<Membership> sessions = List.of(lost, next).iterator();
    MemoryServerProcess memory = startMemory(0, sessions::next);
    List<InetSocketAddress> addresses = List.of(Machine.address(memory.place()));
    TcpOptions seventh = TcpOptions.defaults().withComputeServer(new ComputeServer(5, 7));
    try (Fabric before = TcpFabric.attach(addresses, 1, seventh)) {
      readAWord(before);
      AtomicBoolean fencedBefore = new AtomicBoolean();
      if (whileItIsAnnounced) {
        atAnnouncement[0] = this::fenceServer5;
      } else {
        fenceServer5();
        atAnnouncement[0] = () -> fencedBefore.set(isFenced(before));
      }
      lost.close();
      await(() -> state.memoryServers().size() == 1);
      await(() -> isFenced(before));
      assertThat(fencedBefore.get()).isEqualTo(!whileItIsAnnounced);
    }
    TcpOptions eighth = TcpOptions.defaults().withComputeServer(new ComputeServer(5, 8));
    try (Fabric now = TcpFabric.attach(addresses, 1, eighth)) {
      readAWord(now);
    }
  }

  private void fenceServer5() {
    byte[] eight = new EntryWriter('e').word(8).bytes();
    assertThat(coordinator.connect().commit(List.of(new Write.Create("epochs/5", eight)))).isTrue();
  }

  /** Returns a session before whose first commit something happens. */
  private static Membership beforeItsFirstCommit(Membership session, Runnable happening) {
    boolean[] happened = {false};
    return (Membership)
        Proxy.newProxyInstance(
            Membership.class.getClassLoader(),
            new Class<?>[] {Membership.class},
            (_, method, arguments) -> {
              if (method.getName().equals("commit") && !happened[0]) {
                happened[0] = true;
                happening.run();
              }
              try {
                return method.invoke(session, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static boolean isFenced(Fabric fabric) {
    try {
      readAWord(fabric);
      return false;
    } catch (FencedException e) {
      return true;
    }
  }

  private static void readAWord(Fabric fabric) {
    try (RegisteredMemory memory = fabric.register(Long.BYTES);
        Worker worker = fabric.worker(memory)) {
      worker.read(GlobalAddress.of(0, 0), 0, Long.BYTES);
    }
  }

  /** As where all processes of a machine stand still for longer than their sessions last. */
  @Test
  void shouldLoseNothingWhereAllSessionsEnd() throws Exception {
    List<MemoryMembership> sessions = new ArrayList<>();
    Supplier<Membership> opened =
        () -> {
          synchronized (sessions) {
            sessions.add(coordinator.connect());
            return sessions.getLast();
          }
        };
    startMemory(0, opened);
    startMemory(1, opened);
    Config calm = new Config("dex", Map.of(), 2, 1_000);
    List<ComputeServerProcess> servers = new ArrayList<>();
    for (int number = 0; number < 2; number++) {
      servers.add(ComputeServerProcess.start(opened, settings(number, calm, WAIT)));
      closing.add(servers.getLast());
    }
    await(() -> owners().size() == 2);
    await(() -> servers.get(1).words().orElseThrow().serves(Long.MAX_VALUE));
    try (Session low = servers.get(0).words().orElseThrow().session();
        Session high = servers.get(1).words().orElseThrow().session()) {
      assertThat(low.put(1L << 63, 1)).isFalse();
      assertThat(high.put(Long.MAX_VALUE, 2)).isFalse();
      List<MemoryMembership> ending = List.copyOf(sessions);
      ending.forEach(coordinator::disconnect);
      coordinator.advance(Duration.ofSeconds(5));
      assertThat(state.computeServers()).isEmpty();
      ending.forEach(coordinator::reconnect);
      await(() -> state.computeServers().size() == 2 && state.memoryServers().size() == 2);
      await(() -> state.pool().stream().allMatch(entry -> entry.state() == ServerState.SERVING));
      await(() -> state.leader().isPresent());
      assertThat(low.get(1L << 63)).isTrue();
      assertThat(high.get(Long.MAX_VALUE)).isTrue();
      assertThat(high.value()).isEqualTo(2);
    }
    assertThat(state.computeServers()).extracting(Member::epoch).containsExactly(1L, 1L);
    int last = state.ask(Change.remove(1));
    await(() -> state.change(last).orElseThrow().isOver());
    assertThat(servers.get(1).awaitEnd()).isEqualTo(ComputeServerProcess.End.REMOVED);
    assertThat(state.changes()).noneMatch(Change::isFence);
  }

  private static Membership silent() {
    throw new CoordinatorLostException("silent in a test");
  }

  @Test
  void shouldWriteBackAndEndWhereTheCoordinatorIsGoneForGood() throws Exception {
    startMemory(0);
    startMemory(1);
    MemoryMembership gone = coordinator.connect();
    ComputeServerProcess first =
        ComputeServerProcess.start(() -> gone, settings(0, CONFIG, WAIT, Duration.ofMillis(500)));
    await(() -> state.routes().isPresent());
    try (Session session = first.words().orElseThrow().session()) {
      assertThat(session.put(1, 2)).isFalse();
      coordinator.disconnect(gone);
      assertThat(session.get(1)).as("served on").isTrue();
    }
    assertThat(first.awaitEnd()).isEqualTo(ComputeServerProcess.End.COORDINATOR_GONE);
    first.close();
    coordinator.advance(Duration.ofSeconds(5));
    ComputeServerProcess again = startCompute(0, coordinator.connect());
    await(() -> again.words().orElseThrow().serves(1));
    try (Session session = again.words().orElseThrow().session()) {
      assertThat(session.get(1)).isTrue();
      assertThat(session.value()).isEqualTo(2);
    }
  }

  @Test
  void shouldRefuseAPoolWithAnIndexOfAnotherFormat() {
    startMemory(0);
    startMemory(1);
    List<InetSocketAddress> addresses =
        state.pool().stream().map(entry -> Machine.address(entry.address())).toList();
    try (Fabric fabric = TcpFabric.attach(addresses, 1, TcpOptions.defaults());
        RangeIndex index = OPTIONS.with("node-bytes", "512").create(fabric)) {
      assertThat(index.isClosed()).isFalse();
    }
    assertThatThrownBy(() -> startCompute(0, coordinator.connect()))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("the pool has another index than the cluster")
        .hasMessageContaining("512");
  }

  /** The second cluster has memory servers of its own, on other addresses. */
  @Test
  void shouldRefuseASecondClusterOfTheSameName() {
    startMemory(0);
    startMemory(1);
    startCompute(0, coordinator.connect());
    for (int number = 0; number < 2; number++) {
      int its = number;
      assertThatThrownBy(() -> startMemory(its))
          .isInstanceOf(WaitOverException.class)
          .hasMessageContaining("another memory server has this number");
    }
    Supplier<Membership> other = coordinator::connect;
    Config alone = new Config("dex", Map.of(), 1, 100);
    assertThatThrownBy(() -> ComputeServerProcess.start(other, settings(1, alone, WAIT)))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("the cluster has another index")
        .hasMessageContaining("memoryServers=1");
  }

  /** Leases come from memory server 0, so nothing can be answered without it. */
  @Tag("campaign")
  @Test
  void shouldTellThatTheMemoryServerOfLeasesIsLost() throws Exception {
    MemoryServerProcess memory = startMemory(0);
    startMemory(1);
    ComputeServerProcess compute = startCompute(0, coordinator.connect());
    await(() -> state.routes().isPresent());
    try (Session session = compute.words().orElseThrow().session()) {
      assertThat(session.put(1, 2)).isFalse();
      closing.remove(memory);
      memory.close();
      AtomicReference<PandoException> last = new AtomicReference<>();
      await(() -> {
        try {
          session.get(1);
          return false;
        } catch (PandoException e) {
          last.set(e);
          return true;
        }
      });
      assertThat(last.get()).isInstanceOf(MemoryServerLostException.class);
    }
    closing.remove(compute);
    assertThatThrownBy(compute::close).isInstanceOf(MemoryServerLostException.class);
  }

  @Test
  void shouldRefuseToServeWhereNobodyCanConnect() {
    InetSocketAddress all = new InetSocketAddress("0.0.0.0", 0);
    assertThatThrownBy(() -> new ClientListener(all, Authentication.none(), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0.0.0.0");
  }

  @Test
  void shouldRefuseTwoServersOfOneNumber() {
    startMemory(0);
    assertThatThrownBy(() -> startMemory(0))
        .isInstanceOf(WaitOverException.class)
        .hasMessageContaining("another memory server has this number");
    startMemory(1);
    startCompute(3, coordinator.connect());
    Supplier<Membership> other = coordinator::connect;
    assertThatThrownBy(
            () -> ComputeServerProcess.start(other, settings(3, CONFIG, Duration.ofMillis(300))))
        .isInstanceOf(WaitOverException.class)
        .hasMessageContaining("another compute server has this number");
  }

  @Test
  void shouldRefuseAnotherIndexAndMissingMemoryServers() {
    MemoryServerProcess memoryServer = startMemory(0);
    Supplier<Membership> own = coordinator::connect;
    assertThatThrownBy(
            () -> ComputeServerProcess.start(own, settings(5, CONFIG, Duration.ofMillis(300))))
        .isInstanceOf(WaitOverException.class)
        .hasMessageContaining("memory servers are missing: needed=2");
    startMemory(1);
    ComputeServerProcess compute = startCompute(0, coordinator.connect());
    Config other = new Config("dex", Map.of("node-bytes", "512"), 2, 100);
    assertThatThrownBy(() -> ComputeServerProcess.start(own, settings(6, other, WAIT)))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("node-bytes=512");
    assertThatThrownBy(() -> startMemory(2))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("made without this memory server");
    closing.removeAll(List.of(compute, memoryServer));
    compute.close();
    memoryServer.close();
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
                0, sherman, CONFIG, ComputeServerProcessTest::noPool, Optional.empty(), WAIT, WAIT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("sherman");
  }

  private static Fabric noPool(List<PoolEntry> pool, pando.fabric.ComputeServer name) {
    throw new IllegalStateException("not attached: " + pool + name);
  }
}
