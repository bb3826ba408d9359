package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.ToIntFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.Fabric;
import pando.fabric.Lane;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.index.Entries;
import pando.index.IndexProcess;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/**
 * Every system beside a memory server that is stopped, goes on, is killed and started anew: each
 * operation ends, and finds no value but those that were stored last, or may have been.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(300)
class TcpOutageTest {
  private static final long SEED = 0x5EED_0013L;
  private static final int STOPS = Seeds.count(1, 3, 20);
  private static final int CLIENTS = 4;
  private static final int KEYS = 2_000;
  private static final int OPERATIONS = 100;
  private static final TcpOptions STOPPED =
      TcpOptions.defaults()
          .withVerbTimeout(Duration.ofMillis(200))
          .withLostAfter(Duration.ofMinutes(1));
  private static final TcpOptions LOST =
      TcpOptions.defaults()
          .withVerbTimeout(Duration.ofMillis(200))
          .withLostAfter(Duration.ofMillis(400));

  /** Two that differ most in what they cache; in a campaign, all. */
  static Stream<SystemUnderTest> systems() {
    List<SystemUnderTest> two = List.of(SystemUnderTest.DEX, SystemUnderTest.of("deft"));
    return (Seeds.isCampaign() ? SystemUnderTest.ALL : two).stream();
  }

  @Tag("campaign")
  @ParameterizedTest
  @MethodSource("systems")
  void shouldGoOnWithAMemoryServerThatGoesOnAndLoseOneThatIsStartedAnew(SystemUnderTest system)
      throws Exception {
    try (TcpMemoryServer zero = TcpMemoryServer.start(loopback(0), 0, Pools.options(8 << 20));
        IndexProcess one = IndexProcess.tcpMemoryServer(0, 1);
        Fabric fabric = TcpFabric.attach(List.of(zero.address(), address(one)), 1, STOPPED)) {
      try (RangeIndex index = create(system, fabric);
          Load load = new Load(fabric, index)) {
        load.awaitOperations();
        for (int i = 0; i < STOPS; i++) {
          one.signal("STOP");
          load.awaitFailure();
          one.signal("CONT");
          load.awaitOperations();
        }
        one.kill();
        try (IndexProcess anew = IndexProcess.tcpMemoryServer(address(one).getPort(), 1)) {
          load.awaitLosses();
          load.end();
          closeWithLosses(index);
          assertThat(address(anew)).isEqualTo(address(one));
        }
      }
    }
  }

  @Tag("campaign")
  @ParameterizedTest
  @MethodSource("systems")
  void shouldCloseBesideAMemoryServerThatIsStoppedForGood(SystemUnderTest system) throws Exception {
    try (TcpMemoryServer zero = TcpMemoryServer.start(loopback(0), 0, Pools.options(8 << 20));
        IndexProcess one = IndexProcess.tcpMemoryServer(0, 1);
        Fabric fabric = TcpFabric.attach(List.of(zero.address(), address(one)), 1, LOST)) {
      try (RangeIndex index = create(system, fabric);
          Load load = new Load(fabric, index)) {
        load.awaitOperations();
        one.signal("STOP");
        load.awaitLosses();
        load.end();
        closeWithLosses(index);
      } finally {
        one.kill();
      }
    }
  }

  private static RangeIndex create(SystemUnderTest system, Fabric fabric) {
    RangeIndex index = system.tiny(2).withLockWait(500).create(fabric);
    NavigableMap<Long, Long> all = new TreeMap<>();
    LongStream.range(0, (long) CLIENTS * KEYS).forEach(key -> all.put(key, 0L));
    index.bulkLoad(Entries.of(all), 0.7);
    return index;
  }

  /** What was not written back is lost with the memory server, which closing says once. */
  private static void closeWithLosses(RangeIndex index) {
    try {
      index.close();
    } catch (MemoryServerLostException expected) {
      index.close();
    }
    assertThat(index.isClosed()).isTrue();
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  private static InetSocketAddress address(IndexProcess server) throws IOException {
    String place = server.place();
    return loopback(Integer.parseInt(place.substring(place.lastIndexOf(':') + 1)));
  }

  /** Clients in threads of their own and in a lane, each with keys of its own. */
  private static final class Load implements AutoCloseable {
    private final Lane lane;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final ExecutorService inLane;
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final List<Client> clients = new ArrayList<>();
    private final List<Future<Void>> runs = new ArrayList<>();

    Load(Fabric fabric, RangeIndex index) {
      lane = fabric.lane("lane");
      inLane = Executors.newThreadPerTaskExecutor(lane);
      SplittableRandom random = new SplittableRandom(Seeds.of(SEED));
      for (int i = 0; i < CLIENTS; i++) {
        Client client = new Client(i, random.split());
        clients.add(client);
        Callable<Void> run =
            () -> {
              client.run(index, stopped);
              return null;
            };
        runs.add((i % 2 == 0 ? threads : inLane).submit(run));
      }
    }

    /** Waits until each has done further operations. */
    void awaitOperations() throws Exception {
      await(Client::operations, OPERATIONS);
    }

    /**
     * Waits until an operation has failed. The others may wait for that one, or try to connect
     * until the memory server is lost.
     */
    void awaitFailure() throws Exception {
      awaitSum(client -> client.failures.get(), 1);
    }

    /** Waits until operations have learnt many times that the memory server is lost. */
    void awaitLosses() throws Exception {
      awaitSum(client -> client.losses.get(), 100);
    }

    private void awaitSum(ToIntFunction<Client> count, int more) throws Exception {
      int goal = clients.stream().mapToInt(count).sum() + more;
      awaitUntil(() -> clients.stream().mapToInt(count).sum() >= goal);
    }

    private void awaitUntil(BooleanSupplier isSo) throws Exception {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
      while (!isSo.getAsBoolean()) {
        for (Future<Void> run : runs) {
          if (run.isDone()) {
            run.get();
          }
        }
        assertThat(System.nanoTime()).as("%s", this).isLessThan(deadline);
        Thread.sleep(1);
      }
    }

    private void await(ToIntFunction<Client> count, int more) throws Exception {
      int[] goals = clients.stream().mapToInt(count).map(each -> each + more).toArray();
      for (int i = 0; i < CLIENTS; i++) {
        int each = i;
        awaitUntil(() -> count.applyAsInt(clients.get(each)) >= goals[each]);
      }
    }

    /** Ends all clients; fails if one has seen what cannot be. */
    void end() throws Exception {
      stopped.set(true);
      for (Future<Void> run : runs) {
        run.get(90, TimeUnit.SECONDS);
      }
    }

    @Override
    public void close() {
      stopped.set(true);
      threads.close();
      inLane.close();
      lane.close();
    }

    @Override
    public String toString() {
      return clients.toString();
    }
  }

  /** A session with keys of its own, beside all values that each may have. */
  private static final class Client {
    private static final long ABSENT = -1;

    private final int number;
    private final SplittableRandom random;
    private final Map<Long, Set<Long>> possible = new HashMap<>();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicInteger losses = new AtomicInteger();
    private @Nullable PandoException last;

    Client(int number, SplittableRandom random) {
      this.number = number;
      this.random = random;
    }

    int operations() {
      return done.get();
    }

    @SuppressWarnings("ThreadPriorityCheck") // In a lane it is what lets others run.
    void run(RangeIndex index, AtomicBoolean stopped) {
      try (Session session = index.session()) {
        for (long i = 1; !stopped.get(); i++) {
          long key = random.nextInt(KEYS) * (long) CLIENTS + number;
          operate(session, key, i);
          Thread.yield(); // What it looks up may all be cached.
        }
      }
    }

    private void operate(Session session, long key, long i) {
      Set<Long> values = possible.computeIfAbsent(key, _ -> new HashSet<>(Set.of(0L)));
      long value = random.nextInt(3) == 0 ? ABSENT : i;
      try {
        switch (random.nextInt(5)) {
          case 0, 1, 2 -> change(session, key, value, values);
          case 3 -> assertThat(found(session, key)).as("key=%d, %s", key, this).isIn(values);
          default -> session.scan(key, key + 50 * CLIENTS, this::check);
        }
        done.incrementAndGet();
      } catch (StalledException e) {
        last = e;
        failures.incrementAndGet();
      } catch (UnknownOutcomeException e) {
        last = e;
        failures.incrementAndGet();
      } catch (MemoryServerLostException e) {
        last = e;
        failures.incrementAndGet();
        losses.incrementAndGet();
      }
    }

    private void change(Session session, long key, long value, Set<Long> values) {
      try {
        if (value == ABSENT) {
          session.remove(key);
        } else {
          session.put(key, value);
        }
      } catch (UnknownOutcomeException e) {
        values.add(value);
        throw e;
      }
      values.clear();
      values.add(value);
    }

    private static long found(Session session, long key) {
      return session.get(key) ? session.value() : ABSENT;
    }

    private boolean check(long key, long value) {
      if (key % CLIENTS == number) {
        assertThat(value).as("key=%d, %s", key, this).isIn(possible.getOrDefault(key, Set.of(0L)));
      }
      return true;
    }

    @Override
    public String toString() {
      return "client=%d, done=%s, failures=%s, losses=%s, last=%s"
          .formatted(number, done, failures, losses, last);
    }
  }
}
