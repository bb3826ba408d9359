package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.fabric.Lane;
import pando.fabric.memory.Closing;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.StressRun;
import pando.index.SystemUnderTest;
import pando.index.Systems;
import pando.index.Threads;

/** Every system over TCP: threads with keys of their own, each beside a model. */
@FewRows(baselines = 0)
@Timeout(300)
class TcpIndexTest {
  private static final long SEED = 0x5EED_0012L;
  private static final int THREADS = 3;
  private static final int COMPUTE_SERVERS = 2;
  private static final int MEMORY_SERVERS = 2;
  private static final PoolOptions POOL =
      PoolOptions.defaults().withBytesPerServer(64 << 20).withHandlers(Systems.handlers());
  private static final int KEYS = 500;

  private final List<TcpMemoryServer> servers = new ArrayList<>();

  /** Starts memory servers and joins them. */
  Fabric open(long seed) throws IOException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    for (int i = 0; i < MEMORY_SERVERS; i++) {
      servers.add(TcpMemoryServer.start(any, i, POOL));
    }
    List<InetSocketAddress> addresses = servers.stream().map(TcpMemoryServer::address).toList();
    return TcpFabric.attach(addresses, seed, TcpOptions.defaults());
  }

  /** Returns how many operations each thread does. */
  int operations() {
    return Seeds.count(400, 800, 40_000);
  }

  @AfterEach
  void stop() {
    Closing.all(servers.stream().<Runnable>map(server -> server::close).toList());
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldAgreeWithAModel(SystemUnderTest system) throws Exception {
    long seed = Seeds.of(SEED);
    try (Fabric fabric = open(seed);
        RangeIndex index = system.tiny(COMPUTE_SERVERS).create(fabric)) {
      Map<Long, Long> expected = new ConcurrentSkipListMap<>();
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        tasks.add(() -> {
          expected.putAll(operate(index, thread, new SplittableRandom(seed + thread)));
          return null;
        });
      }
      Threads.run(tasks);
      assertThat(entries(index)).isEqualTo(expected);
    }
  }

  /** Threads of two lanes, which share connections and wait for each other. */
  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldStayLinearizableInLanes(SystemUnderTest system) throws Exception {
    long seed = Seeds.of(SEED);
    try (Fabric fabric = open(seed);
        RangeIndex index = system.tiny(COMPUTE_SERVERS).create(fabric);
        Lane first = fabric.lane("first");
        Lane second = fabric.lane("second")) {
      AtomicInteger made = new AtomicInteger();
      ThreadFactory inTurn =
          body -> (made.getAndIncrement() % 2 == 0 ? first : second).newThread(body);
      StressRun run = new StressRun(index, seed, 2 * THREADS, operations());
      // What it scans may all be cached, so it would never give way.
      run.betweenScans(Thread::yield);
      run.loadBy(2 * THREADS);
      run.run(tasks -> Threads.run(inTurn, tasks));
      assertThat(entries(index)).isEqualTo(run.expected());
    }
  }

  /** Operates on the keys of one thread; returns what they are then. */
  private Map<Long, Long> operate(RangeIndex index, int thread, SplittableRandom random) {
    Map<Long, Long> model = new TreeMap<>();
    try (Session session = index.session()) {
      for (long i = 1; i <= operations(); i++) {
        long key = random.nextInt(1, KEYS) * (long) THREADS + thread;
        switch (random.nextInt(4)) {
          case 0, 1 -> {
            session.put(key, i);
            model.put(key, i);
          }
          case 2 -> assertThat(session.remove(key)).isEqualTo(model.remove(key) != null);
          default -> {
            @Nullable Long value = model.get(key);
            assertThat(session.get(key)).isEqualTo(value != null);
            if (value != null) {
              assertThat(session.value()).isEqualTo(value);
            }
          }
        }
      }
    }
    return model;
  }

  private static Map<Long, Long> entries(RangeIndex index) {
    Map<Long, Long> entries = new TreeMap<>();
    try (Session session = index.session()) {
      long visited =
          session.scan(
              Long.MIN_VALUE,
              Long.MAX_VALUE,
              (key, value) -> {
                entries.put(key, value);
                return true;
              });
      assertThat(visited).isEqualTo(entries.size());
    }
    return entries;
  }
}
