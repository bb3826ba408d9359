package pando.client.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.ClientException;
import pando.client.ClientOptions;
import pando.client.PandoClient;
import pando.client.Routes;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.fabric.Fabric;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpException;
import pando.fabric.wire.AuthenticationKind;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Protocol;
import pando.fabric.wire.Role;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** What a service takes and refuses, spoken by hand. */
@Timeout(120)
class ClientServiceTest {
  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private Fabric fabric;
  private RangeIndex index;

  @BeforeEach
  void open() {
    fabric = Pools.open(2, 16 << 20, 1);
    index = SystemUnderTest.DEX.tiny(1).create(fabric);
    index.bulkLoad(Entries.of(Entries.spaced(2_000, 1)), 0.7);
  }

  @AfterEach
  void close() {
    index.close();
    fabric.close();
  }

  private ClientService start(ServiceLimits limits) {
    return start(ServiceIndex.of(index), limits);
  }

  private static ClientService start(ServiceIndex served, ServiceLimits limits) {
    return ClientService.start(served, FREE_PORT, Authentication.none(), Routes::alone, 1, limits);
  }

  static ServiceLimits limits(long helloMillis, long idleMillis, long frameMillis) {
    return new ServiceLimits(
        ClientService.CONNECTIONS_MAX,
        TimeUnit.MILLISECONDS.toNanos(helloMillis),
        TimeUnit.MILLISECONDS.toNanos(idleMillis),
        TimeUnit.MILLISECONDS.toNanos(frameMillis),
        TimeUnit.MILLISECONDS.toNanos(200),
        ServiceLimits.DEFAULTS.longBytes());
  }

  static SocketChannel connect(ClientService service) throws IOException {
    SocketChannel channel = SocketChannel.open(service.address());
    Hello.send(channel, Protocol.OPERATIONS, AuthenticationKind.NONE, Role.CLIENT, null, 0);
    assertThat(Hello.receiveAnswer(channel, Protocol.OPERATIONS).status()).isEqualTo(Hello.WELCOME);
    return channel;
  }

  /** Waits for a frame, and opens it. */
  static void receive(SocketChannel channel, FrameReader reader) throws IOException {
    while (!reader.open()) {
      if (reader.read(channel) < 0) {
        throw new EOFException();
      }
    }
  }

  static void assertGoodbye(SocketChannel channel, int flags, String because) throws IOException {
    FrameReader reader = FrameReader.ofResponses();
    receive(channel, reader);
    assertThat(reader.kind()).isEqualTo(ClientFrame.GOODBYE);
    assertThat(reader.flags()).isEqualTo(flags);
    int bytes = (int) (reader.word(0) >>> 32);
    reader.skip(ClientFrame.RESULT_BYTES);
    assertThat(reader.text(bytes)).contains(because);
    assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
  }

  static void send(SocketChannel channel, FrameWriter writer) throws IOException {
    while (writer.unsent() > 0) {
      writer.send(channel);
    }
  }

  private static FrameWriter operations(int count) {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.OPERATIONS);
    for (int i = 0; i < count; i++) {
      writer.operation(Op.GET, i, i, 0, 0);
    }
    writer.finish(0, 1, 2);
    return writer;
  }

  private static FrameWriter scan(long from, long to, long limit, int flags) {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.SCAN);
    writer.word(from);
    writer.word(to);
    writer.word(limit);
    writer.finish(flags, 77, 2);
    return writer;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 1_023, 1_024})
  void shouldAnswerEachOperationOnce(int count) throws IOException {
    try (ClientService service = start(ServiceLimits.DEFAULTS);
        SocketChannel channel = connect(service)) {
      send(channel, operations(count));
      BitSet answered = new BitSet();
      FrameReader reader = FrameReader.ofResponses();
      while (answered.cardinality() < count) {
        receive(channel, reader);
        assertThat(reader.kind()).isEqualTo(ClientFrame.OPERATIONS);
        for (int i = 0; i < reader.count(); i++) {
          int id = (int) (reader.word(0) >>> 16) & 0xffff;
          assertThat(answered.get(id)).isFalse();
          answered.set(id);
          assertThat(reader.word(0) & 0xff).isEqualTo(id == 0 ? Outcome.NO : Outcome.YES);
          assertThat(reader.word(16)).isEqualTo(id);
          reader.skip(ClientFrame.RESULT_BYTES);
        }
        assertThat(reader.left()).isZero();
        reader.next();
      }
    }
  }

  /** The JDK has a virtual thread give way where another thread has a monitor that it needs. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  @SuppressWarnings("ThreadPriorityCheck") // Of a virtual thread it is what lets others run.
  void shouldGoOnWhereAWorkerGivesWayInTheMiddleOfAnAnswer() throws IOException {
    ServiceIndex plain = ServiceIndex.of(index);
    ServiceIndex givingWay =
        new ServiceIndex(
            index,
            () -> {
              Thread.yield();
              return index.partitioning();
            },
            plain.workers(),
            false,
            plain.keyBytesMax(),
            plain.valueBytesMax());
    try (ClientService service = start(givingWay, ServiceLimits.DEFAULTS);
        SocketChannel channel = connect(service)) {
      FrameReader reader = FrameReader.ofResponses();
      for (int i = 0; i < 20; i++) {
        send(channel, scan(1, 10, 10, 0));
        receive(channel, reader);
        assertThat(reader.count()).isEqualTo(10);
        reader.next();
      }
    }
  }

  /** None waits, as what is READ is in this process, and the lane carries its threads. */
  @ParameterizedTest
  @ValueSource(ints = {1, ServiceLane.TURN - 1, ServiceLane.TURN})
  void shouldAnswerABatchOfOneTurnByOneFrame(int count) throws IOException {
    try (ClientService service = start(ServiceLimits.DEFAULTS);
        SocketChannel channel = connect(service)) {
      FrameReader reader = FrameReader.ofResponses();
      for (int i = 0; i < 20; i++) {
        send(channel, operations(count));
        receive(channel, reader);
        assertThat(reader.kind()).isEqualTo(ClientFrame.OPERATIONS);
        assertThat(reader.count()).isEqualTo(count);
        reader.next();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1_025})
  void shouldRefuseOtherNumbersOfOperations(int count) throws IOException {
    try (ClientService service = start(ServiceLimits.DEFAULTS);
        SocketChannel channel = connect(service)) {
      send(channel, operations(count));
      assertGoodbye(channel, ClientFrame.REFUSED, "impossible number of operations");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 9, 1, 0, ''",
    "1, 9, 1024, 0, ''",
    "9, 1, 1024, 1, ''",
    "5, 5, 1, 1, ''",
    "1, 9, 0, 0, no page is like this",
    "1, 9, -1, 0, no page is like this",
    "1, 9, 1025, 0, no page is like this",
    "9, 1, 10, 0, no page is like this",
    "1, 9, 10, 1, no page is like this",
    "1, 9, 10, 2, impossible length",
  })
  void shouldTakeScansInTheirRanges(long from, long to, long limit, int flags, String because)
      throws IOException {
    try (ClientService service = start(ServiceLimits.DEFAULTS);
        SocketChannel channel = connect(service)) {
      send(channel, scan(from, to, limit, flags));
      if (because.isEmpty()) {
        FrameReader reader = FrameReader.ofResponses();
        receive(channel, reader);
        assertThat(reader.kind()).isEqualTo(ClientFrame.SCAN);
        assertThat(reader.sequence()).isEqualTo(77);
        assertThat(reader.count()).isEqualTo(Math.min(limit, Math.abs(to - from) + 1));
      } else {
        assertGoodbye(channel, ClientFrame.REFUSED, because);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 31, 33, 65_537, 65_544, Integer.MAX_VALUE, Integer.MIN_VALUE})
  void shouldRefuseImpossibleLengths(int length) throws IOException {
    try (ClientService service = start(ServiceLimits.DEFAULTS);
        SocketChannel channel = connect(service)) {
      ByteBuffer frame = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
      channel.write(frame.putInt(0, length));
      assertGoodbye(channel, ClientFrame.REFUSED, "impossible length of a frame");
    }
  }

  @Test
  void shouldRefuseOtherKindsAndOperations() throws IOException {
    try (ClientService service = start(ServiceLimits.DEFAULTS)) {
      for (int kind : new int[] {0, ClientFrame.GOODBYE, 8, 255}) {
        try (SocketChannel channel = connect(service)) {
          FrameWriter writer = new FrameWriter();
          writer.begin(kind == 0 ? 256 : kind);
          writer.finish(0, 1, 2);
          send(channel, writer);
          assertGoodbye(channel, ClientFrame.REFUSED, "unknown kind");
        }
      }
      for (int op : new int[] {0, Op.SIZE + 1, 255}) {
        try (SocketChannel channel = connect(service)) {
          FrameWriter writer = new FrameWriter();
          writer.begin(ClientFrame.OPERATIONS);
          writer.operation(op, 1, 1, 1, 1);
          writer.finish(0, 1, 2);
          send(channel, writer);
          assertGoodbye(channel, ClientFrame.REFUSED, "no operation is like this");
        }
      }
    }
  }

  /** A frame is done as it was sent, or refused with nothing done. */
  @Test
  void shouldSurviveMutatedFrames() throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.of(1820));
    int frames = Seeds.count(300, 600, 50_000);
    try (ClientService service = start(limits(3_000, 60_000, 10_000))) {
      byte[] valid = bytes(operations(3));
      SocketChannel channel = connect(service);
      FrameReader reader = FrameReader.ofResponses();
      int refused = 0;
      for (int i = 0; i < frames; i++) {
        byte[] mutated = valid.clone();
        for (int flips = random.nextInt(1, 4); flips > 0; flips--) {
          // Of the length, none that lets the server wait for more.
          int at = random.nextInt(i % 8 == 0 ? 0 : 4, mutated.length);
          mutated[at] ^= (byte) (1 << random.nextInt(8));
        }
        ByteBuffer sent = ByteBuffer.wrap(mutated);
        if (isLonger(sent)) {
          continue;
        }
        channel.write(sent);
        receive(channel, reader);
        if (reader.kind() == ClientFrame.GOODBYE) {
          refused++;
          channel.close();
          channel = connect(service);
          reader = FrameReader.ofResponses();
        } else {
          assertThat(mutated).isEqualTo(valid);
          reader.next();
        }
      }
      channel.close();
      assertThat(refused).isGreaterThan(frames / 2);
      try (Session own = index.session()) {
        assertThat(Entries.scan(own)).isEqualTo(Entries.spaced(2_000, 1));
      }
    }
  }

  private static boolean isLonger(ByteBuffer frame) {
    int length = frame.order(ByteOrder.LITTLE_ENDIAN).getInt(0);
    return length > frame.capacity() && length <= ClientFrame.BYTES_MAX && length % 8 == 0;
  }

  static byte[] bytes(FrameWriter writer) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    writer.send(Channels.newChannel(bytes));
    return bytes.toByteArray();
  }

  @Test
  void shouldTakeAsManyConnectionsAsItHasPlaces() throws IOException {
    ServiceLimits few =
        new ServiceLimits(
            3,
            ServiceLimits.DEFAULTS.helloNanos(),
            ServiceLimits.DEFAULTS.idleNanos(),
            ServiceLimits.DEFAULTS.frameNanos(),
            ServiceLimits.DEFAULTS.goodbyeNanos(),
            ServiceLimits.DEFAULTS.longBytes());
    try (ClientService service = start(few)) {
      List<SocketChannel> channels = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        channels.add(connect(service));
      }
      assertThat(service.connections()).isEqualTo(3);
      String address = service.address().getHostString() + ":" + service.address().getPort();
      assertThatExceptionOfType(ClientException.class)
          .isThrownBy(() -> PandoClient.connect(address, ClientOptions.defaults()))
          .withMessageContaining("as many connections as it takes");
      channels.getFirst().close();
      connectOnceThereIsAPlace(service).close();
      for (SocketChannel channel : channels) {
        channel.close();
      }
    }
  }

  private static SocketChannel connectOnceThereIsAPlace(ClientService service) throws IOException {
    while (true) {
      SocketChannel channel = SocketChannel.open(service.address());
      Hello.send(channel, Protocol.OPERATIONS, AuthenticationKind.NONE, Role.CLIENT, null, 0);
      int status = Hello.receiveAnswer(channel, Protocol.OPERATIONS).status();
      if (status == Hello.WELCOME) {
        return channel;
      }
      assertThat(status).isEqualTo(Hello.FULL);
      channel.close();
    }
  }

  @Tag("campaign")
  @Test
  void shouldCutOffThoseThatTakeTooLong() throws IOException {
    try (ClientService service = start(limits(100, 60_000, 300))) {
      try (SocketChannel silent = SocketChannel.open(service.address())) {
        assertThat(silent.read(ByteBuffer.allocate(1))).as("no HELLO").isEqualTo(-1);
      }
      try (SocketChannel channel = connect(service)) {
        channel.write(ByteBuffer.allocate(4).put(0, (byte) 64));
        assertThat(channel.read(ByteBuffer.allocate(1))).as("half a frame").isEqualTo(-1);
      }
    }
    try (ClientService service = start(limits(3_000, 300, 10_000));
        SocketChannel channel = connect(service)) {
      assertGoodbye(channel, 0, "nothing came for a long time");
    }
  }

  /** A client that takes no answers stops itself, and is cut off; others are served meanwhile. */
  @Test
  void shouldNotWaitForAClientThatTakesNothing() throws IOException {
    try (ClientService service = start(limits(3_000, 60_000, 1_000));
        SocketChannel greedy = connect(service);
        SocketChannel other = connect(service)) {
      greedy.configureBlocking(false);
      byte[] frame = bytes(scan(1, 2_000, 1_000, 0));
      boolean cut = false;
      ByteBuffer rest = ByteBuffer.allocate(0);
      FrameReader reader = FrameReader.ofResponses();
      while (!cut) {
        try {
          rest = rest.hasRemaining() ? rest : ByteBuffer.wrap(frame);
          greedy.write(rest);
        } catch (IOException e) {
          cut = true;
        }
        send(other, operations(1));
        receive(other, reader);
        reader.next();
      }
    }
  }

  @Test
  @SuppressWarnings("try") // It is closed early.
  void shouldAnswerWhatIsUnderWayWhenItCloses() throws IOException {
    ClientService service = start(ServiceLimits.DEFAULTS);
    try (SocketChannel channel = connect(service)) {
      send(channel, operations(2));
      FrameReader reader = FrameReader.ofResponses();
      receive(channel, reader);
      reader.next();
      Thread closer = Thread.ofPlatform().start(service::close);
      int answered = 0;
      receive(channel, reader);
      while (reader.kind() != ClientFrame.GOODBYE) {
        answered += reader.count();
        reader.next();
        receive(channel, reader);
      }
      assertThat(answered).isLessThan(2);
      channel.close();
      closer.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    } finally {
      service.close();
    }
  }

  @Test
  void shouldRefuseToStartWhereItCannot() {
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            ClientService.start(
                index,
                new InetSocketAddress("192.0.2.1", 0),
                Authentication.none(),
                Routes::alone,
                1))
        .withMessageContaining("only loopback");
    for (int lanes : new int[] {-1, 0, ClientService.LANES_MAX + 1}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() ->
              ClientService.start(index, FREE_PORT, Authentication.none(), Routes::alone, lanes))
          .withMessageContaining("lanes=" + lanes);
    }
    try (ClientService service = start(ServiceLimits.DEFAULTS)) {
      assertThatExceptionOfType(TcpException.class)
          .isThrownBy(() ->
              ClientService.start(
                  index, service.address(), Authentication.none(), Routes::alone, 1))
          .withMessageContaining("cannot listen");
    }
  }
}
