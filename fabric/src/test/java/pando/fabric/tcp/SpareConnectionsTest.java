package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.FaultProxy.Fault;

/** Workers leave their connections to those that come after them. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // Each test has its own.
class SpareConnectionsTest {
  private static final long WORD = GlobalAddress.of(0, 4096);

  private TcpMemoryServer server;
  private FaultProxy proxy;
  private Fabric fabric;
  private RegisteredMemory local;

  /** The connection that asks what there is. */
  private int asking;

  @BeforeEach
  void start() throws IOException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    PoolOptions options = PoolOptions.defaults().withMemoryServers(1).withBytesPerServer(64 << 20);
    server = TcpMemoryServer.start(any, 0, options);
    proxy = FaultProxy.start(server.address(), 1);
    fabric = TcpFabric.attach(List.of(proxy.address()), 1, TcpOptions.defaults());
    local = fabric.register(64);
    asking = proxy.connections();
    awaitConnections(0);
  }

  @AfterEach
  void stop() throws IOException {
    local.close();
    fabric.close();
    proxy.close();
    server.close();
  }

  @Test
  void shouldGoByTheConnectionOfAWorkerThatIsClosed() {
    for (int i = 0; i < 100; i++) {
      assertThat(addOne()).isEqualTo(i);
    }
    assertThat(proxy.connections()).isEqualTo(asking + 1);
  }

  @Test
  void shouldKeepNoMoreThanAFew() {
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      Worker worker = fabric.worker(local);
      worker.faa(WORD, 1);
      workers.add(worker);
    }
    workers.forEach(Worker::close);
    awaitConnections(SpareConnections.KEPT_MAX);
    assertThat(proxy.connections()).isEqualTo(asking + 10);
    for (int i = 0; i < 10; i++) {
      addOne();
    }
    assertThat(proxy.connections()).isEqualTo(asking + 10);
  }

  /** A verb whose connection was cut before it began is not of unknown outcome. */
  @Test
  void shouldNotGoByAConnectionThatHasEnded() throws IOException {
    for (int i = 0; i < 50; i++) {
      assertThat(addOne()).isEqualTo(i);
      proxy.cutAll();
    }
    assertThat(proxy.connections()).isEqualTo(asking + 50);
  }

  @Test
  void shouldLeaveNoConnectionWithARequestUnderWay() {
    for (int i = 0; i < 10; i++) {
      proxy.inject(Fault.BEHIND);
      assertThatThrownBy(this::addOne).isInstanceOf(UnknownOutcomeException.class);
      assertThat(addOne()).isEqualTo(2 * i + 1);
    }
    // One each time, by which the worker made sure that its request is over.
    assertThat(proxy.connections()).isEqualTo(asking + 1 + 10);
  }

  @Test
  void shouldCloseThemWithTheFabric() {
    addOne();
    assertThat(server.connections()).isEqualTo(1);
    fabric.close();
    awaitConnections(0);
  }

  /** Waits until the memory server, too, has noticed that others have ended. */
  private void awaitConnections(int most) {
    while (server.connections() > most) {
      Thread.onSpinWait();
    }
  }

  private long addOne() {
    try (Worker worker = fabric.worker(local)) {
      return worker.faa(WORD, 1);
    }
  }
}
