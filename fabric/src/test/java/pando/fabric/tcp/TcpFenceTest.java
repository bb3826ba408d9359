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
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FenceFailedException;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.TestHandlers;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Outcome;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.server.PoolOptions;
import pando.fabric.wire.AuthenticationKind;
import pando.fabric.wire.Frame;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Protocol;
import pando.fabric.wire.RequestWriter;
import pando.fabric.wire.ResponseReader;
import pando.fabric.wire.Role;
import pando.fabric.wire.TestAuthority;

/** Fences over TCP, and clients that do not keep to them. */
@Timeout(300)
class TcpFenceTest {
  private static final PoolOptions POOL =
      PoolOptions.defaults()
          .withBytesPerServer(1 << 20)
          .withChunkBytes(64 << 10)
          .withHandlers(TestHandlers.all());
  private static final ComputeServer NAME = new ComputeServer(3, 7);
  private static final long WORD = GlobalAddress.of(0, 64);
  private static final long THERE = GlobalAddress.of(1, 64);
  private static final long PATIENT = TimeUnit.SECONDS.toNanos(60);
  private static final long IMPATIENT = TimeUnit.MILLISECONDS.toNanos(50);

  private final MemorySegment memory = Arena.ofAuto().allocate(1 << 20, 64);
  private final ResponseReader response = new ResponseReader();
  private final List<TcpMemoryServer> servers = new ArrayList<>();

  @AfterEach
  void stop() {
    servers.forEach(TcpMemoryServer::close);
  }

  @Test
  void shouldTellAFencedComputeServerSoAtItsHello() throws IOException {
    TcpMemoryServer server = start(PeerLimits.DEFAULTS);
    try (Fabric fabric = attach()) {
      fabric.fence(3, 8);
      assertThat(hello(server, Role.COMPUTE, NAME).status()).isEqualTo(Hello.FENCED);
      assertThat(hello(server, Role.COMPUTE, new ComputeServer(3, 1)).status())
          .isEqualTo(Hello.FENCED);
      assertThat(hello(server, Role.COMPUTE, new ComputeServer(3, 8)).status())
          .isEqualTo(Hello.WELCOME);
      assertThat(hello(server, Role.COMPUTE, new ComputeServer(0, 1)).status())
          .isEqualTo(Hello.WELCOME);
      assertThatThrownBy(() -> attach(options().withComputeServer(NAME)).close())
          .isInstanceOf(FencedException.class)
          .hasMessageContaining("number=3, epoch=7")
          .hasMessageContaining("server=0, address=");
    }
  }

  private static Hello.Welcome hello(TcpMemoryServer server, Role role, ComputeServer name)
      throws IOException {
    try (SocketChannel channel = SocketChannel.open(server.address())) {
      return RawPeer.greet(channel, role, name, 0);
    }
  }

  @Test
  void shouldRefuseRequestsThatAreNotForTheRoleOrTheEpoch() throws IOException {
    TcpMemoryServer server = start(PeerLimits.DEFAULTS);
    RequestWriter fence = new RequestWriter(7);
    fence.fence(1, 4, 2);
    assertRefused(server, Role.COMPUTE, NAME, fence, "not for this role");
    RequestWriter verbs = new RequestWriter(0);
    verbs.call(1, TestHandlers.INCREMENT, memory, 0, 8);
    assertRefused(server, Role.ADMIN, null, verbs, "not for this role");
    assertRefused(server, Role.COMPUTE, NAME, verbs, "another epoch than that of the HELLO");
    RequestWriter stale = new RequestWriter(6);
    stale.call(1, TestHandlers.INCREMENT, memory, 0, 8);
    assertRefused(server, Role.COMPUTE, NAME, stale, "another epoch than that of the HELLO");
    for (long epoch : new long[] {0, -1}) {
      RequestWriter none = new RequestWriter(0);
      none.fence(1, 4, epoch);
      assertRefused(server, Role.ADMIN, null, none, "no such epoch");
    }
    RequestWriter nobody = new RequestWriter(0);
    nobody.fence(1, 1024, 1);
    assertRefused(server, Role.ADMIN, null, nobody, "no compute server has this number");
    // Nothing of that has fenced anyone.
    assertThat(hello(server, Role.COMPUTE, new ComputeServer(4, 1)).status())
        .isEqualTo(Hello.WELCOME);
    assertThat(server.callsServed()).isZero();
  }

  private void assertRefused(
      TcpMemoryServer server,
      Role role,
      @Nullable ComputeServer name,
      RequestWriter request,
      String because)
      throws IOException {
    try (SocketChannel channel = connect(server, role, name)) {
      request.send(channel);
      response.receive(channel, 1);
      assertThat(response.status()).isEqualTo(Frame.REFUSED);
      assertThat(response.text()).contains(because);
      assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    }
  }

  @Test
  void shouldCutOffASilentAdmin() throws IOException {
    TcpMemoryServer server = start(new PeerLimits(PATIENT, IMPATIENT, PATIENT, PATIENT, 10));
    try (SocketChannel silent = connect(server, Role.ADMIN, null)) {
      assertEnded(silent);
    }
  }

  @Test
  void shouldFenceThoughAllPlacesAreTaken() throws IOException {
    TcpMemoryServer server = start(new PeerLimits(PATIENT, PATIENT, PATIENT, PATIENT, 1));
    try (Fabric fabric = attach();
        SocketChannel taken = connectAnew(server)) {
      fabric.fence(3, 8);
      assertEnded(taken);
    }
  }

  /** Takes the only place, once the connection by which the fabric asked has ended. */
  private static SocketChannel connectAnew(TcpMemoryServer server) throws IOException {
    while (server.connections() > 0) {
      LockSupport.parkNanos(100_000);
    }
    return connect(server, Role.COMPUTE, NAME);
  }

  @Test
  void shouldNotWaitForAClientThatReadsNoResponses() throws IOException {
    TcpMemoryServer server = start(new PeerLimits(PATIENT, PATIENT, PATIENT, PATIENT, 10));
    try (Fabric fabric = attach();
        SocketChannel deaf = SocketChannel.open()) {
      deaf.setOption(StandardSocketOptions.SO_RCVBUF, 4 << 10).connect(server.address());
      Hello.send(deaf, Protocol.VERBS, AuthenticationKind.NONE, Role.COMPUTE, NAME, 0);
      assertThat(Hello.receiveAnswer(deaf, Protocol.VERBS).status()).isEqualTo(Hello.WELCOME);
      deaf.configureBlocking(false);
      RequestWriter reads = reads(new VerbList().read(WORD, 0, 100_000).read(WORD, 0, 100_000));
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      reads.send(Channels.newChannel(bytes));
      ByteBuffer request = ByteBuffer.wrap(bytes.toByteArray());
      // Until the memory server is stuck in its responses, so that it takes no more.
      int refusals = 0;
      while (refusals < 100) {
        if (deaf.write(request) == 0) {
          refusals++;
          LockSupport.parkNanos(1_000_000);
        } else {
          refusals = 0;
        }
        if (!request.hasRemaining()) {
          request.rewind();
        }
      }
      fabric.fence(3, 8);
    }
  }

  private RequestWriter reads(VerbList list) {
    RequestWriter request = new RequestWriter(7);
    request.begin();
    for (int i = 0; i < list.size(); i++) {
      assertThat(request.add(list, i, memory)).isTrue();
    }
    request.beginPayloads();
    request.finish(1);
    return request;
  }

  @Test
  void shouldSayWhichMemoryServersHaveFenced() {
    start(PeerLimits.DEFAULTS);
    start(PeerLimits.DEFAULTS);
    start(PeerLimits.DEFAULTS);
    try (Fabric fabric = attach();
        Fabric late = attach(options().withComputeServer(NAME));
        RegisteredMemory local = late.register(64);
        Worker worker = late.worker(local)) {
      worker.faa(WORD, 1);
      servers.get(1).close();
      assertThatThrownBy(() -> fabric.fence(3, 8))
          .isInstanceOfSatisfying(
              FenceFailedException.class,
              e -> {
                assertThat(e.isFencedAt(0)).isTrue();
                assertThat(e.isFencedAt(1)).isFalse();
                assertThat(e.isFencedAt(2)).isTrue();
                assertThat(e.getSuppressed()).hasSize(1);
              })
          .hasMessageContaining("fencedAt={0, 2}");
      assertThatThrownBy(() -> worker.read(WORD, 0, 8)).isInstanceOf(FencedException.class);
    }
  }

  /** Or locks of the dead would stay, once a memory server is lost. */
  @Test
  void shouldKnowThatAProcessIsGoneWhereAMemoryServerIsLost() {
    start(PeerLimits.DEFAULTS);
    start(PeerLimits.DEFAULTS);
    try (Fabric fabric = attach(options().withComputeServer(new ComputeServer(4, 1)))) {
      servers.get(1).close();
      assertThatThrownBy(() -> fabric.fence(3, 8, server -> server == 0))
          .isInstanceOf(FenceFailedException.class);
      assertThat(fabric.isGone(NAME.process())).isFalse();
      fabric.fence(3, 8, server -> server == 1);
      assertThat(fabric.isGone(NAME.process())).isTrue();
    }
  }

  @Test
  void shouldAskNoMoreOnceItIsFenced() {
    start(PeerLimits.DEFAULTS);
    try (Fabric fabric = attach();
        Fabric late = attach(options().withComputeServer(NAME));
        RegisteredMemory local = late.register(64);
        Worker worker = late.worker(local);
        Worker other = late.worker(local)) {
      worker.faa(WORD, 1);
      fabric.fence(3, 8);
      assertThatThrownBy(() -> worker.read(WORD, 0, 8)).isInstanceOf(FencedException.class);
      servers.getFirst().close();
      // If these asked again, the memory server would be lost.
      assertThatThrownBy(() -> worker.faa(WORD, 1)).isInstanceOf(FencedException.class);
      assertThatThrownBy(() -> other.faa(WORD, 1)).isInstanceOf(FencedException.class);
    }
  }

  @Test
  void shouldNotClaimThatNothingWasDoneWhereSomeWas() {
    start(PeerLimits.DEFAULTS);
    TcpMemoryServer fencing = start(PeerLimits.DEFAULTS);
    try (Fabric late = attach(options().withComputeServer(NAME));
        RegisteredMemory local = late.register(64);
        Worker worker = late.worker(local)) {
      worker.scatter(new VerbList().faa(WORD, 1, 0).faa(THERE, 1, 8));
      // One of two alone, whose connection is still open.
      assertThat(fencing.fences().fence(3, 8, PATIENT)).isTrue();
      VerbList both = new VerbList().faa(WORD, 1, 0).faa(THERE, 1, 8);
      assertThatThrownBy(() -> worker.scatter(both)).isInstanceOf(UnknownOutcomeException.class);
      assertThat(both.outcome(0)).isEqualTo(Outcome.DONE);
      assertThat(both.outcome(1)).isEqualTo(Outcome.UNKNOWN);
      assertThat(worker.faa(WORD, 1)).isEqualTo(2);
      VerbList reads = new VerbList().read(WORD, 0, 8).read(THERE, 8, 8);
      assertThatThrownBy(() -> worker.scatter(reads)).isInstanceOf(FencedException.class);
      assertThatThrownBy(() -> worker.scatter(both)).isInstanceOf(FencedException.class);
      assertThat(both.outcome(0)).isEqualTo(Outcome.NOT_DONE);
      assertThat(worker.faa(WORD, 1)).isEqualTo(3);
    }
  }

  @Test
  void shouldServeNoCallThatHasWaitedForAProcessor() throws Exception {
    TcpMemoryServer server = start(PeerLimits.DEFAULTS);
    try (ExecutorService threads = Executors.newCachedThreadPool();
        Fabric fabric = attach();
        Fabric late = attach(options().withComputeServer(NAME));
        RegisteredMemory local = fabric.register(3 * Worker.CALL_BYTES_MAX);
        RegisteredMemory lates = late.register(3 * Worker.CALL_BYTES_MAX);
        Worker busy = fabric.worker(local);
        Worker waiting = late.worker(lates);
        Worker worker = fabric.worker(local)) {
      Words.set(local.segment(), 0, GlobalAddress.offset(WORD));
      Future<Integer> occupied = threads.submit(() -> busy.call(0, TestHandlers.WAIT, 0, 8));
      while (worker.faa(WORD + 8, 0) == 0) {
        worker.backoff().pause(100);
      }
      Words.set(lates.segment(), 0, 1);
      Words.set(lates.segment(), 8, GlobalAddress.offset(WORD) + 16);
      Future<Integer> refused = threads.submit(() -> waiting.call(0, TestHandlers.ADD, 0, 16));
      while (!server.hasCallsWaiting()) {
        worker.backoff().pause(100);
      }
      // Does not wait for the CALL that waits, which is not inside.
      fabric.fence(3, 8);
      assertThatThrownBy(() -> refused.get(30, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(UnknownOutcomeException.class);
      assertThat(worker.faa(WORD, 1)).isZero();
      assertThat(occupied.get(30, TimeUnit.SECONDS)).isZero();
      // The processor has come to the refused one once this is served.
      worker.call(0, TestHandlers.INCREMENT, Worker.CALL_BYTES_MAX, 8);
      assertThat(worker.faa(WORD + 16, 0)).isZero();
    }
  }

  @Test
  void shouldSayThatACallDoesNotEnd() throws Exception {
    start(new PeerLimits(PATIENT, PATIENT, PATIENT, IMPATIENT, 10));
    try (ExecutorService threads = Executors.newCachedThreadPool();
        Fabric fabric = attach();
        Fabric late = attach(options().withComputeServer(NAME));
        RegisteredMemory local = fabric.register(64);
        RegisteredMemory lates = late.register(Worker.CALL_BYTES_MAX);
        Worker hanging = late.worker(lates);
        Worker worker = fabric.worker(local)) {
      Words.set(lates.segment(), 0, GlobalAddress.offset(WORD));
      Future<Integer> call = threads.submit(() -> hanging.call(0, TestHandlers.WAIT, 0, 8));
      while (worker.faa(WORD + 8, 0) == 0) {
        worker.backoff().pause(100);
      }
      assertThatThrownBy(() -> fabric.fence(3, 8))
          .isInstanceOfSatisfying(
              FenceFailedException.class,
              e -> {
                assertThat(e.isFencedAt(0)).isFalse();
                assertThat(e.getSuppressed()[0]).isInstanceOf(StalledException.class);
              });
      worker.faa(WORD, 1);
      assertThatThrownBy(() -> call.get(30, TimeUnit.SECONDS))
          .hasCauseInstanceOf(UnknownOutcomeException.class);
      fabric.fence(3, 8);
    }
  }

  @Test
  void shouldNeedAnAdminsCertificateToFence(@TempDir Path directory) throws IOException {
    TestAuthority authority = new TestAuthority(directory);
    Authentication ofServer = TestFiles.tls(authority.sign("pando://grove/memory/m"));
    Authentication compute = TestFiles.tls(authority.sign("pando://grove/compute/c"));
    servers.add(TcpMemoryServer.start(anyPort(), 0, POOL, ofServer));
    TcpOptions options = options().withAuthentication(compute);
    try (Fabric fabric = attach(options)) {
      assertThat(fabric.capabilities().fences()).isFalse();
      assertThatThrownBy(() -> fabric.fence(3, 8))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("admin");
    }
    assertThatThrownBy(() -> attach(options.withFencing(compute)).close())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("needed=admin");
    try (Fabric fabric = attach(options.withFencing(Authentication.none()))) {
      assertThatThrownBy(() -> fabric.fence(3, 8)).isInstanceOf(FenceFailedException.class);
    }
  }

  private static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  private TcpMemoryServer start(PeerLimits limits) {
    TcpMemoryServer server =
        TcpMemoryServer.start(anyPort(), servers.size(), POOL, Authentication.none(), limits);
    servers.add(server);
    return server;
  }

  private static TcpOptions options() {
    return TcpOptions.defaults();
  }

  private Fabric attach() {
    return attach(options());
  }

  private Fabric attach(TcpOptions options) {
    return TcpFabric.attach(servers.stream().map(TcpMemoryServer::address).toList(), 1, options);
  }

  private static SocketChannel connect(
      TcpMemoryServer server, Role role, @Nullable ComputeServer name) throws IOException {
    return RawPeer.connect(server, role, name, 0);
  }
}
