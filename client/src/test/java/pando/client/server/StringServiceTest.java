package pando.client.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.ClientException;
import pando.client.ClientOptions;
import pando.client.ClientSession;
import pando.client.PandoClient;
import pando.client.Routes;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.tcp.Authentication;
import pando.index.Partitioning;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.SystemUnderTest;
import pando.index.Threads;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteModelRun;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/** What a service of byte strings takes and refuses, spoken by hand and by clients. */
@Timeout(120)
class StringServiceTest {
  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final int VALUE_MAX = ClientFrame.VALUE_BYTES_MAX;
  private static final int KEY_MAX = ClientFrame.KEY_BYTES_MAX;

  private static final ClientOptions PATIENT =
      ClientOptions.defaults()
          .withPatience(Duration.ofSeconds(30))
          .withAnswerTimeout(Duration.ofMinutes(1));

  private Fabric fabric;
  private ByteIndex index;

  @BeforeEach
  void open() {
    fabric = Pools.open(2, 64 << 20, 1);
    index = ByteIndex.create(fabric, ByteOptions.defaults().withCacheBytes(1 << 20));
  }

  @AfterEach
  void close() {
    index.close();
    fabric.close();
  }

  private ClientService start(ServiceLimits limits) {
    return ClientService.start(
        ServiceIndex.of(index), FREE_PORT, Authentication.none(), Routes::alone, 1, limits);
  }

  private static ServiceLimits limits(long frameMillis, long longBytes) {
    ServiceLimits some = ClientServiceTest.limits(3_000, 60_000, frameMillis);
    return new ServiceLimits(
        some.connections(),
        some.helloNanos(),
        some.idleNanos(),
        some.frameNanos(),
        some.goodbyeNanos(),
        longBytes);
  }

  private static PandoClient connect(ClientService service) {
    String address = service.address().getHostString() + ":" + service.address().getPort();
    return PandoClient.connect(address, PATIENT);
  }

  private static MemorySegment filled(int length, int with) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) with);
    return MemorySegment.ofArray(bytes);
  }

  private static boolean isEqual(MemorySegment one, MemorySegment other) {
    return one.mismatch(other) < 0;
  }

  private static FrameWriter operation(int op, MemorySegment key, MemorySegment value) {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.BYTES);
    writer.pair(op, (int) key.byteSize());
    writer.pair((int) value.byteSize(), 0);
    writer.bytes(key);
    writer.bytes(value);
    writer.fill();
    writer.finish(0, 1, 2);
    return writer;
  }

  @Test
  void shouldTakeKeysAndValuesUpToTheirLimits() {
    try (ClientService service = start(ServiceLimits.DEFAULTS);
        PandoClient client = connect(service);
        ByteStrings strings = client.byteStrings();
        ByteSession session = strings.session()) {
      assertThat(strings.keyBytesMax()).isEqualTo(KEY_MAX);
      assertThat(strings.valueBytesMax()).isEqualTo(VALUE_MAX);
      MemorySegment key = filled(KEY_MAX, -1);
      MemorySegment value = filled(VALUE_MAX, 1);
      MemorySegment other = filled(VALUE_MAX, 2);
      assertThat(session.put(key, value)).isFalse();
      assertThat(session.replace(key, value, other)).isTrue();
      assertThat(isEqual(session.value(), value)).isTrue();
      assertThat(session.floor(key)).isTrue();
      assertThat(isEqual(session.key(), key)).isTrue();
      assertThat(isEqual(session.value(), other)).isTrue();
      assertThat(session.value().isReadOnly()).isTrue();
      assertThat(session.higher(key)).isFalse();
      assertThat(session.last()).isTrue();
      session.put(filled(KEY_MAX - 1, -1), value);
      List<Long> lengths = new ArrayList<>();
      assertThat(
              session.scanDown(
                  null,
                  MemorySegment.NULL,
                  10,
                  (its, stored) -> lengths.add(its.byteSize() + stored.byteSize())))
          .isEqualTo(2);
      assertThat(lengths)
          .containsExactly((long) KEY_MAX + VALUE_MAX, (long) KEY_MAX + VALUE_MAX - 1);
      assertThat(session.remove(session.key(), other)).isFalse();
      assertThat(session.remove(session.key(), value)).isTrue();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.get(filled(KEY_MAX + 1, 0)))
          .withMessage("the key is too long: keyBytes=65536, maximum=65535");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.put(key, filled(VALUE_MAX + 1, 0)))
          .withMessage("the value is too long: valueBytes=491521, maximum=491520");
    }
  }

  /** A value that the compute server's own process has stored may be longer than clients take. */
  @Test
  void shouldSayWhereAValueIsLonger() {
    MemorySegment key = filled(3, 'k');
    MemorySegment value = filled(3, 'v');
    try (ClientService service = start(ServiceLimits.DEFAULTS);
        PandoClient client = connect(service);
        ByteSession session = client.byteStrings().session();
        ByteSession own = index.session()) {
      own.put(key, filled(VALUE_MAX + 1, 1));
      String text = "longer than a client takes: valueBytes=491521, maximum=491520";
      assertThat(session.get(key)).isTrue();
      assertThatExceptionOfType(ClientException.class)
          .isThrownBy(session::value)
          .withMessageContaining(text);
      assertThat(session.last()).isTrue();
      assertThat(isEqual(session.key(), key)).isTrue();
      assertThatExceptionOfType(ClientException.class)
          .isThrownBy(() -> session.scan(MemorySegment.NULL, null, 10, (_, _) -> true))
          .withMessageContaining(text);
      assertThat(session.put(key, value)).as("it was there").isTrue();
      assertThatExceptionOfType(UnknownOutcomeException.class).isThrownBy(session::value);
      assertThat(session.get(key)).isTrue();
      assertThat(isEqual(session.value(), value)).isTrue();
    }
  }

  /** Others share the connection, and must not see half of a request. */
  @Test
  void shouldSendNothingWhereAnArgumentCannotBeRead() {
    MemorySegment key = filled(3, 'k');
    MemorySegment value = filled(8, 'v');
    try (ClientService service = start(ServiceLimits.DEFAULTS);
        PandoClient client = connect(service);
        ByteSession session = client.byteStrings().session()) {
      session.put(key, value);
      MemorySegment gone;
      try (Arena arena = Arena.ofConfined()) {
        gone = arena.allocate(8);
      }
      for (int i = 0; i < 3; i++) {
        assertThatIllegalStateException()
            .isThrownBy(() -> session.put(key, gone))
            .withMessageContaining("closed");
        assertThat(session.get(key)).isTrue();
        assertThat(isEqual(session.value(), value)).isTrue();
      }
    }
  }

  @Test
  void shouldSayWhatToDoWhereTheOtherKindIsServed() {
    try (Fabric other = Pools.open(1, 16 << 20, 1);
        RangeIndex words = SystemUnderTest.DEX.tiny(1).create(other);
        ClientService ofWords =
            ClientService.start(words, FREE_PORT, Authentication.none(), Routes::alone, 1);
        ClientService ofStrings = start(ServiceLimits.DEFAULTS);
        PandoClient client = connect(ofStrings);
        PandoClient wordClient = connect(ofWords);
        ClientSession session = client.session()) {
      String wantsStrings = "serve byte strings: use PandoClient.byteStrings()";
      assertThatIllegalStateException()
          .isThrownBy(() -> session.put(1, 2))
          .withMessageContaining(wantsStrings);
      assertThatIllegalStateException()
          .isThrownBy(() -> session.scan(1, 2, 10, (_, _) -> true))
          .withMessageContaining(wantsStrings);
      assertThatIllegalStateException()
          .isThrownBy(wordClient::byteStrings)
          .withMessageContaining("serve words, of 8 bytes: use PandoClient.session()");
      assertThat(client.servesByteStrings()).isTrue();
      assertThat(wordClient.servesByteStrings()).isFalse();
    }
  }

  /** As a client does that asked before the service was another one. */
  @Test
  void shouldAnswerByteStringsWhereThereAreWords() throws IOException {
    try (Fabric other = Pools.open(1, 16 << 20, 1);
        RangeIndex words = SystemUnderTest.DEX.tiny(1).create(other);
        ClientService service =
            ClientService.start(words, FREE_PORT, Authentication.none(), Routes::alone, 1);
        SocketChannel channel = ClientServiceTest.connect(service)) {
      ClientServiceTest.send(channel, operation(Op.PUT, filled(3, 1), filled(100_000, 1)));
      FrameReader reader = FrameReader.ofResponses();
      ClientServiceTest.receive(channel, reader);
      assertThat(reader.kind()).isEqualTo(ClientFrame.BYTES);
      assertThat(reader.word(0) & 0xff).isEqualTo(Outcome.OTHER_KIND);
    }
  }

  @Test
  @SuppressWarnings("try") // They are closed early.
  void shouldRefuseMisuse() {
    try (ClientService service = start(ServiceLimits.DEFAULTS);
        PandoClient client = connect(service);
        ByteStrings strings = client.byteStrings()) {
      ByteSession session = strings.session();
      session.put(filled(1, 1), filled(1, 1));
      assertThatIllegalStateException()
          .isThrownBy(() -> session.alone(() -> {}))
          .withMessageContaining("run it in a compute server's process");
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(strings::fabric)
          .withMessageContaining("watch the compute servers");
      assertThat(strings.verbs().roundTrips).isZero();
      assertThat(strings.name()).isEqualTo("client");
      assertThat(strings.isRemote()).isTrue();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scan(filled(1, 2), filled(1, 1), 1, (_, _) -> true))
          .withMessage("range is reversed: from=02, to=01");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scan(filled(1, 1), null, -1, (_, _) -> true))
          .withMessage("limit is negative: limit=-1");
      assertThatIllegalStateException()
          .isThrownBy(
              () -> session.scan(MemorySegment.NULL, null, 9, (key, _) -> !session.get(key)))
          .withMessage("a session must not be used by the visitor of its own scan");
      assertThat(session.lower(MemorySegment.NULL)).isFalse();
      assertThat(session.scanDown(MemorySegment.NULL, MemorySegment.NULL, 9, (_, _) -> true))
          .isZero();
      session.close();
      assertThatIllegalStateException()
          .isThrownBy(() -> session.get(filled(1, 1)))
          .withMessage("the session is closed");
      ByteSession left = strings.session();
      strings.close();
      assertThat(strings.isClosed()).isTrue();
      assertThat(client.isClosed()).isFalse();
      assertThatIllegalStateException()
          .isThrownBy(() -> left.get(filled(1, 1)))
          .withMessage("the byte strings are closed");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {65_544, 65_552, ClientFrame.LONG_BYTES_MAX + 8, Integer.MAX_VALUE, -8})
  void shouldRefuseImpossibleLengths(int length) throws IOException {
    try (ClientService service = start(ServiceLimits.DEFAULTS);
        SocketChannel channel = ClientServiceTest.connect(service)) {
      ByteBuffer frame = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
      int kind =
          switch (length) {
            case 65_544 -> ClientFrame.SCAN;
            case 65_552 -> ClientFrame.ROUTES;
            default -> ClientFrame.BYTES;
          };
      channel.write(frame.putInt(0, length).put(4, (byte) kind));
      ClientServiceTest.assertGoodbye(channel, ClientFrame.REFUSED, "impossible length of a frame");
    }
  }

  /** A frame is done as it was sent, or refused with nothing done. */
  @Test
  void shouldSurviveMutatedFrames() throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.of(2320));
    int frames = Seeds.count(300, 600, 50_000);
    MemorySegment key = filled(5, 'k');
    MemorySegment value = filled(30, 'v');
    byte[] valid = ClientServiceTest.bytes(operation(Op.PUT, key, value));
    int refused = 0;
    try (ClientService service = start(ServiceLimits.DEFAULTS)) {
      for (int i = 0; i < frames; i++) {
        byte[] mutated = valid.clone();
        for (int flips = random.nextInt(1, 4); flips > 0; flips--) {
          mutated[random.nextInt(Integer.BYTES, mutated.length)] ^= (byte) (1 << random.nextInt(8));
        }
        try (SocketChannel channel = ClientServiceTest.connect(service)) {
          channel.write(ByteBuffer.wrap(mutated));
          FrameReader reader = FrameReader.ofResponses();
          ClientServiceTest.receive(channel, reader);
          boolean isGoodbye = reader.kind() == ClientFrame.GOODBYE;
          assertThat(isGoodbye || Arrays.equals(mutated, valid)).isTrue();
          refused += isGoodbye ? 1 : 0;
        }
      }
    }
    assertThat(refused).isGreaterThan(frames / 2);
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    try (ByteSession own = index.session()) {
      own.discard(key);
      ByteModelRun.checkAll(own, model);
    }
  }

  /**
   * Clients that say a length and send no more take the memory for long requests; others wait until
   * those are cut off, and short requests do not wait.
   */
  @Test
  void shouldBoundTheMemoryOfLongRequests() throws IOException {
    MemorySegment key = filled(1, 1);
    try (ClientService service = start(limits(300, 1_500_000))) {
      List<SocketChannel> slow = new ArrayList<>();
      ByteBuffer head = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
      head.putInt(0, ClientFrame.LONG_BYTES_MAX).put(4, (byte) ClientFrame.BYTES);
      for (int i = 0; i < 2; i++) {
        SocketChannel channel = ClientServiceTest.connect(service);
        channel.write(head.duplicate());
        slow.add(channel);
      }
      try (PandoClient client = connect(service);
          ByteSession session = client.byteStrings().session()) {
        session.put(key, filled(10, 1));
        session.put(key, filled(VALUE_MAX, 2));
        assertThat(session.get(key)).isTrue();
        assertThat(session.value().byteSize()).isEqualTo(VALUE_MAX);
      }
      for (SocketChannel channel : slow) {
        channel.close();
      }
    }
  }

  /** Clients that take no answers stop others only until they are cut off. */
  @Test
  void shouldBoundTheMemoryOfLongResponses() throws IOException {
    MemorySegment key = filled(1, 1);
    try (ClientService service = start(limits(500, 600_000));
        PandoClient client = connect(service);
        ByteSession session = client.byteStrings().session()) {
      session.put(key, filled(VALUE_MAX, 1));
      byte[] frame = ClientServiceTest.bytes(operation(Op.GET, key, MemorySegment.NULL));
      List<SocketChannel> greedy = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        SocketChannel channel = ClientServiceTest.connect(service);
        greedy.add(channel);
        for (int request = 0; request < 64; request++) {
          channel.write(ByteBuffer.wrap(frame));
        }
      }
      for (int i = 0; i < 10; i++) {
        assertThat(session.get(key)).isTrue();
        assertThat(session.value().byteSize()).isEqualTo(VALUE_MAX);
      }
      for (SocketChannel channel : greedy) {
        channel.close();
      }
    }
  }

  /** Routes to as many ranges as there can be, with the longest fences: 4 MiB. */
  private static Routes longestRoutes(String address) {
    List<Routes.Route> routes = new ArrayList<>();
    for (int range = 0; range < Routes.ROUTES_MAX; range++) {
      MemorySegment fence = range == 0 ? MemorySegment.NULL : filled(KEY_MAX, range);
      routes.add(new Routes.Route(Long.MIN_VALUE + range, fence, range, address));
    }
    return new Routes(1, true, true, routes);
  }

  private ClientService startWithLongestRoutes(ServiceLimits limits) {
    ClientService[] started = new ClientService[1];
    Supplier<Routes> routes =
        () -> {
          InetSocketAddress its = started[0].address();
          return longestRoutes(its.getHostString() + ":" + its.getPort());
        };
    ServiceIndex served = ServiceIndex.of(index);
    started[0] = ClientService.start(served, FREE_PORT, Authentication.none(), routes, 1, limits);
    return started[0];
  }

  @Test
  void shouldHaveManyLongFences() {
    try (ClientService service = startWithLongestRoutes(ServiceLimits.DEFAULTS);
        PandoClient client = connect(service);
        ByteStrings strings = client.byteStrings();
        ByteSession session = strings.session()) {
      Partitioning table = strings.partitioning();
      assertThat(table.servers()).isEqualTo(Routes.ROUTES_MAX);
      assertThat(isEqual(table.fenceOfRange(63), filled(KEY_MAX, 63))).isTrue();
      session.put(filled(KEY_MAX, 63), filled(1, 1));
      assertThat(session.get(filled(KEY_MAX, 63))).isTrue();
      strings.flush();
    }
  }

  private static byte[] routesRequest() throws IOException {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.ROUTES);
    writer.finish(0, 1, 2);
    return ClientServiceTest.bytes(writer);
  }

  /** Each is answered once the one before was taken. */
  @Test
  void shouldAnswerManyRequestsForLongRoutes() throws IOException {
    int count = 20;
    try (ClientService service = startWithLongestRoutes(limits(60_000, 600_000));
        SocketChannel channel = ClientServiceTest.connect(service)) {
      for (int i = 0; i < count; i++) {
        channel.write(ByteBuffer.wrap(routesRequest()));
      }
      ClientServiceTest.send(channel, operation(Op.PUT, filled(3, 1), filled(5, 1)));
      FrameReader reader = FrameReader.ofResponses();
      for (int i = 0; i < count; i++) {
        ClientServiceTest.receive(channel, reader);
        assertThat(reader.kind()).isEqualTo(ClientFrame.ROUTES);
        assertThat(reader.count()).isEqualTo(Routes.ROUTES_MAX);
        reader.next();
      }
      ClientServiceTest.receive(channel, reader);
      assertThat(reader.kind()).isEqualTo(ClientFrame.BYTES);
    }
  }

  /** Thousands of requests would be answered with gigabytes that nobody takes. */
  @Test
  void shouldBoundTheMemoryOfLongRoutes() throws IOException {
    ByteBuffer many = ByteBuffer.allocate(60_000);
    byte[] request = routesRequest();
    while (many.remaining() >= request.length) {
      many.put(request);
    }
    many.flip();
    try (ClientService service = startWithLongestRoutes(limits(500, 600_000))) {
      List<SocketChannel> greedy = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        SocketChannel channel = ClientServiceTest.connect(service);
        greedy.add(channel);
        channel.write(many.duplicate());
      }
      try (PandoClient client = connect(service);
          ByteSession session = client.byteStrings().session()) {
        for (int i = 0; i < 10; i++) {
          session.put(filled(1, i), filled(VALUE_MAX, i));
        }
      }
      for (SocketChannel channel : greedy) {
        channel.close();
      }
    }
  }

  /** Calls beside the end of their service are answered, sent again, or of unknown outcome. */
  @Test
  @SuppressWarnings("try") // It is closed early.
  void shouldEndUnderLoad() throws Exception {
    ClientService service = start(ServiceLimits.DEFAULTS);
    try (PandoClient client =
        PandoClient.connect(
            service.address().getHostString() + ":" + service.address().getPort(),
            PATIENT.withPatience(Duration.ofMillis(100)))) {
      ByteStrings strings = client.byteStrings();
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        MemorySegment key = filled(1, thread);
        tasks.add(() -> {
          try (ByteSession session = strings.session()) {
            Throwable failure =
                catchThrowable(() -> {
                  for (int length = 0; true; length = (length + 9_999) % VALUE_MAX) {
                    session.put(key, filled(length, length));
                  }
                });
            assertThat(failure)
                .isInstanceOfAny(StalledException.class, UnknownOutcomeException.class);
          }
          return null;
        });
      }
      tasks.add(() -> {
        try (ByteSession session = strings.session()) {
          while (!session.get(filled(1, 3))) {
            Thread.onSpinWait();
          }
        }
        service.close();
        return null;
      });
      Threads.run(tasks);
    } finally {
      service.close();
    }
  }
}
