package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static pando.fabric.tcp.RawPeer.assertEnded;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.TestHandlers;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.server.PoolOptions;
import pando.fabric.wire.AuthenticationKind;
import pando.fabric.wire.Frame;
import pando.fabric.wire.Guests;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Protocol;
import pando.fabric.wire.RequestWriter;
import pando.fabric.wire.ResponseReader;
import pando.fabric.wire.Role;

/** Peers that do not do as they should. */
@Timeout(300)
class TcpMemoryServerTest {
  private static final PoolOptions POOL =
      PoolOptions.defaults().withBytesPerServer(1 << 20).withChunkBytes(64 << 10);
  private static final long PATIENT = TimeUnit.SECONDS.toNanos(60);
  private static final long IMPATIENT = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long WORD = GlobalAddress.of(0, 64);

  private final MemorySegment memory = Arena.ofAuto().allocate(1 << 20, 64);
  private final RequestWriter request = new RequestWriter(0);
  private final ResponseReader response = new ResponseReader();
  private final List<TcpMemoryServer> servers = new ArrayList<>();

  @AfterEach
  void stop() {
    servers.forEach(TcpMemoryServer::close);
  }

  @Test
  void shouldListenOnLoopbackAlone() {
    for (String address : new String[] {"0.0.0.0", "192.0.2.1", "::"}) {
      InetSocketAddress outside = new InetSocketAddress(address, 0);
      assertThatThrownBy(() -> TcpMemoryServer.start(outside, 0, POOL))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("only loopback addresses");
      assertThatThrownBy(() -> TcpFabric.attach(List.of(outside), 1, TcpOptions.defaults()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("only loopback addresses");
    }
  }

  @Test
  void shouldRefuseAnAddressInUse() {
    TcpMemoryServer server = start(PATIENT, PATIENT, 10);
    assertThatThrownBy(() -> TcpMemoryServer.start(server.address(), 0, POOL))
        .isInstanceOf(TcpException.class)
        .hasMessageContaining(server.address().toString());
  }

  @Test
  void shouldRefuseAMemoryServerAtTheWrongPlace() {
    TcpMemoryServer server = start(PATIENT, PATIENT, 10);
    List<InetSocketAddress> twice = List.of(server.address(), server.address());
    assertThatThrownBy(() -> TcpFabric.attach(twice, 1, TcpOptions.defaults()))
        .isInstanceOf(TcpException.class)
        .hasMessageContaining("place=1, number=0");
  }

  @Test
  void shouldTellOtherVersionsItsOwn() throws IOException {
    TcpMemoryServer server = start(PATIENT, PATIENT, 10);
    try (SocketChannel channel = SocketChannel.open(server.address())) {
      ByteBuffer hello = ByteBuffer.allocate(Hello.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      hello.putLong(0x3154_2d4f_444e_4150L).putShort((short) 2).position(0);
      writeAll(channel, hello);
      Hello.Welcome answer = Hello.receiveAnswer(channel, Protocol.VERBS);
      assertThat(answer.status()).isEqualTo(Hello.OTHER_VERSION);
      assertThat(answer.version()).isEqualTo(Hello.VERSION);
      assertEnded(channel);
    }
  }

  @Test
  void shouldCutOffWhoSaysNoHello() throws IOException {
    TcpMemoryServer server = start(PATIENT, PATIENT, 10);
    try (SocketChannel channel = SocketChannel.open(server.address())) {
      writeAll(channel, ByteBuffer.allocate(Hello.BYTES));
      assertEnded(channel);
    }
  }

  @Test
  void shouldCutOffWhoIsSilent() throws IOException {
    TcpMemoryServer server = start(IMPATIENT, PATIENT, 10);
    try (SocketChannel silent = SocketChannel.open(server.address())) {
      assertEnded(silent);
    }
  }

  @Test
  void shouldCutOffWhoIsSlow() throws IOException {
    TcpMemoryServer server = start(PATIENT, IMPATIENT, 10);
    try (SocketChannel slow = connect(server)) {
      writeAll(slow, ByteBuffer.allocate(5).put(0, (byte) 48));
      assertEnded(slow);
    }
    try (SocketChannel slow = connect(server)) {
      // All of a request, and the start of another.
      write(new VerbList().faa(WORD, 1, 0), 1);
      ByteArrayOutputStream both = new ByteArrayOutputStream();
      request.send(Channels.newChannel(both));
      both.write(48);
      writeAll(slow, ByteBuffer.wrap(both.toByteArray()));
      response.receive(slow, 1);
      assertThat(response.status()).isEqualTo(Frame.DONE);
      assertEnded(slow);
    }
  }

  @Test
  void shouldCutOffWhoDoesNotReadResponses() throws IOException {
    TcpMemoryServer server = start(PATIENT, IMPATIENT, 10);
    try (SocketChannel greedy = connect(server)) {
      write(new VerbList().read(WORD, 0, Frame.VERB_BYTES_MAX), 1);
      assertThatThrownBy(
              () -> {
                while (true) {
                  request.send(greedy);
                }
              })
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void shouldDoNothingOfAListThatNamesBytesThatAreNotThere() throws IOException {
    TcpMemoryServer server = start(PATIENT, PATIENT, 10);
    try (SocketChannel channel = connect(server)) {
      write(new VerbList().faa(WORD, 5, 0).faa(GlobalAddress.of(0, 1L << 40), 1, 0), 1);
      exchange(channel, 1);
      assertThat(response.status()).isEqualTo(Frame.OUTSIDE);
      assertThat(response.detail()).isEqualTo(1);
      write(new VerbList().faa(WORD, 1, 0).faa(WORD, 1, 0), 2);
      exchange(channel, 2);
      assertThat(response.status()).isEqualTo(Frame.DONE);
      assertThat(response.takeWord()).isZero();
      assertThat(response.takeWord()).isEqualTo(1);
    }
  }

  @Test
  void shouldRefuseNonsenseAndGoOnWithOthers() throws IOException {
    TcpMemoryServer server = start(PATIENT, PATIENT, 10);
    try (SocketChannel good = connect(server);
        SocketChannel bad = connect(server)) {
      ByteBuffer nonsense = ByteBuffer.allocate(48).order(ByteOrder.LITTLE_ENDIAN);
      nonsense.putInt(0, 48).put(4, (byte) 9).putLong(8, 7);
      writeAll(bad, nonsense);
      response.receive(bad, 7);
      assertThat(response.status()).isEqualTo(Frame.REFUSED);
      assertThat(response.text()).contains("unknown kind of frame: value=9");
      assertEnded(bad);
      write(new VerbList().faa(WORD, 1, 0), 1);
      exchange(good, 1);
      assertThat(response.status()).isEqualTo(Frame.DONE);
    }
  }

  @Test
  void shouldTakeAsManyConnectionsAsItHasPlaces() {
    TcpMemoryServer server = start(PATIENT, PATIENT, 2);
    try (Fabric fabric = TcpFabric.attach(List.of(server.address()), 1, TcpOptions.defaults());
        RegisteredMemory local = fabric.register(64);
        Worker third = fabric.worker(local)) {
      awaitNoConnection(server);
      try (Worker first = fabric.worker(local);
          Worker second = fabric.worker(local)) {
        first.read(WORD, 0, 8);
        second.read(WORD, 0, 8);
        assertThatThrownBy(() -> third.read(WORD, 0, 8))
            .isInstanceOf(StalledException.class)
            .hasMessageContaining("as many connections as it takes: server=0");
        first.read(WORD, 0, 8);
      }
      // They have left theirs.
      third.read(WORD, 0, 8);
    }
  }

  @Test
  void shouldTakeBackThePlaceOfAPeerThatIsGoneBeforeTheAnswer() throws IOException {
    TcpMemoryServer server = start(PATIENT, PATIENT, 1);
    for (int i = 0; i < 100; i++) {
      try (SocketChannel gone = SocketChannel.open(server.address())) {
        // It resets the connection when it ends.
        gone.setOption(StandardSocketOptions.SO_LINGER, 0);
        Hello.send(gone, Protocol.VERBS, AuthenticationKind.NONE, Role.COMPUTE, null, 0);
      }
    }
    // Some of them may still be accepted, and each then has the place for a moment.
    while (true) {
      try (SocketChannel good = SocketChannel.open(server.address())) {
        if (RawPeer.greet(good, Role.COMPUTE, null, 0).status() == Hello.WELCOME) {
          write(new VerbList().faa(WORD, 1, 0), 1);
          exchange(good, 1);
          assertThat(response.status()).isEqualTo(Frame.DONE);
          return;
        }
      }
    }
  }

  @Test
  void shouldSayThatNothingWasDoneWhereNoProcessorTakesACall() throws Exception {
    PeerLimits limits = new PeerLimits(PATIENT, PATIENT, IMPATIENT, PATIENT, 10);
    TcpMemoryServer server = start(limits, 0, POOL.withHandlers(TestHandlers.all()));
    try (ExecutorService thread = Executors.newSingleThreadExecutor();
        Fabric fabric = TcpFabric.attach(List.of(server.address()), 1, TcpOptions.defaults());
        RegisteredMemory local = fabric.register(3 * Worker.CALL_BYTES_MAX);
        Worker waiter = fabric.worker(local);
        Worker worker = fabric.worker(local)) {
      Words.set(local.segment(), 0, GlobalAddress.offset(WORD));
      Future<Integer> call = thread.submit(() -> waiter.call(0, TestHandlers.WAIT, 0, 8));
      long message = Worker.CALL_BYTES_MAX;
      // Served at once until the other CALL has the only processor.
      assertThatThrownBy(
              () -> {
                while (true) {
                  worker.call(0, TestHandlers.INCREMENT, message, 8);
                }
              })
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("no processor took the CALL: server=0");
      assertThat(server.callsFailed()).isZero();
      // Verbs do not wait for processors, and end the CALL.
      assertThat(worker.faa(WORD, 1)).isZero();
      assertThat(call.get(PATIENT, TimeUnit.NANOSECONDS)).isZero();
      assertThat(worker.call(0, TestHandlers.INCREMENT, message, 8)).isEqualTo(8);
    }
  }

  @Tag("campaign")
  @Test
  void shouldGoOnWithOthersAmidACrowd() throws IOException {
    int served = Boolean.getBoolean("pando.soak") ? TcpMemoryServer.CONNECTIONS_MAX : 20;
    int most = served + Guests.MAX;
    TcpMemoryServer server = start(PATIENT, PATIENT, served);
    List<SocketChannel> crowd = new ArrayList<>();
    try (Fabric fabric = TcpFabric.attach(List.of(server.address()), 1, TcpOptions.defaults());
        RegisteredMemory local = fabric.register(64);
        Worker late = fabric.worker(local)) {
      awaitNoConnection(server);
      for (int i = 0; i < served; i++) {
        crowd.add(connect(server));
      }
      while (server.connections() < most) {
        crowd.add(SocketChannel.open(server.address()));
      }
      // A memory server that has no place is not lost.
      for (int i = 0; i < 100; i++) {
        assertThatThrownBy(() -> late.read(WORD, 0, 8))
            .isInstanceOf(StalledException.class)
            .hasMessageContaining("as many connections as it takes: server=0");
      }
      assertThat(server.connections()).isBetween(served, most);
      for (int i = 0; i < served; i++) {
        write(new VerbList().faa(WORD, 1, 0), i);
        exchange(crowd.get(i), i);
        assertThat(response.takeWord()).isEqualTo(i);
      }
      for (SocketChannel channel : crowd) {
        channel.close();
      }
      awaitNoConnection(server);
      late.read(WORD, 0, 8);
      assertThat(Words.get(local.segment(), 0)).isEqualTo(served);
    }
  }

  @Test
  void shouldWaitForASlowHelloAndServeOthersMeanwhile() throws IOException {
    TcpMemoryServer server = start(PATIENT, PATIENT, 10);
    ByteBuffer hello = ByteBuffer.allocate(Hello.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    hello.putLong(0x3154_2d4f_444e_4150L).putShort((short) Hello.VERSION).put(12, (byte) 2).clear();
    try (SocketChannel slow = SocketChannel.open(server.address());
        SocketChannel quick = connect(server)) {
      for (int i = 0; i < Hello.BYTES; i++) {
        writeAll(slow, hello.limit(i + 1));
        write(new VerbList().faa(WORD, 1, 0), i);
        exchange(quick, i);
        assertThat(response.takeWord()).isEqualTo(i);
      }
      assertThat(Hello.receiveAnswer(slow, Protocol.VERBS).status()).isEqualTo(Hello.WELCOME);
      write(new VerbList().faa(WORD, 1, 0), 1);
      exchange(slow, 1);
      assertThat(response.takeWord()).isEqualTo(Hello.BYTES);
    }
  }

  @Test
  void shouldSayWhetherAScatterThatFoundNoPlaceWasSent() {
    TcpMemoryServer roomy = start(PATIENT, PATIENT, 10);
    TcpMemoryServer full = start(PATIENT, PATIENT, 1, 1);
    List<InetSocketAddress> both = List.of(roomy.address(), full.address());
    long there = GlobalAddress.of(1, 64);
    try (Fabric fabric = TcpFabric.attach(both, 1, TcpOptions.defaults());
        RegisteredMemory local = fabric.register(64);
        Worker holder = fabric.worker(local);
        Worker worker = fabric.worker(local)) {
      awaitNoConnection(full);
      holder.read(there, 0, 8);
      assertThatThrownBy(() -> worker.scatter(new VerbList().faa(WORD, 1, 0).faa(there, 1, 8)))
          .isInstanceOf(StalledException.class);
      assertThat(holder.faa(WORD, 0)).isZero();
    }
  }

  @Test
  void shouldNotKnowTheOutcomeOfAListWhoseLaterRequestFindsNoPlace() {
    TcpMemoryServer roomy = start(PATIENT, PATIENT, 10);
    TcpMemoryServer full = start(PATIENT, PATIENT, 1, 1);
    List<InetSocketAddress> both = List.of(roomy.address(), full.address());
    long there = GlobalAddress.of(1, 64);
    try (Fabric fabric = TcpFabric.attach(both, 1, TcpOptions.defaults());
        RegisteredMemory local = fabric.register(64);
        Worker holder = fabric.worker(local);
        Worker worker = fabric.worker(local)) {
      awaitNoConnection(full);
      holder.read(there, 0, 8);
      VerbList adds = new VerbList();
      VerbList reads = new VerbList();
      for (int i = 0; i <= Frame.VERBS_MAX; i++) {
        adds.faa(WORD, 1, 0);
        reads.read(WORD, 0, 8);
      }
      assertThatThrownBy(() -> worker.scatter(adds.faa(there, 1, 8)))
          .isInstanceOf(UnknownOutcomeException.class)
          .hasMessageContaining("some of the verbs were sent")
          .hasCauseInstanceOf(StalledException.class);
      assertThat(holder.faa(WORD, 0)).isEqualTo(Frame.VERBS_MAX);
      assertThat(holder.faa(there, 0)).isZero();
      assertThatThrownBy(() -> worker.scatter(reads.read(there, 8, 8)))
          .isInstanceOf(StalledException.class);
    }
  }

  /** Waits until the memory server has seen the end of all connections. */
  private static void awaitNoConnection(TcpMemoryServer server) {
    while (server.connections() > 0) {
      LockSupport.parkNanos(100_000);
    }
  }

  private TcpMemoryServer start(long helloNanos, long frameNanos, int connections) {
    return start(helloNanos, frameNanos, connections, 0);
  }

  private TcpMemoryServer start(long helloNanos, long frameNanos, int connections, int number) {
    return start(
        new PeerLimits(helloNanos, frameNanos, PATIENT, PATIENT, connections), number, POOL);
  }

  private TcpMemoryServer start(PeerLimits limits, int number, PoolOptions options) {
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    TcpMemoryServer server =
        TcpMemoryServer.start(anyPort, number, options, Authentication.none(), limits);
    servers.add(server);
    return server;
  }

  private static SocketChannel connect(TcpMemoryServer server) throws IOException {
    return RawPeer.connect(server, Role.COMPUTE, null, 0);
  }

  /** Writes a list of READs and atomics. */
  private void write(VerbList list, long sequence) {
    request.begin();
    for (int i = 0; i < list.size(); i++) {
      assertThat(request.add(list, i, memory)).isTrue();
    }
    request.beginPayloads();
    request.finish(sequence);
  }

  private void exchange(SocketChannel channel, long sequence) throws IOException {
    request.send(channel);
    response.receive(channel, sequence);
  }

  private static void writeAll(SocketChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      int written = channel.write(bytes);
      assertThat(written).isNotNegative();
    }
  }
}
