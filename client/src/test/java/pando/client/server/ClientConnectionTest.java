package pando.client.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.client.Routes;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameWriter;
import pando.client.wire.Op;
import pando.fabric.wire.Watchdog;
import pando.index.Partitioning;
import pando.index.RangeIndex;

/** A service's side of a connection, without a lane. */
@Timeout(60)
class ClientConnectionTest {
  private static final long FRAME_NANOS = ServiceLimits.DEFAULTS.frameNanos();

  private final Watchdog watchdog = Watchdog.start("test-watchdog");
  private final LongFrames<ClientConnection> longFrames = new LongFrames<>(1 << 20);
  private final FrameWriter requests = new FrameWriter();
  private Selector selector;
  private SocketChannel client;
  private ClientConnection connection;

  @BeforeEach
  void open() throws IOException {
    selector = Selector.open();
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      client = SocketChannel.open(listener.getLocalAddress());
      SocketChannel socket = listener.accept();
      socket.configureBlocking(false);
      connection = new ClientConnection(facts(), longFrames, watchdog.watch(socket));
      connection.register(selector);
    }
  }

  @AfterEach
  void close() throws IOException {
    connection.close();
    client.close();
    selector.close();
    watchdog.close();
  }

  private static ServiceFacts facts() {
    RangeIndex index =
        (RangeIndex)
            Proxy.newProxyInstance(
                ClientConnectionTest.class.getClassLoader(),
                new Class<?>[] {RangeIndex.class},
                (_, _, _) -> Partitioning.undivided(0));
    return new ServiceFacts(ServiceIndex.of(index), Routes::alone, _ -> 0);
  }

  private void awaitBytes() throws IOException {
    while (selector.select() == 0) {
      Thread.onSpinWait();
    }
    selector.selectedKeys().clear();
  }

  /** The time of a client that takes nothing does not begin before there is something to take. */
  @Test
  void shouldNotEndTheConnectionOfAClientThatAsksAfterALongSilence() throws IOException {
    long now = System.nanoTime() + FRAME_NANOS;
    connection.check(ServiceLimits.DEFAULTS, now);
    requests.begin(ClientFrame.ROUTES);
    requests.finish(0, 1, 1);
    requests.send(client);
    awaitBytes();
    connection.receive();
    assertThat(connection.hasNews()).isTrue();
    long soon = now + TimeUnit.SECONDS.toNanos(1);
    assertThatCode(() -> connection.check(ServiceLimits.DEFAULTS, soon)).doesNotThrowAnyException();
    long late = soon + FRAME_NANOS;
    assertThatThrownBy(() -> connection.check(ServiceLimits.DEFAULTS, late))
        .hasMessage("the client takes too long");
  }

  /** What is not read would be there for each look of the lane, as long as the frame waits. */
  @Test
  void shouldNotLookAtItsSocketWhileALongFrameWaitsForMemory() throws IOException {
    int value = 400 << 10;
    requests.begin(ClientFrame.BYTES);
    requests.pair(Op.PUT, 1);
    requests.pair(value, 0);
    requests.bytes(MemorySegment.ofArray(new byte[1 + value]));
    requests.fill();
    requests.finish(0, 1, 1);
    ClientConnection other = new ClientConnection(facts(), longFrames, watchdog.watch(client));
    assertThat(longFrames.reserve(other, 1 << 20)).isTrue();
    client.configureBlocking(false);
    requests.send(client);
    awaitBytes();
    // Once for its length, and once for what comes behind.
    connection.receive();
    connection.receive();
    assertThat(connection.hasNews()).isFalse();
    assertThat(selector.selectNow()).isZero();
    longFrames.release(1 << 20);
    assertThat(longFrames.next()).isSameAs(connection);
    connection.flush();
    while (!connection.hasOperation()) {
      requests.send(client);
      awaitBytes();
      connection.receive();
    }
  }
}
