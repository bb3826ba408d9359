package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.JavaProcess;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.TestHandlers;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.fabric.wire.CardAccess;

/** Memory servers that end, and queue pairs that break; only where there is a card. */
@Timeout(300)
@Tag(TestCards.TAG)
class VerbsFaultTest {
  private static final long WORD = GlobalAddress.of(0, 1 << 20);
  private static final long OFFSET = GlobalAddress.offset(WORD);
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final PoolOptions POOL =
      PoolOptions.defaults()
          .withMemoryServers(1)
          .withBytesPerServer(64 << 20)
          .withHandlers(TestHandlers.all());
  private static final TcpOptions OPTIONS =
      TcpOptions.defaults().withLostAfter(Duration.ofMillis(200));

  /** What {@link TestHandlers#WAIT} sets when it has begun. */
  private static final long BEGUN = WORD + 16;

  private String card = "";

  @BeforeEach
  void findCard() {
    card = TestCards.first();
  }

  /** Memory servers of different pools, until the input ends. */
  static final class MemoryProcess {
    private MemoryProcess() {}

    public static void main(String[] arguments) throws IOException {
      List<TcpMemoryServer> servers = new ArrayList<>();
      try {
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
          servers.add(VerbsMemoryServer.start(ANY, 0, POOL, Authentication.none(), arguments[0]));
          System.out.println(servers.get(i).address().getPort());
        }
        System.in.transferTo(OutputStream.nullOutputStream());
      } finally {
        servers.forEach(TcpMemoryServer::close);
      }
    }
  }

  private interface Verb {
    void run(Worker worker);
  }

  /** A CALL has no verb under way that would miss an answer of the other card. */
  @Test
  void shouldEndVerbsWhenTheMemoryServersAreKilled() throws Exception {
    try (JavaProcess process = JavaProcess.start(List.of(), MemoryProcess.class, card, "3");
        VerbLoop writes = loop("WRITE", process, worker -> worker.write(WORD, 0, 64));
        VerbLoop reads = loop("READ", process, worker -> worker.read(WORD, 0, 64));
        VerbLoop calls = loop("CALL", process, worker -> worker.call(0, TestHandlers.WAIT, 0, 8))) {
      List<VerbLoop> loops = List.of(writes, reads, calls);
      for (VerbLoop loop : loops) {
        loop.awaitBegun();
      }
      long start = System.nanoTime();
      process.kill();
      for (VerbLoop loop : loops) {
        loop.checkEnd(start);
      }
    }
  }

  private VerbLoop loop(String name, JavaProcess process, Verb verb) throws IOException {
    return new VerbLoop(name, Integer.parseInt(process.line()), verb);
  }

  /** Verbs to a memory server of its own, one after the other. */
  private final class VerbLoop implements AutoCloseable {
    private final String name;
    private final Fabric fabric;
    private final RegisteredMemory memory;
    private final Worker worker;
    private final AtomicInteger ended = new AtomicInteger();
    private final CompletableFuture<Throwable> end;
    private volatile long endNanos;

    VerbLoop(String name, int port, Verb verb) {
      this.name = name;
      InetSocketAddress address = new InetSocketAddress(ANY.getAddress(), port);
      fabric = VerbsFabric.attach(List.of(address), 1, OPTIONS, card);
      memory = fabric.register(Worker.CALL_BYTES_MAX);
      worker = fabric.worker(memory);
      Words.set(memory.segment(), 0, OFFSET + 8);
      // Not in the common pool, which has one thread where there is one processor.
      end = CompletableFuture.supplyAsync(() -> endOf(verb), body -> new Thread(body).start());
    }

    private Throwable endOf(Verb verb) {
      Throwable failure =
          catchThrowable(() -> {
            while (true) {
              verb.run(worker);
              ended.getAndIncrement();
            }
          });
      endNanos = System.nanoTime();
      return failure;
    }

    /** Waits until a verb has ended, or a CALL is served. */
    void awaitBegun() {
      try (RegisteredMemory other = fabric.register(8);
          Worker observer = fabric.worker(other)) {
        while (ended.get() == 0 && observer.faa(BEGUN, 0) == 0) {
          observer.backoff().pause(100);
        }
      }
      assertThat(end).isNotDone();
    }

    void checkEnd(long start) throws Exception {
      Throwable failure = end.get(30, TimeUnit.SECONDS);
      print("killed under a " + name, endNanos - start, failure);
      assertThat(failure)
          .as(name)
          .isInstanceOfAny(
              UnknownOutcomeException.class,
              MemoryServerLostException.class,
              StalledException.class);
      assertThatThrownBy(() -> worker.read(WORD, 0, 8))
          .isInstanceOf(MemoryServerLostException.class);
    }

    @Override
    public void close() {
      worker.close();
      memory.close();
      fabric.close();
    }
  }

  private static void print(String what, long nanos, Throwable failure) {
    System.out.printf("%s: micros=%d, %s%n", what, TimeUnit.NANOSECONDS.toMicros(nanos), failure);
  }

  private TcpMemoryServer start(Function<MemorySegment, CardAccess> cards) {
    return TcpMemoryServer.start(ANY, 0, POOL, Authentication.none(), cards);
  }

  /** Each FAA that is not answered is done once or not at all; those that are, once. */
  @Test
  void shouldGoOnWithNewQueuePairsWhenTheOldOnesEnd() throws Exception {
    CompletableFuture<MemoryCard> opened = new CompletableFuture<>();
    AtomicBoolean over = new AtomicBoolean();
    try (TcpMemoryServer server = start(memory -> open(memory, opened));
        Fabric fabric = VerbsFabric.attach(List.of(server.address()), 1, OPTIONS, card);
        RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      worker.faa(WORD, 0);
      CompletableFuture<Void> breaking = CompletableFuture.runAsync(() -> breakUp(opened, over));
      int done = 0;
      int unknown = 0;
      while (unknown < Renewals.MAX) {
        try {
          worker.faa(WORD, 1);
          done++;
        } catch (UnknownOutcomeException e) {
          unknown++;
        }
      }
      over.set(true);
      breaking.get(30, TimeUnit.SECONDS);
      System.out.printf("broken queue pairs: unknown=%d, done=%d%n", unknown, done);
      assertThat(worker.faa(WORD, 0)).isBetween((long) done, (long) done + unknown);
    }
  }

  @Test
  void shouldNotMakeQueuePairsAnewForEver() {
    CompletableFuture<MemoryCard> opened = new CompletableFuture<>();
    try (TcpMemoryServer server = start(memory -> open(memory, opened));
        Fabric fabric = VerbsFabric.attach(List.of(server.address()), 1, OPTIONS, card);
        RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      for (int i = 0; i <= Renewals.MAX; i++) {
        worker.faa(WORD, 1);
        opened.join().disconnect();
        assertThatThrownBy(() -> worker.faa(WORD, 1)).isInstanceOf(UnknownOutcomeException.class);
      }
      assertThatThrownBy(() -> worker.faa(WORD, 1))
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("renewals=3");
      // Another worker has queue pairs of its own.
      try (RegisteredMemory other = fabric.register(8);
          Worker observer = fabric.worker(other)) {
        assertThat(observer.faa(WORD, 0)).isEqualTo(Renewals.MAX + 1);
      }
    }
  }

  private static void breakUp(CompletableFuture<MemoryCard> opened, AtomicBoolean over) {
    while (!over.get()) {
      try {
        TimeUnit.MILLISECONDS.sleep(300);
      } catch (InterruptedException e) {
        return;
      }
      opened.join().disconnect();
    }
  }

  private MemoryCard open(MemorySegment memory, CompletableFuture<MemoryCard> opened) {
    MemoryCard made = new MemoryCard(card, memory, 1);
    opened.complete(made);
    return made;
  }

  /** As when the memory server has deregistered its memory. */
  @Test
  void shouldSayThatTheMemoryServerRefuses() {
    CompletableFuture<MemoryCard> opened = new CompletableFuture<>();
    try (TcpMemoryServer server =
            start(memory -> new OtherOffers(open(memory, opened), OtherOffers::withWrongKey));
        Fabric fabric = VerbsFabric.attach(List.of(server.address()), 1, OPTIONS, card);
        RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      for (int i = 0; i < 3; i++) {
        long start = System.nanoTime();
        Throwable failure = catchThrowable(() -> worker.write(WORD, 0, 8));
        print("refused", System.nanoTime() - start, failure);
        assertThat(failure)
            .isInstanceOf(MemoryServerLostException.class)
            .hasMessageContaining("remote access");
      }
      // A message needs no key.
      assertThat(worker.call(0, TestHandlers.INCREMENT, 0, 8)).isEqualTo(8);
    }
  }

  @Test
  void shouldEndACallThatIsServedWhenTheFabricCloses() throws Exception {
    try (TcpMemoryServer server =
            VerbsMemoryServer.start(ANY, 0, POOL, Authentication.none(), card);
        Fabric other = VerbsFabric.attach(List.of(server.address()), 1, OPTIONS, card);
        RegisteredMemory memory = other.register(Worker.CALL_BYTES_MAX);
        Worker worker = other.worker(memory)) {
      Fabric fabric = VerbsFabric.attach(List.of(server.address()), 2, OPTIONS, card);
      RegisteredMemory own = fabric.register(Worker.CALL_BYTES_MAX);
      Worker caller = fabric.worker(own);
      Words.set(own.segment(), 0, OFFSET);
      CompletableFuture<Throwable> call =
          CompletableFuture.supplyAsync(
              () -> catchThrowable(() -> caller.call(0, TestHandlers.WAIT, 0, 8)));
      while (worker.faa(WORD + 8, 0) == 0) {
        worker.backoff().pause(100);
      }
      fabric.close();
      assertThat(call.get(30, TimeUnit.SECONDS))
          .isInstanceOfAny(IllegalStateException.class, PandoException.class);
      worker.faa(WORD, 1); // Lets the handler return.
      own.close();
    }
  }
}
