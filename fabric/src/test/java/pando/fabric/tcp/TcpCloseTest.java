package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.TestHandlers;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.server.PoolOptions;

/** Fabrics and memory servers that are closed while threads use them. */
@Timeout(600)
class TcpCloseTest {
  private static final int ROUNDS = Boolean.getBoolean("pando.soak") ? 200 : 6;
  private static final int WORKERS = 8;
  private static final PoolOptions POOL =
      PoolOptions.defaults()
          .withBytesPerServer(1 << 20)
          .withChunkBytes(64 << 10)
          .withHandlers(TestHandlers.all());
  private static final TcpOptions OPTIONS =
      TcpOptions.defaults()
          .withVerbTimeout(Duration.ofSeconds(20))
          .withLostAfter(Duration.ofMillis(20));

  @Test
  void shouldEndVerbsUnderWayWhenTheFabricIsClosed() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      try (TcpMemoryServer server = start();
          Fabric fabric = TcpFabric.attach(List.of(server.address()), round, OPTIONS);
          RegisteredMemory memory = fabric.register(WORKERS << 16)) {
        List<RuntimeException> ends = endsWhenClosed(fabric, memory, fabric::close, round);
        assertThat(ends)
            .hasSize(WORKERS)
            .allSatisfy(end ->
                assertThat(end)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("fabric is closed: name=tcp"));
        awaitNoConnection(server);
      }
    }
  }

  @Test
  void shouldEndVerbsUnderWayWhenTheMemoryServerIsClosed() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      try (TcpMemoryServer server = start();
          Fabric fabric = TcpFabric.attach(List.of(server.address()), round, OPTIONS);
          RegisteredMemory memory = fabric.register(WORKERS << 16)) {
        long start = System.nanoTime();
        List<RuntimeException> ends = endsWhenClosed(fabric, memory, server::close, round);
        assertThat(ends)
            .hasSize(WORKERS)
            .allSatisfy(end ->
                assertThat(end)
                    .isInstanceOfAny(
                        MemoryServerLostException.class, UnknownOutcomeException.class));
        assertThat(server.connections()).as("nanos=%d", System.nanoTime() - start).isZero();
      }
    }
  }

  /**
   * Lets threads use the fabric, closes something, and returns what the verb of each threw.
   *
   * @param round more of them, more verbs before
   */
  private static List<RuntimeException> endsWhenClosed(
      Fabric fabric, RegisteredMemory memory, Runnable close, int round) throws Exception {
    List<RuntimeException> ends = new ArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      CountDownLatch started = new CountDownLatch(WORKERS);
      List<Future<RuntimeException>> runs = new ArrayList<>();
      for (int i = 0; i < WORKERS; i++) {
        int number = i;
        runs.add(threads.submit(() -> end(fabric, memory, number, started)));
      }
      started.await();
      LockSupport.parkNanos(round % 8 * 200_000L);
      close.run();
      for (Future<RuntimeException> run : runs) {
        ends.add(run.get(60, TimeUnit.SECONDS));
      }
    }
    return ends;
  }

  /** Runs verbs of all sorts until one throws; returns what it threw. */
  private static RuntimeException end(
      Fabric fabric, RegisteredMemory memory, int number, CountDownLatch started) {
    long local = (long) number << 16;
    long word = GlobalAddress.of(0, 64);
    try (Worker worker = fabric.worker(memory)) {
      VerbList list = new VerbList();
      started.countDown();
      while (true) {
        worker.faa(word, 1);
        worker.read(GlobalAddress.of(0, 4096), local, 60_000);
        worker.write(GlobalAddress.of(0, 4096), local, 100);
        worker.post(list.clear().read(word, local, 8).maskedCas16(word + 16, local + 1024));
        worker.call(0, TestHandlers.INCREMENT, local, 100);
      }
    } catch (StalledException e) {
      throw e;
    } catch (RuntimeException e) {
      return e;
    }
  }

  private static void awaitNoConnection(TcpMemoryServer server) {
    while (server.connections() > 0) {
      LockSupport.parkNanos(100_000);
    }
  }

  private static TcpMemoryServer start() {
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    return TcpMemoryServer.start(anyPort, 0, POOL);
  }
}
