package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Lane;
import pando.fabric.RegisteredMemory;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.server.PoolOptions;
import pando.fabric.wire.AuthenticationKind;
import pando.fabric.wire.TestAuthority;

/** Connections that are cut at any byte, under load: no verb twice, no outcome wrong. */
@Timeout(600)
class TcpCutTest {
  private static final long SEED = Long.getLong("pando.test.seed", 0x5EED_0012L);
  private static final int CUTS = Boolean.getBoolean("pando.soak") ? 10_000 : 200;
  private static final int WORKERS = 8;

  /** HELLO and its answer are 128 bytes, a round 240. */
  private static final int BYTES_MAX = 1_400;

  /** What two proofs add, and certificates with the headers of records. */
  private static final int BYTES_MORE_WITH_TOKEN = 256;

  private static final int BYTES_MORE_WITH_TLS = 4_000;

  /** Words of a worker, each for one list: more than it can post, at 7 lists and more a cut. */
  private static final int LISTS_MAX = 50 * 10_000 / WORKERS;

  private static final int BYTES_OF_WORKER = LISTS_MAX * Long.BYTES;

  @TempDir private Path directory;

  @Tag("campaign")
  @ParameterizedTest(name = "{0} in a lane: {1}")
  @CsvSource({"NONE, false", "NONE, true", "TOKEN, false", "TLS, false", "TLS, true"})
  void shouldDoWhatIsSaidToBeDoneOnceAndAllElseAtMostOnce(AuthenticationKind kind, boolean inLane)
      throws Exception {
    TestAuthority authority = new TestAuthority(directory);
    Authentication token = TestFiles.token(directory, "Sixteen bytes, or more.");
    switch (kind) {
      case NONE -> check(Authentication.none(), Authentication.none(), BYTES_MAX, inLane);
      case TOKEN -> check(token, token, BYTES_MAX + BYTES_MORE_WITH_TOKEN, inLane);
      case TLS ->
          check(
              TestFiles.tls(authority.sign("pando://grove/memory/m")),
              TestFiles.tls(authority.sign("pando://grove/compute/c")),
              BYTES_MAX + BYTES_MORE_WITH_TLS,
              inLane);
    }
  }

  private static void check(
      Authentication ofServer, Authentication ofFabric, int bytesMax, boolean inLane)
      throws Exception {
    PoolOptions pool =
        PoolOptions.defaults()
            .withBytesPerServer((long) WORKERS * BYTES_OF_WORKER + (1 << 20))
            .withChunkBytes(64 << 10);
    // Only lost if nothing ever answers.
    TcpOptions options =
        TcpOptions.defaults()
            .withVerbTimeout(Duration.ofSeconds(60))
            .withLostAfter(Duration.ofSeconds(60))
            .withAuthentication(ofFabric);
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (TcpMemoryServer server = TcpMemoryServer.start(anyPort, 0, pool, ofServer);
        CuttingProxy proxy = CuttingProxy.start(server.address(), bytesMax, SEED)) {
      List<ServedClient> clients = new ArrayList<>();
      try (Fabric fabric = attach(proxy, options);
          Lane lane = fabric.lane("lane");
          ExecutorService threads =
              inLane ? Executors.newThreadPerTaskExecutor(lane) : Executors.newCachedThreadPool()) {
        List<Future<?>> runs = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
          ServedClient client = new ServedClient(i);
          clients.add(client);
          runs.add(threads.submit(() -> client.run(fabric, proxy)));
        }
        for (Future<?> run : runs) {
          run.get();
        }
      }
      // What was sent on a connection that is gone may still take effect until it has ended.
      while (server.connections() > 0) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
      }
      check(server, options, clients);
      System.out.println("seed=" + SEED + ", cuts=" + proxy.cuts() + ", clients=" + clients);
    }
  }

  private static Fabric attach(CuttingProxy proxy, TcpOptions options) {
    while (true) {
      try {
        return TcpFabric.attach(List.of(proxy.address()), 1, options);
      } catch (TcpException cut) {
        assertThat(cut).hasMessageContaining("no memory server answers");
      }
    }
  }

  private static void check(
      TcpMemoryServer server, TcpOptions options, List<ServedClient> clients) {
    try (Fabric fabric = TcpFabric.attach(List.of(server.address()), 1, options);
        RegisteredMemory memory = fabric.register(BYTES_OF_WORKER);
        Worker worker = fabric.worker(memory)) {
      for (ServedClient client : clients) {
        worker.read(client.word(0), 0, BYTES_OF_WORKER);
        client.check(memory);
      }
    }
  }

  /**
   * A worker whose lists add 1 to its first word and 1 to a word that no other list adds to, and
   * which reads what it is sure of.
   */
  private static final class ServedClient {
    private final int number;
    private final BitSet unknown = new BitSet();
    private int lists;

    ServedClient(int number) {
      this.number = number;
    }

    long word(int word) {
      long offset = Fabric.CATALOGUE_BYTES + (long) number * BYTES_OF_WORKER + 8L * word;
      return GlobalAddress.of(0, offset);
    }

    void run(Fabric fabric, CuttingProxy proxy) {
      try (RegisteredMemory memory = fabric.register(64);
          Worker worker = fabric.worker(memory)) {
        VerbList list = new VerbList();
        while (proxy.cuts() < CUTS && lists + 1 < LISTS_MAX) {
          lists++;
          try {
            worker.post(list.clear().faa(word(0), 1, 0).faa(word(lists), 1, 8));
            assertThat(Words.get(memory.segment(), 8)).isZero();
            checkSum(Words.get(memory.segment(), 0) + 1);
          } catch (UnknownOutcomeException e) {
            unknown.set(lists);
          }
          worker.read(word(0), 0, 8);
          checkSum(Words.get(memory.segment(), 0));
        }
      }
    }

    private void checkSum(long sum) {
      assertThat(sum).isBetween((long) lists - unknown.cardinality(), (long) lists);
    }

    /** Checks all words of the worker. */
    void check(RegisteredMemory memory) {
      long sum = 0;
      for (int i = 1; i < LISTS_MAX; i++) {
        long times = Words.get(memory.segment(), 8L * i);
        if (unknown.get(i)) {
          assertThat(times).as("%s: list %d", this, i).isBetween(0L, 1L);
        } else {
          assertThat(times).as("%s: list %d", this, i).isEqualTo(i <= lists ? 1 : 0);
        }
        sum += times;
      }
      // A list is done whole or not at all.
      assertThat(Words.get(memory.segment(), 0)).as("%s", this).isEqualTo(sum);
      checkSum(sum);
    }

    @Override
    public String toString() {
      return "lists=" + lists + " unknown=" + unknown.cardinality();
    }
  }
}
