package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.server.CallFailedException;
import pando.fabric.server.PoolOptions;
import pando.fabric.wire.CardAccess;

/** A memory server's card, in whose place is one that counts. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // Each test has its own.
class TcpCardTest {
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final PoolOptions POOL =
      PoolOptions.defaults().withMemoryServers(1).withBytesPerServer(64 << 20);

  private final CountingCard card = new CountingCard();
  private TcpMemoryServer server;

  /** Answers with the request's first word plus one. */
  private static final class CountingCard implements CardAccess {
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger closed = new AtomicInteger();
    private volatile long bytes;

    @Override
    public void start(Calls calls) {}

    @Override
    public Way open() {
      open.incrementAndGet();
      return new Way() {
        @Override
        public int serve(MemorySegment message, int requestBytes) {
          if (requestBytes != Long.BYTES) {
            throw new IllegalArgumentException("not a word: bytes=" + requestBytes);
          }
          Words.set(message, 0, Words.get(message, 0) + 1);
          return Long.BYTES;
        }

        @Override
        public void close() {
          open.decrementAndGet();
        }
      };
    }

    @Override
    public void close() {
      assertThat(open).hasValue(0);
      closed.incrementAndGet();
    }
  }

  @BeforeEach
  void start() {
    server =
        TcpMemoryServer.start(
            ANY,
            0,
            POOL,
            Authentication.none(),
            memory -> {
              card.bytes = memory.byteSize();
              return card;
            });
  }

  @AfterEach
  void stop() {
    server.close();
    assertThat(card.closed).hasValue(1);
  }

  private Fabric attach(TcpMemoryServer to, ComputeServer name) {
    return TcpFabric.attach(
        List.of(to.address()), 1, TcpOptions.defaults().withComputeServer(name));
  }

  @Test
  void shouldServeTheClientsOfACard() {
    try (Fabric fabric = attach(server, new ComputeServer(1, 1));
        RegisteredMemory local = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(local)) {
      assertThat(card.bytes).isEqualTo(fabric.dramBytes(0) + (256 << 10));
      Words.set(local.segment(), 0, 41);
      assertThat(worker.call(0, CardAccess.FUNCTION, 0, 8)).isEqualTo(8);
      assertThat(Words.get(local.segment(), 0)).isEqualTo(42);
      assertThatThrownBy(() -> worker.call(0, CardAccess.FUNCTION, 0, 9))
          .isInstanceOf(CallFailedException.class)
          .hasMessageContaining("not a word: bytes=9");
      assertThat(card.open).hasValue(1);
    }
    awaitNoWay();
  }

  /**
   * What a card does has no thread that is inside: a fence waits for its way's end all the same.
   */
  @Test
  void shouldEndTheWaysOfAFencedComputeServerBeforeTheFenceIsAnswered() {
    for (int epoch = 1; epoch <= 100; epoch++) {
      try (Fabric fabric = attach(server, new ComputeServer(1, epoch));
          Fabric other = attach(server, new ComputeServer(2, 1));
          RegisteredMemory local = fabric.register(Worker.CALL_BYTES_MAX);
          Worker worker = fabric.worker(local)) {
        assertThat(worker.call(0, CardAccess.FUNCTION, 0, 8)).isEqualTo(8);
        other.fence(1, epoch + 1);
        assertThat(card.open).hasValue(0);
        assertThatThrownBy(() -> worker.read(0, 0, 8)).isInstanceOf(FencedException.class);
      }
    }
  }

  @Test
  void shouldSayThatThereIsNoCard() {
    try (TcpMemoryServer plain = TcpMemoryServer.start(ANY, 0, POOL);
        Fabric fabric = attach(plain, new ComputeServer(1, 1));
        RegisteredMemory local = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(local)) {
      assertThatThrownBy(() -> worker.call(0, CardAccess.FUNCTION, 0, 8))
          .isInstanceOf(CallFailedException.class)
          .hasMessageContaining("this memory server has no card");
    }
  }

  private void awaitNoWay() {
    // The connection may be kept for the next worker of the fabric, which is closed.
    while (card.open.get() > 0) {
      Thread.onSpinWait();
    }
  }
}
