package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Spliterator;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.client.ClientException;
import pando.client.ClientOptions;
import pando.client.DexPair;
import pando.client.PandoClient;
import pando.client.Routes;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.CuttingProxy;
import pando.fabric.tcp.FaultProxy;
import pando.fabric.tcp.FaultProxy.Fault;
import pando.index.MeterReadings;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.SystemUnderTest;
import pando.index.Threads;
import pando.index.dex.DexOptions;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;
import pando.map.codec.WordCodec;

/** What is particular to maps over clients; the tests of all maps run over one, too. */
@Timeout(120)
class ClientMapTest {
  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final long KEYS = 20;

  /** Instants of a log, by their milliseconds. */
  private static final WordCodec<Instant> MILLIS =
      KeyCodec.words("millis", Long.BYTES, Instant::toEpochMilli, Instant::ofEpochMilli);

  private Fabric fabric;
  private RangeIndex index;
  private ClientService service;

  @BeforeEach
  void open() {
    fabric = Pools.open(2, 16 << 20, 1);
    index = SystemUnderTest.DEX.tiny(1).create(fabric);
    service = ClientService.start(index, FREE_PORT, Authentication.none(), Routes::alone, 1);
  }

  @AfterEach
  void close() {
    service.close();
    index.close();
    fabric.close();
  }

  private static String text(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }

  private PandoClient connect() {
    return PandoClient.connect(text(service.address()), OpenMap.PATIENT);
  }

  private static PandoMap<Long, Long> longs(PandoClient client) {
    return PandoMap.of(client, KeyCodec.longs(), ValueCodec.longs());
  }

  /** Two clients count; the keys go from one compute server to the other meanwhile. */
  @Test
  void shouldCountEachIncrementWhileTheBoundaryMoves() throws Exception {
    int threads = 6;
    int increments = Seeds.count(200, 800, 20_000);
    DexOptions options = (DexOptions) SystemUnderTest.DEX.tiny(DexPair.SERVERS).options();
    try (Fabric pool = OpenMap.pool();
        DexPair pair = new DexPair(pool, options);
        PandoClient one = PandoClient.connect(pair.addresses(), OpenMap.PATIENT);
        PandoClient other = PandoClient.connect(pair.addresses(), OpenMap.PATIENT);
        PandoMap<Long, Long> map = longs(one);
        PandoMap<Long, Long> otherMap = longs(other)) {
      long epoch = one.routes().epoch();
      long made = (long) threads * increments;
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        PandoMap<Long, Long> mine = i % 2 == 0 ? map : otherMap;
        SplittableRandom random = new SplittableRandom(Seeds.of(852 + i));
        tasks.add(() -> {
          for (int n = 0; n < increments; n++) {
            mine.merge(random.nextLong(KEYS), 1L, Long::sum);
          }
          return null;
        });
      }
      try (MovingBoundary _ = MovingBoundary.start(pair)) {
        Threads.run(tasks);
        // All may be done before the first move.
        for (; one.routes().epoch() == epoch; made++) {
          map.merge(made % KEYS, 1L, Long::sum);
        }
      }
      assertThat(map.values().stream().mapToLong(count -> count).sum()).isEqualTo(made);
    }
  }

  @Test
  void shouldServeVirtualThreads() throws Exception {
    int threads = 2_000;
    try (PandoClient client = connect();
        PandoMap<Long, Long> map = longs(client);
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> all = new ArrayList<>();
      for (long thread = 0; thread < threads; thread++) {
        Long key = thread % KEYS;
        all.add(executor.submit(() -> map.merge(key, 1L, Long::sum)));
      }
      for (Future<?> each : all) {
        each.get(100, TimeUnit.SECONDS);
      }
      assertThat(map.values().stream().mapToLong(count -> count).sum()).isEqualTo(threads);
    }
  }

  private <K, V> void check(
      KeyCodec<K> keys,
      ValueCodec<V> values,
      Function<SplittableRandom, K> key,
      Function<SplittableRandom, V> value) {
    SplittableRandom random = new SplittableRandom(Seeds.of(853));
    TreeMap<K, V> model = new TreeMap<>();
    try (PandoClient client = connect();
        PandoMap<K, V> map = PandoMap.of(client, keys, values)) {
      map.clear();
      for (int i = 0; i < 100; i++) {
        K drawn = key.apply(random);
        V stored = value.apply(random);
        assertThat(map.put(drawn, stored)).isEqualTo(model.put(drawn, stored));
      }
      K middle = key.apply(random);
      assertThat(new ArrayList<>(map.entrySet())).isEqualTo(new ArrayList<>(model.entrySet()));
      assertThat(map.ceilingEntry(middle)).isEqualTo(model.ceilingEntry(middle));
      assertThat(map.headMap(middle)).isEqualTo(model.headMap(middle));
    }
    try (PandoMap<K, V> own = PandoMap.of(index, keys, values)) {
      assertThat(own).as("in the compute server's process").isEqualTo(model);
    }
  }

  @Test
  void shouldHaveKeysAndValuesOfOtherTypes() {
    check(
        KeyCodec.ints(),
        KeyCodec.enums(DayOfWeek.class),
        random -> random.nextInt(),
        random -> DayOfWeek.of(random.nextInt(1, 8)));
    check(
        KeyCodec.localDates(),
        KeyCodec.doubles(),
        random -> LocalDate.ofEpochDay(random.nextLong(-900, 900)),
        random -> random.nextDouble());
    check(
        MILLIS,
        shortTexts(),
        random -> Instant.ofEpochMilli(random.nextLong(1L << 41)),
        random -> Integer.toString(random.nextInt(1 << 20), 36));
  }

  /** Texts of up to 8 characters of ASCII, but NUL. */
  private static WordCodec<String> shortTexts() {
    return KeyCodec.words("shortTexts", Long.BYTES, ClientMapTest::toWord, ClientMapTest::fromWord);
  }

  private static long toWord(String text) {
    long word = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      word = (word << Byte.SIZE) | (i < text.length() ? text.charAt(i) : 0);
    }
    return word;
  }

  private static String fromWord(long word) {
    StringBuilder text = new StringBuilder();
    for (long rest = word; rest != 0; rest <<= Byte.SIZE) {
      text.append((char) (rest >>> (Long.SIZE - Byte.SIZE)));
    }
    return text.toString();
  }

  @Test
  void shouldRefuseWhatAClientDoesNotReach() {
    try (PandoClient client = connect()) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> PandoMap.of(client, KeyCodec.strings(), ValueCodec.longs()))
          .withMessageMatching("a client has keys of 1 to 8 bytes.*byteStrings.*: codec=strings");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> PandoMap.of(client, KeyCodec.instants(), ValueCodec.longs()))
          .withMessageEndingWith(": codec=instants, bytes=12");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> PandoMap.of(client, KeyCodec.longs(), ValueCodec.strings()))
          .withMessageMatching(
              "a client has values of 1 to 8 bytes.*compute server's process: codec=strings");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> PandoMap.of(client, KeyCodec.longs(), KeyCodec.uuids()))
          .withMessageEndingWith(": codec=uuids, bytes=16");
      try (PandoMap<Long, Long> map = longs(client)) {
        map.put(1L, 2L);
        assertThatExceptionOfType(UnsupportedOperationException.class)
            .isThrownBy(map::fabric)
            .withMessageContaining("a client reaches compute servers, and no memory server");
        assertThatIllegalStateException()
            .isThrownBy(() -> map.snapshot(map, 10))
            .withMessageContaining("run it in a compute server's process");
        assertThat(map).isEqualTo(Map.of(1L, 2L));
      }
    }
  }

  @Test
  @SuppressWarnings("try") // It is closed early.
  void shouldTellWhatItKnows() {
    try (PandoClient client = connect();
        PandoMap<Long, Long> map = longs(client)) {
      map.put(1L, 2L);
      assertThat(map.name()).isEqualTo("client");
      assertThat(map.verbs().roundTrips).isZero();
      assertThat(MeterReadings.of(map))
          .containsEntry("pando.ops", 1.0)
          .containsEntry("pando.partitions", 1.0);
      assertThat(map.isClosed()).isFalse();
      client.close();
      assertThat(map.isClosed()).isTrue();
      assertThatIllegalStateException()
          .isThrownBy(() -> map.get(1L))
          .withMessage("the client is closed");
    }
  }

  @Test
  void shouldSplitWhereComputeServersDo() {
    DexOptions options = (DexOptions) SystemUnderTest.DEX.tiny(DexPair.SERVERS).options();
    try (Fabric pool = OpenMap.pool();
        DexPair pair = new DexPair(pool, options);
        PandoClient client = PandoClient.connect(pair.addresses(), OpenMap.PATIENT);
        PandoMap<Long, Long> map = longs(client)) {
      long low = client.routes().partitioning().lowOfRange(DexPair.SERVERS / 2);
      LongStream.range(low - 10, low + 10).forEach(key -> map.put(key, key));
      Spliterator<Long> upper = map.keySet().spliterator();
      Spliterator<Long> lower = upper.trySplit();
      List<Long> seen = new ArrayList<>();
      lower.forEachRemaining(seen::add);
      assertThat(seen).isEqualTo(LongStream.range(low - 10, low).boxed().toList());
      upper.forEachRemaining(seen::add);
      assertThat(seen).hasSize(20);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"BEFORE", "WITHIN", "BEHIND", "WITHIN_RESPONSE"})
  void shouldPassAnUnknownOutcomeOn(Fault fault) throws IOException {
    try (FaultProxy proxy =
            FaultProxy.start(service.address(), Seeds.of(854), request -> request.length);
        PandoClient client = PandoClient.connect(text(proxy.address()), OpenMap.PATIENT);
        PandoMap<Long, Long> map = longs(client)) {
      map.put(1L, 10L);
      proxy.inject(fault);
      checkUnknown(() -> map.replace(1L, 10L, 11L));
      assertThat(map.get(1L)).isEqualTo(fault.isServed() ? 11L : 10L);
      map.put(1L, 20L);
      proxy.inject(fault);
      checkUnknown(() -> map.remove(1L));
      assertThat(map.get(1L)).isEqualTo(fault.isServed() ? null : 20L);
      map.remove(1L);
      proxy.inject(fault);
      checkUnknown(() -> map.putIfAbsent(1L, 30L));
      assertThat(map.get(1L)).isEqualTo(fault.isServed() ? 30L : null);
      map.put(1L, 40L);
      // The connection is cut at the change, once the function has run.
      checkUnknown(() ->
          map.merge(
              1L,
              1L,
              (value, more) -> {
                proxy.inject(fault);
                return value + more;
              }));
      assertThat(map.get(1L)).as("once at the most").isEqualTo(fault.isServed() ? 41L : 40L);
      proxy.inject(fault);
      assertThat(map).as("what changes nothing is asked again").hasSize(1);
    }
  }

  private static void checkUnknown(Callable<?> change) {
    assertThat(catchThrowable(change::call)).isInstanceOf(UnknownOutcomeException.class);
  }

  /** No increment is lost, and none is done twice, wherever a connection is cut. */
  @Test
  void shouldSumUpToWhatItsCallsSay() throws IOException {
    int increments = Seeds.count(400, 2_000, 20_000);
    SplittableRandom random = new SplittableRandom(Seeds.of(855));
    long known = 0;
    long unknown = 0;
    try (CuttingProxy proxy = CuttingProxy.start(service.address(), 3_000, Seeds.of(856));
        PandoClient client = connect(proxy);
        PandoMap<Long, Long> map = longs(client)) {
      for (int i = 0; i < increments; i++) {
        try {
          map.merge(random.nextLong(KEYS), 1L, Long::sum);
          known++;
        } catch (UnknownOutcomeException e) {
          unknown++;
        }
      }
      proxy.stopCutting();
      assertThat(map.values().stream().mapToLong(count -> count).sum())
          .isBetween(known, known + unknown);
      assertThat(unknown).isPositive();
    }
  }

  private static PandoClient connect(CuttingProxy proxy) {
    while (true) {
      try {
        return PandoClient.connect(text(proxy.address()), OpenMap.PATIENT);
      } catch (ClientException cut) {
        // Again, by another connection.
      }
    }
  }

  /** A client that is closed beside calls ends them, each with an exception that says so. */
  @Test
  @SuppressWarnings("try") // It is closed early.
  void shouldEndCallsWhereTheClientIsClosed() throws Exception {
    try (PandoClient client = connect();
        PandoMap<Long, Long> map = longs(client)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (long thread = 0; thread < 4; thread++) {
        Long key = thread;
        tasks.add(() -> {
          Throwable failure =
              catchThrowable(() -> {
                while (true) {
                  map.merge(key, 1L, Long::sum);
                }
              });
          assertThat(failure)
              .isInstanceOfAny(IllegalStateException.class, UnknownOutcomeException.class);
          return null;
        });
      }
      tasks.add(() -> {
        while (map.size() < 4) {
          Thread.onSpinWait();
        }
        client.close();
        return null;
      });
      Threads.run(tasks);
    }
  }

  @Test
  void shouldOpenByAnAddress() {
    String servers = "client:" + text(service.address());
    try (Pando pando = Pando.open(servers)) {
      PandoMap<Long, Long> map = pando.map(KeyCodec.longs(), ValueCodec.longs());
      map.put(1L, 2L);
      assertThatIllegalStateException()
          .isThrownBy(() -> pando.map(KeyCodec.longs(), ValueCodec.longs()))
          .withMessage("this Pando has its map without a name already: give another map a name");
    }
    ClientOptions options = ClientOptions.defaults().withPatience(Duration.ofSeconds(20));
    Pando pando = Pando.open(servers, options);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pando.map(KeyCodec.longs(), ValueCodec.strings()));
    PandoMap<Long, Long> again = pando.map(KeyCodec.longs(), ValueCodec.longs());
    assertThat(again).as("which the index has kept").isEqualTo(Map.of(1L, 2L));
    pando.close();
    pando.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> again.get(1L))
        .withMessage("the map is closed");
  }

  @Test
  void shouldRefuseOptionsOfAnotherKind() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> Pando.open("client:127.0.0.1:1", SystemUnderTest.DEX.defaults().options()))
        .withMessage("the index of a client has its options already: pool=client:127.0.0.1:1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Pando.open("local:", ClientOptions.defaults()))
        .withMessageContaining("no compute servers: servers=local:");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Pando.open("client:"))
        .withMessage("an address is HOST:PORT: address=");
  }
}
