package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static pando.fabric.tcp.RawPeer.assertEnded;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Lane;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.TestHandlers;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.FaultProxy.Fault;
import pando.fabric.wire.Frame;
import pando.fabric.wire.Hello;
import pando.fabric.wire.RequestWriter;
import pando.fabric.wire.ResponseReader;
import pando.fabric.wire.Role;

/** What was sent by a connection takes no effect any more once a newer one of its way is used. */
@Timeout(60)
class TcpLateEffectTest {
  private static final PoolOptions POOL =
      PoolOptions.defaults()
          .withBytesPerServer(1 << 20)
          .withChunkBytes(1 << 16)
          .withProcessorThreads(1)
          .withHandlers(TestHandlers.all());

  private static final long WORD = GlobalAddress.of(0, 64);
  private static final long GATE = GlobalAddress.of(0, 128);
  private static final long WAY = -5;

  private final MemorySegment memory = Arena.ofAuto().allocate(Worker.CALL_BYTES_MAX, 64);
  private final ResponseReader response = new ResponseReader();
  private TcpMemoryServer server;

  @BeforeEach
  void start() {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    server = TcpMemoryServer.start(any, 0, POOL);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void shouldNotLetAnOldRequestTakeEffect() throws Exception {
    try (FaultProxy proxy = FaultProxy.start(server.address(), 1);
        Fabric fabric = attach(proxy.address())) {
      addOneLate(fabric, proxy);
    }
  }

  @Test
  void shouldNotLetAnOldRequestOfALaneTakeEffect() throws Exception {
    runInLane(TcpLateEffectTest::addOneLate);
  }

  /** The CALL goes by another connection than the verbs behind it. */
  @Test
  void shouldNotLetAnOldCallOfALaneTakeEffect() throws Exception {
    runInLane(TcpLateEffectTest::addOneByALateCall);
  }

  private interface Scenario {
    void run(Fabric fabric, FaultProxy proxy) throws Exception;
  }

  private void runInLane(Scenario scenario) throws Exception {
    try (FaultProxy proxy = FaultProxy.start(server.address(), 1);
        Fabric fabric = attach(proxy.address());
        Lane lane = fabric.lane("lane");
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      Future<?> end =
          threads.submit(() -> {
            scenario.run(fabric, proxy);
            return null;
          });
      end.get(30, TimeUnit.SECONDS);
    }
  }

  @Test
  void shouldCloseAWorkerWhoseLaneIsClosed() throws Exception {
    try (FaultProxy proxy = FaultProxy.start(server.address(), 1);
        Fabric fabric = attach(proxy.address());
        RegisteredMemory local = fabric.register(64)) {
      Worker worker;
      try (Lane lane = fabric.lane("lane");
          ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
        worker = threads.submit(() -> cutOff(fabric, local, proxy)).get(30, TimeUnit.SECONDS);
      }
      worker.close();
      assertThatThrownBy(() -> worker.faa(WORD, 0)).hasMessageContaining("worker is closed");
    }
  }

  /** Returns a worker, the outcome of whose last verb is unknown. */
  private static Worker cutOff(Fabric fabric, RegisteredMemory local, FaultProxy proxy) {
    Worker worker = fabric.worker(local);
    proxy.inject(Fault.BEHIND);
    assertThatThrownBy(() -> worker.faa(WORD, 1)).isInstanceOf(UnknownOutcomeException.class);
    return worker;
  }

  /** Adds 1 by a request that is held until 16 was added by the next connection. */
  private static void addOneLate(Fabric fabric, FaultProxy proxy) throws InterruptedException {
    try (RegisteredMemory local = fabric.register(64);
        Worker worker = fabric.worker(local)) {
      assertThat(worker.faa(WORD, 0)).isZero();
      proxy.inject(Fault.HELD);
      assertThatThrownBy(() -> worker.faa(WORD, 1)).isInstanceOf(UnknownOutcomeException.class);
      assertThat(worker.faa(WORD, 16)).isZero();

      proxy.deliverHeld();

      assertThat(worker.faa(WORD, 0)).isEqualTo(16);
    }
  }

  private static void addOneByALateCall(Fabric fabric, FaultProxy proxy)
      throws InterruptedException {
    try (RegisteredMemory local = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(local)) {
      worker.call(0, TestHandlers.INCREMENT, 0, 8);
      assertThat(worker.faa(WORD, 0)).isZero();
      Words.set(local.segment(), 0, 1);
      Words.set(local.segment(), 8, GlobalAddress.offset(WORD));
      proxy.inject(Fault.HELD);
      assertThatThrownBy(() -> worker.call(0, TestHandlers.ADD, 0, 16))
          .isInstanceOf(UnknownOutcomeException.class);
      assertThat(worker.faa(WORD, 16)).isZero();

      proxy.deliverHeld();

      assertThat(worker.faa(WORD, 0)).isEqualTo(16);
    }
  }

  @Test
  void shouldNotLetARequestOfAClosedWorkerTakeEffect() throws Exception {
    try (FaultProxy proxy = FaultProxy.start(server.address(), 1);
        Fabric fabric = attach(proxy.address());
        RegisteredMemory local = fabric.register(64);
        Worker other = fabric.worker(local)) {
      try (Worker worker = fabric.worker(local)) {
        assertThat(worker.faa(WORD, 0)).isZero();
        proxy.inject(Fault.HELD);
        assertThatThrownBy(() -> worker.faa(WORD, 1)).isInstanceOf(UnknownOutcomeException.class);
      }
      assertThat(other.faa(WORD, 16)).isZero();

      proxy.deliverHeld();

      assertThat(other.faa(WORD, 0)).isEqualTo(16);
    }
  }

  @Test
  void shouldWaitForWhatIsBeingServedAndServeNothingBehindIt() throws Exception {
    try (Fabric fabric = attach(server.address());
        RegisteredMemory local = fabric.register(64);
        Worker worker = fabric.worker(local);
        SocketChannel old = welcomed(WAY)) {
      ByteArrayOutputStream both = new ByteArrayOutputStream();
      awaitGate().send(Channels.newChannel(both));
      addOne().send(Channels.newChannel(both));
      OutputStream toServer = old.socket().getOutputStream();
      toServer.write(both.toByteArray());
      awaitServed(worker);

      assertThat(status(WAY)).isEqualTo(Hello.OCCUPIED);

      worker.faa(GATE, 1);
      try (SocketChannel newer = welcomed(WAY)) {
        assertEnded(old);
        assertThat(worker.faa(WORD, 0)).isZero();
        addOne().send(newer);
        response.receive(newer, 1);
        assertThat(response.status()).isEqualTo(Frame.DONE);
      }
      assertThat(worker.faa(WORD, 0)).isEqualTo(1);
    }
  }

  @Test
  void shouldNotServeACallThatHasWaitedForAProcessor() throws Exception {
    try (Fabric fabric = attach(server.address());
        RegisteredMemory local = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(local);
        SocketChannel busy = welcomed(WAY + 1);
        SocketChannel old = welcomed(WAY)) {
      awaitGate().send(busy);
      awaitServed(worker);
      RequestWriter addByCall = new RequestWriter(0);
      Words.set(memory, 0, 1);
      Words.set(memory, 8, GlobalAddress.offset(WORD));
      addByCall.call(1, TestHandlers.ADD, memory, 0, 16);
      addByCall.send(old);
      while (!server.hasCallsWaiting()) {
        worker.backoff().pause(100);
      }

      try (SocketChannel _ = welcomed(WAY)) {
        worker.faa(GATE, 1);
        // The processor has come to the refused one once this is served.
        worker.call(0, TestHandlers.INCREMENT, 0, 8);
        assertThat(worker.faa(WORD, 0)).isZero();
        assertEnded(old);
      }
    }
  }

  @Test
  void shouldLeaveOtherWaysAlone() throws Exception {
    try (SocketChannel none = welcomed(0);
        SocketChannel other = welcomed(WAY + 1);
        SocketChannel _ = welcomed(0);
        SocketChannel old = welcomed(WAY);
        SocketChannel _ = welcomed(WAY)) {
      for (SocketChannel open : List.of(none, other)) {
        addOne().send(open);
        response.receive(open, 1);
        assertThat(response.status()).isEqualTo(Frame.DONE);
      }
      assertEnded(old);
    }
  }

  @Test
  void shouldSayThatAnEarlierCallIsStillServed() throws Exception {
    try (Fabric fabric = attach(server.address());
        RegisteredMemory local = fabric.register(Worker.CALL_BYTES_MAX);
        RegisteredMemory other = fabric.register(64);
        Worker caller = fabric.worker(local);
        Worker worker = fabric.worker(other);
        ExecutorService threads = Executors.newCachedThreadPool()) {
      Words.set(local.segment(), 0, GlobalAddress.offset(GATE));
      Future<?> ended =
          threads.submit(() -> {
            assertThatThrownBy(() -> caller.call(0, TestHandlers.WAIT, 0, 8))
                .isInstanceOf(UnknownOutcomeException.class);
            assertThat(Thread.interrupted()).isTrue();
            assertThatThrownBy(() -> caller.faa(WORD, 1))
                .isInstanceOf(StalledException.class)
                .hasMessageContaining("still serves");
          });
      awaitServed(worker);
      threads.shutdownNow();
      ended.get(30, TimeUnit.SECONDS);

      worker.faa(GATE, 1);

      while (!tryAdd(caller)) {
        worker.backoff().pause(100);
      }
      assertThat(worker.faa(WORD, 0)).isEqualTo(1);
    }
  }

  private static boolean tryAdd(Worker worker) {
    try {
      worker.faa(WORD, 1);
      return true;
    } catch (StalledException e) {
      return false;
    }
  }

  private static void awaitServed(Worker worker) {
    while (worker.faa(GATE + 8, 0) == 0) {
      worker.backoff().pause(100);
    }
  }

  /** Returns the CALL that returns once the word GATE is not 0. */
  private RequestWriter awaitGate() {
    RequestWriter request = new RequestWriter(0);
    Words.set(memory, 0, GlobalAddress.offset(GATE));
    request.call(1, TestHandlers.WAIT, memory, 0, 8);
    return request;
  }

  private RequestWriter addOne() {
    RequestWriter request = new RequestWriter(0);
    request.begin();
    assertThat(request.add(new VerbList().faa(WORD, 1, 0), 0, memory)).isTrue();
    request.beginPayloads();
    request.finish(1);
    return request;
  }

  private SocketChannel welcomed(long way) throws IOException {
    return RawPeer.connect(server, Role.COMPUTE, null, way);
  }

  private int status(long way) throws IOException {
    try (SocketChannel channel = SocketChannel.open(server.address())) {
      return RawPeer.greet(channel, Role.COMPUTE, null, way).status();
    }
  }

  private static Fabric attach(InetSocketAddress address) {
    TcpOptions options = TcpOptions.defaults().withVerbTimeout(Duration.ofMillis(300));
    return TcpFabric.attach(List.of(address), 1, options);
  }
}
