package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.LaneWorkers;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.fabric.wire.CardAccess;

/** What the workers of a lane, which share queue pairs, do to each other when verbs fail. */
@EnabledIfSystemProperty(named = "pando.verbs", matches = "true")
@Timeout(300)
@Tag(TestCards.TAG)
class VerbsLaneFaultTest {
  private static final long WORD = GlobalAddress.of(0, 1 << 20);
  private static final int WORKERS = 16;

  /** As many queue pairs as may be made anew in a row. */
  private static final int WRONG_KEYS = Renewals.MAX;

  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final PoolOptions POOL =
      PoolOptions.defaults().withMemoryServers(1).withBytesPerServer(64 << 20);

  private final AtomicLong done = new AtomicLong();
  private final AtomicLong unknown = new AtomicLong();
  private final AtomicLong lost = new AtomicLong();
  private String card = "";

  @BeforeEach
  void findCard() {
    card = TestCards.first();
  }

  private MemoryCard open(MemorySegment memory) {
    return new MemoryCard(card, memory, 1);
  }

  private interface Body {
    void run(Worker worker);
  }

  /** Runs a body in each of many threads of a lane, and then reads the word. */
  private long run(Function<MemorySegment, CardAccess> cards, Body body) throws Exception {
    try (TcpMemoryServer server =
            TcpMemoryServer.start(ANY, 0, POOL, Authentication.none(), cards);
        Fabric fabric =
            VerbsFabric.attach(List.of(server.address()), 1, TcpOptions.defaults(), card);
        LaneWorkers lanes = new LaneWorkers();
        RegisteredMemory memory = fabric.register(8);
        Worker observer = fabric.worker(memory)) {
      List<Future<?>> ends = new ArrayList<>();
      try (ExecutorService threads = lanes.threads(fabric)) {
        for (int i = 0; i < WORKERS; i++) {
          ends.add(threads.submit(() -> run(fabric, body)));
        }
      }
      for (Future<?> end : ends) {
        end.get();
      }
      System.out.printf("done=%s, unknown=%s, lost=%s%n", done, unknown, lost);
      return observer.faa(WORD, 0);
    }
  }

  private static void run(Fabric fabric, Body body) {
    try (RegisteredMemory own = fabric.register(1024);
        Worker worker = fabric.worker(own)) {
      body.run(worker);
    }
  }

  private void addOne(Worker worker) {
    try {
      worker.faa(WORD, 1);
      done.getAndIncrement();
    } catch (UnknownOutcomeException e) {
      unknown.getAndIncrement();
    } catch (MemoryServerLostException e) {
      lost.getAndIncrement();
    }
  }

  /** Four times as many verbs as a queue pair takes. */
  @Test
  void shouldWaitForRoomInTheQueuePair() throws Exception {
    int rounds = 5;
    long sum =
        run(
            memory -> open(memory),
            worker -> {
              VerbList list = new VerbList();
              for (int round = 0; round < rounds; round++) {
                list.clear();
                for (int i = 0; i < Chain.MAX; i++) {
                  list.faa(WORD, 1, 8L * i);
                }
                worker.post(list);
              }
            });
    assertThat(sum).isEqualTo((long) WORKERS * rounds * Chain.MAX);
  }

  /** Each FAA that is not answered is done once or not at all; those that are, once. */
  @Test
  void shouldGoOnWhenSharedQueuePairsEnd() throws Exception {
    AtomicInteger verbs = new AtomicInteger();
    CompletableFuture<MemoryCard> opened = new CompletableFuture<>();
    long sum =
        run(
            memory -> {
              MemoryCard made = open(memory);
              opened.complete(made);
              return made;
            },
            worker -> {
              for (int i = 0; i < 60; i++) {
                addOne(worker);
                if (verbs.incrementAndGet() % 300 == 0) {
                  opened.join().disconnect();
                }
              }
            });
    assertThat(unknown.get()).isPositive();
    assertThat(done.get() + unknown.get()).isEqualTo(WORKERS * 60L);
    assertThat(sum).isBetween(done.get(), done.get() + unknown.get());
  }

  /** Those of other workers behind a verb that is refused were not done, and are sent again. */
  @Test
  void shouldSendVerbsAgainThatStoodBehindOneThatIsRefused() throws Exception {
    AtomicInteger offers = new AtomicInteger();
    UnaryOperator<Offer> sometimesWrong =
        offer -> {
          int before = offers.getAndIncrement();
          // The fabric's own trial has the first.
          return before == 0 || before > WRONG_KEYS ? offer : OtherOffers.withWrongKey(offer);
        };
    long sum =
        run(
            memory -> new OtherOffers(open(memory), sometimesWrong),
            worker -> {
              for (int i = 0; i < 20; i++) {
                addOne(worker);
              }
            });
    assertThat(lost.get()).isBetween(1L, (long) WRONG_KEYS);
    assertThat(unknown.get()).isZero();
    assertThat(done.get() + lost.get()).isEqualTo(WORKERS * 20L);
    assertThat(sum).isEqualTo(done.get());
  }

  @Test
  void shouldEndWhatIsUnderWayWhenTheFabricCloses() throws Exception {
    try (TcpMemoryServer server =
            VerbsMemoryServer.start(ANY, 0, POOL, Authentication.none(), card);
        LaneWorkers lanes = new LaneWorkers()) {
      Fabric fabric = VerbsFabric.attach(List.of(server.address()), 1, TcpOptions.defaults(), card);
      AtomicInteger verbs = new AtomicInteger();
      List<Future<?>> ends = new ArrayList<>();
      ExecutorService threads = lanes.threads(fabric);
      for (int i = 0; i < WORKERS; i++) {
        ends.add(
            threads.submit(() ->
                run(
                    fabric,
                    worker -> {
                      while (true) {
                        worker.faa(WORD, 1);
                        verbs.getAndIncrement();
                      }
                    })));
      }
      while (verbs.get() < 100) {
        Thread.onSpinWait();
      }
      fabric.close();
      for (Future<?> end : ends) {
        assertThat(end)
            .failsWithin(30, TimeUnit.SECONDS)
            .withThrowableThat()
            .havingCause()
            .isInstanceOf(IllegalStateException.class);
      }
      threads.close();
    }
  }
}
