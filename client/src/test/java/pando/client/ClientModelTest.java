package pando.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.index.Ends;
import pando.index.Entries;
import pando.index.ModelRun;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.StressRun;
import pando.index.SystemUnderTest;
import pando.index.Threads;
import pando.index.dex.DexOptions;

/** The shared tests of sessions, over the network. */
@Timeout(300)
class ClientModelTest {
  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final int OPERATIONS = Seeds.count(4_000, 8_000, 40_000);
  private static final int STRESS_OPERATIONS = Seeds.count(1_500, 3_000, 20_000);

  /** The default is two seconds, which a thread may wait for a processor where tests run. */
  private static final ClientOptions PATIENT =
      ClientOptions.defaults()
          .withPatience(Duration.ofSeconds(30))
          .withAnswerTimeout(Duration.ofMinutes(1));

  private static final DexOptions TINY =
      DexOptions.defaults().with("node-bytes", "192").with("cache-bytes", "12KiB");

  private static ClientService serve(RangeIndex index, int lanes) {
    return ClientService.start(index, FREE_PORT, Authentication.none(), Routes::alone, lanes);
  }

  private static PandoClient connect(ClientService service) {
    return PandoClient.connect(DexPair.text(service), PATIENT);
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#PRODUCTS")
  void shouldBehaveLikeTreeMap(SystemUnderTest system) {
    long seed = Seeds.of(1801);
    try (Fabric fabric = Pools.open(2, 8 << 20, seed);
        RangeIndex index = system.tiny(2).create(fabric);
        ClientService service = serve(index, 1);
        PandoClient client = connect(service);
        Session session = client.session()) {
      TreeMap<Long, Long> model = new TreeMap<>();
      new ModelRun(session, model, new SplittableRandom(seed), 2_000).operations(OPERATIONS);
      Entries.check(session, model, "by a client");
      try (Session own = index.session()) {
        Entries.check(own, model, "in the index");
      }
    }
  }

  @Test
  void shouldFindTheSameAsATreeMapAtTheEndsOfItsKeys() {
    try (Fabric fabric = Pools.open(2, 16 << 20, 1);
        DexPair pair = new DexPair(fabric, TINY);
        PandoClient client = PandoClient.connect(pair.addresses(), PATIENT);
        Session session = client.session()) {
      Ends.checkEachSet(session);
      NavigableMap<Long, Long> entries = Ends.entries(60);
      entries.forEach(session::put);
      Ends.check(session, entries);
      pair.move(Long.MAX_VALUE);
      Ends.check(session, entries);
    }
  }

  @Test
  void shouldBehaveLikeTreeMapWhileBoundariesMove() {
    long seed = Seeds.of(1802);
    SplittableRandom random = new SplittableRandom(seed);
    try (Fabric fabric = Pools.open(2, 16 << 20, seed);
        DexPair pair = new DexPair(fabric, TINY);
        PandoClient client = PandoClient.connect(pair.addresses(), PATIENT);
        Session session = client.session()) {
      TreeMap<Long, Long> model = new TreeMap<>();
      ModelRun run = new ModelRun(session, model, random.split(), 2_000);
      long epoch = client.routes().epoch();
      for (int round = 0; round < 40; round++) {
        run.operations(OPERATIONS / 40);
        pair.move(random);
      }
      Entries.check(session, model, "by a client");
      assertThat(client.routes().epoch()).as("changes seen").isGreaterThan(epoch + 5);
    }
  }

  @Tag("campaign")
  @ParameterizedTest
  @CsvSource({"dex, 2, 4", "orca, 1, 4", "sherman, 2, 4", "rolex, 1, 3"})
  void shouldStayLinearizable(String system, int lanes, int threads) throws Exception {
    long seed = Seeds.of(1803);
    try (Fabric fabric = Pools.open(2, 8 << 20, seed);
        RangeIndex index = SystemUnderTest.of(system).tiny(2).create(fabric);
        ClientService service = serve(index, lanes);
        PandoClient client = connect(service)) {
      StressRun run = new StressRun(client::session, seed, threads, STRESS_OPERATIONS);
      run.run();
      try (Session own = index.session()) {
        Entries.check(own, new TreeMap<>(run.expected()), "in the index");
      }
    }
  }

  /** Several clients, and boundaries that move while they operate. */
  @Test
  void shouldStayLinearizableWhileBoundariesMove() throws Exception {
    long seed = Seeds.of(1804);
    SplittableRandom random = new SplittableRandom(seed);
    try (Fabric fabric = Pools.open(2, 16 << 20, seed);
        DexPair pair = new DexPair(fabric, TINY);
        PandoClient one = PandoClient.connect(pair.addresses(), PATIENT);
        PandoClient other = PandoClient.connect(pair.addresses(), PATIENT)) {
      SplittableRandom choice = random.split();
      StressRun run =
          new StressRun(
              () -> {
                synchronized (choice) {
                  return choice.nextBoolean() ? one.session() : other.session();
                }
              },
              seed,
              4,
              STRESS_OPERATIONS);
      run.besides(200, () -> pair.move(random));
      run.run();
      try (Session session = one.session()) {
        Entries.check(session, new TreeMap<>(run.expected()), "by a client");
      }
    }
  }

  /** Verbs wait here, so many operations of one lane are under way at a time. */
  @ParameterizedTest
  @ValueSource(strings = {"dex", "deft"})
  void shouldStayLinearizableWhereVerbsWait(String system) throws Exception {
    long seed = Seeds.of(1805);
    PoolOptions pool = Pools.options(16 << 20);
    try (TcpMemoryServer memory = TcpMemoryServer.start(FREE_PORT, 0, pool);
        Fabric fabric = TcpFabric.attach(List.of(memory.address()), seed, TcpOptions.defaults());
        RangeIndex index = SystemUnderTest.of(system).tiny(2).create(fabric);
        ClientService service = serve(index, 1);
        PandoClient client = connect(service)) {
      StressRun run = new StressRun(client::session, seed, 4, STRESS_OPERATIONS / 2);
      run.run();
      try (Session session = client.session()) {
        Entries.check(session, new TreeMap<>(run.expected()), "by a client");
      }
    }
  }

  /** Threads share one connection; each knows what its own keys have. */
  @Test
  void shouldServeManyThreadsByOneConnection() throws Exception {
    int threads = 16;
    try (Fabric fabric = Pools.open(2, 16 << 20, 1);
        RangeIndex index = SystemUnderTest.DEX.tiny(2).create(fabric);
        ClientService service = serve(index, 2);
        PandoClient client = connect(service)) {
      CyclicBarrier start = new CyclicBarrier(threads);
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        long first = thread * 1_000_000L;
        tasks.add(() -> {
          start.await();
          try (Session session = client.session()) {
            NavigableMap<Long, Long> model = new TreeMap<>();
            SplittableRandom random = new SplittableRandom(first);
            for (int i = 0; i < 300; i++) {
              long key = first + random.nextInt(100);
              Long before = model.put(key, (long) i);
              assertThat(session.put(key, i)).isEqualTo(before != null);
              if (before != null) {
                assertThat(session.value()).isEqualTo(before);
              }
            }
            for (Map.Entry<Long, Long> entry : model.entrySet()) {
              assertThat(Entries.get(session, entry.getKey())).isEqualTo(entry.getValue());
            }
          }
          return null;
        });
      }
      Threads.run(tasks);
      assertThat(service.connections()).isEqualTo(1);
    }
  }
}
