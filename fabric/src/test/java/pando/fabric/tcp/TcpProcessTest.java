package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.JavaProcess;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.TestHandlers;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.server.PoolOptions;

/** Memory servers that are processes of their own: killed, stopped and continued, started anew. */
@EnabledOnOs(OS.LINUX)
@Timeout(300)
class TcpProcessTest {
  private static final String READY = "ready ";
  private static final int WORKERS = 4;
  private static final int VERBS_BEFORE = 200;
  private static final long WORD = GlobalAddress.of(0, 64);
  private static final PoolOptions POOL =
      PoolOptions.defaults()
          .withBytesPerServer(1 << 20)
          .withChunkBytes(64 << 10)
          .withHandlers(TestHandlers.all());

  /** Runs a memory server at a port until the input ends. */
  static final class Server {
    private Server() {}

    public static void main(String[] arguments) throws IOException {
      InetSocketAddress address =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
      try (TcpMemoryServer server = TcpMemoryServer.start(address, 0, POOL)) {
        System.out.println(READY + server.address().getPort());
        int end = System.in.read();
        System.exit(server.callsFailed() > 0 ? end : 0);
      }
    }
  }

  /**
   * Has a doorbell list answered for which there is no memory left, in the middle of a scatter, and
   * says what comes after.
   */
  static final class LittleMemory {
    private static final int LONG = 100 << 10;

    private LittleMemory() {}

    public static void main(String[] arguments) {
      List<InetSocketAddress> servers = new ArrayList<>();
      for (String port : arguments) {
        servers.add(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port)));
      }
      long there = GlobalAddress.of(1, 64);
      try (Fabric fabric = TcpFabric.attach(servers, 1, TcpOptions.defaults());
          RegisteredMemory memory = fabric.register(1 << 20);
          Worker worker = fabric.worker(memory)) {
        worker.faa(WORD, 1);
        worker.faa(there, 1);
        List<ByteBuffer> hoard = hoard();
        VerbList list = new VerbList().read(WORD, 64, LONG).faa(WORD, 1, 0).faa(there, 1, 8);
        try {
          worker.scatter(list);
          System.out.println("done");
        } catch (OutOfMemoryError e) {
          System.out.println("no memory");
        }
        System.out.println(worker.faa(there, 1) + " " + worker.faa(WORD, 1));
        hoard.clear();
      }
    }

    /** Takes memory for buffers until there is not enough for a long response. */
    private static List<ByteBuffer> hoard() {
      List<ByteBuffer> hoard = new ArrayList<>();
      try {
        while (true) {
          hoard.add(ByteBuffer.allocateDirect(LONG));
        }
      } catch (OutOfMemoryError full) {
        return hoard;
      }
    }
  }

  private static JavaProcess startServer(int port) throws IOException {
    return JavaProcess.start(List.of(), Server.class, Integer.toString(port));
  }

  private static InetSocketAddress awaitReady(JavaProcess server) throws IOException {
    String line = server.line();
    assertThat(line).startsWith(READY);
    int port = Integer.parseInt(line.substring(READY.length()));
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  @Test
  void shouldLoseAMemoryServerThatIsKilledUnderLoadAndStartedAnew() throws Exception {
    TcpOptions options = TcpOptions.defaults().withLostAfter(Duration.ofSeconds(60));
    try (JavaProcess first = startServer(0)) {
      InetSocketAddress address = awaitReady(first);
      try (Fabric fabric = TcpFabric.attach(List.of(address), 1, options);
          RegisteredMemory memory = fabric.register(64);
          Load load = new Load(fabric, memory)) {
        load.awaitVerbs();
        first.kill();
        try (JavaProcess second = startServer(address.getPort())) {
          assertThat(awaitReady(second)).isEqualTo(address);
          for (ServedClient client : load.end()) {
            assertThat(client.end).isInstanceOf(MemoryServerLostException.class);
            assertThat(client.unknown).as("only the verb under way").isLessThanOrEqualTo(1);
          }
          try (Worker worker = fabric.worker(memory)) {
            assertThatThrownBy(() -> worker.read(WORD, 0, 8))
                .isInstanceOf(MemoryServerLostException.class)
                .hasMessageContaining("another one has its place");
          }
          try (Fabric anew = TcpFabric.attach(List.of(address), 1, options);
              RegisteredMemory fresh = anew.register(64);
              Worker worker = anew.worker(fresh)) {
            worker.faa(WORD, 1);
            worker.read(WORD, 0, 8);
            assertThat(Words.get(worker.memory(), 0)).isEqualTo(1);
          }
        }
      }
    }
  }

  @Tag("campaign")
  @Test
  void shouldGoOnWithAMemoryServerThatWasStoppedForLongerThanVerbsWait() throws Exception {
    // Stopped, but not lost.
    TcpOptions options =
        TcpOptions.defaults()
            .withVerbTimeout(Duration.ofMillis(200))
            .withLostAfter(Duration.ofSeconds(60));
    try (JavaProcess server = startServer(0)) {
      InetSocketAddress address = awaitReady(server);
      try (Fabric fabric = TcpFabric.attach(List.of(address), 1, options);
          RegisteredMemory memory = fabric.register(64);
          Load load = new Load(fabric, memory)) {
        load.awaitVerbs();
        server.signal("STOP");
        load.awaitFailures();
        server.signal("CONT");
        load.awaitVerbs();
        for (ServedClient client : load.end()) {
          assertThat(client.end).isNull();
          assertThat(client.unknown + client.stalled).isPositive();
        }
        try (Worker worker = fabric.worker(memory)) {
          for (ServedClient client : load.end()) {
            long sum = worker.faa(client.word(), 0);
            assertThat(sum).isBetween(client.done, client.done + client.unknown);
          }
        }
      }
    }
  }

  @Tag("campaign")
  @Test
  void shouldLeaveNoResponseForTheNextRequestWhereMemoryEndsInAScatter() throws Exception {
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (TcpMemoryServer zero = TcpMemoryServer.start(anyPort, 0, POOL);
        TcpMemoryServer one = TcpMemoryServer.start(anyPort, 1, POOL);
        JavaProcess client =
            JavaProcess.start(
                List.of("-XX:MaxDirectMemorySize=1m"),
                LittleMemory.class,
                Integer.toString(zero.address().getPort()),
                Integer.toString(one.address().getPort()))) {
      client.awaitLine("no memory");
      client.awaitLine("2 2");
    }
  }

  @Tag("campaign")
  @Test
  void shouldGoOnWithSmallVerbsWhereMemoryForLongOnesEnds() throws Exception {
    List<String> little = List.of("-XX:MaxDirectMemorySize=2m");
    try (JavaProcess server = JavaProcess.start(little, Server.class, "0")) {
      InetSocketAddress address = awaitReady(server);
      try (Fabric fabric = TcpFabric.attach(List.of(address), 1, TcpOptions.defaults());
          RegisteredMemory memory = fabric.register(1 << 20);
          Worker small = fabric.worker(memory)) {
        List<Worker> greedy = new ArrayList<>();
        assertThatThrownBy(
                () -> {
                  while (true) {
                    greedy.add(fabric.worker(memory));
                    greedy.getLast().read(WORD, 0, 128 << 10);
                  }
                })
            .isInstanceOf(StalledException.class);
        assertThat(greedy).hasSizeGreaterThan(3);
        assertThat(small.faa(WORD, 1)).isZero();
        greedy.getFirst().read(WORD, 0, 128 << 10);
        greedy.forEach(Worker::close);
        try (Worker late = fabric.worker(memory)) {
          late.read(WORD, 0, 128 << 10);
        }
      }
    }
  }

  /** Threads that add to words of their own, and read them. */
  private static final class Load implements AutoCloseable {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final List<ServedClient> clients = new ArrayList<>();
    private final List<Future<?>> runs = new ArrayList<>();

    Load(Fabric fabric, RegisteredMemory memory) {
      for (int i = 0; i < WORKERS; i++) {
        ServedClient client = new ServedClient(i);
        clients.add(client);
        runs.add(threads.submit(() -> client.run(fabric, memory, stopped)));
      }
    }

    /** Waits until all have done further verbs. */
    void awaitVerbs() throws InterruptedException {
      CountDownLatch latch = new CountDownLatch(WORKERS * VERBS_BEFORE);
      clients.forEach(client -> client.verbs = latch);
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    }

    /** Waits until a verb of each has failed. */
    void awaitFailures() throws InterruptedException {
      for (ServedClient client : clients) {
        assertThat(client.failed.await(60, TimeUnit.SECONDS)).isTrue();
      }
    }

    /** Ends all threads and returns what they have seen. */
    List<ServedClient> end() throws Exception {
      stopped.set(true);
      for (Future<?> run : runs) {
        run.get(60, TimeUnit.SECONDS);
      }
      return clients;
    }

    @Override
    public void close() {
      stopped.set(true);
      threads.close();
    }
  }

  /** A worker that adds to a word of its own, and counts what becomes of that. */
  private static final class ServedClient {
    private final int number;
    private final CountDownLatch failed = new CountDownLatch(1);
    private volatile CountDownLatch verbs = new CountDownLatch(0);
    private long done;
    private long unknown;
    private long stalled;
    private @Nullable MemoryServerLostException end;

    ServedClient(int number) {
      this.number = number;
    }

    long word() {
      return WORD + 8L * number;
    }

    void run(Fabric fabric, RegisteredMemory memory, AtomicBoolean stopped) {
      long local = 8L * number;
      try (Worker worker = fabric.worker(memory)) {
        while (!stopped.get()) {
          try {
            add(worker, local);
          } catch (UnknownOutcomeException e) {
            unknown++;
            failed.countDown();
          } catch (StalledException e) {
            stalled++;
            failed.countDown();
          }
        }
      } catch (MemoryServerLostException e) {
        end = e;
      }
    }

    private void add(Worker worker, long local) {
      worker.read(word(), local, 8);
      assertThat(Words.get(worker.memory(), local)).isBetween(done, done + unknown);
      assertThat(worker.faa(word(), 1)).isBetween(done, done + unknown);
      done++;
      verbs.countDown();
    }
  }
}
