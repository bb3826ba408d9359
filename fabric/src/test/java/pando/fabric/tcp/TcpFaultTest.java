package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Lane;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.TestHandlers;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Outcome;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.FaultProxy.Fault;

/** Connections that are cut, and memory servers that go away. */
@Timeout(300)
class TcpFaultTest {
  private static final long SEED = Long.getLong("pando.test.seed", 0x5EED_0010L);
  private static final int CUTS =
      Boolean.getBoolean("pando.soak") ? 10_000 : Boolean.getBoolean("pando.campaign") ? 500 : 150;
  private static final PoolOptions POOL =
      PoolOptions.defaults()
          .withBytesPerServer(1 << 20)
          .withChunkBytes(64 << 10)
          .withHandlers(TestHandlers.all());

  /** Long enough for a busy machine; only what is held back waits for it. */
  private static final TcpOptions OPTIONS =
      TcpOptions.defaults()
          .withVerbTimeout(Duration.ofSeconds(20))
          .withLostAfter(Duration.ofSeconds(20));

  private static final long WORD = GlobalAddress.of(0, 64);
  private static final long OTHER = GlobalAddress.of(0, 128);

  private TcpMemoryServer server;
  private FaultProxy proxy;

  /** Goes to the memory server itself, to see what took effect. */
  private Fabric direct;

  private RegisteredMemory memory;
  private Worker observer;

  @BeforeEach
  void start() throws IOException {
    System.out.println("seed=" + SEED);
    server = TcpMemoryServer.start(new InetSocketAddress(loopback(), 0), 0, POOL);
    proxy = FaultProxy.start(server.address(), SEED);
    direct = TcpFabric.attach(List.of(server.address()), 1, OPTIONS);
    memory = direct.register(1 << 20);
    observer = direct.worker(memory);
  }

  @AfterEach
  void stop() throws IOException {
    direct.close();
    memory.close();
    proxy.close();
    server.close();
  }

  @Test
  void shouldTellExactlyWhatTookEffectWhereConnectionsAreCut() {
    SplittableRandom random = new SplittableRandom(SEED);
    try (Fabric fabric = attach(OPTIONS);
        RegisteredMemory memory = fabric.register(1 << 20);
        Worker worker = fabric.worker(memory)) {
      List<Fault> cuts = List.of(Fault.BEFORE, Fault.WITHIN, Fault.BEHIND, Fault.WITHIN_RESPONSE);
      long expected = 0;
      for (int i = 0; i < CUTS; i++) {
        Fault cut = cuts.get(random.nextInt(cuts.size()));
        proxy.inject(cut);
        switch (random.nextInt(4)) {
          case 0 -> {
            worker.read(WORD, 0, 8);
            assertThat(Words.get(memory.segment(), 0)).isEqualTo(expected);
          }
          case 1 -> {
            assertUnknown(() -> worker.faa(WORD, 1));
            expected += cut.isServed() ? 1 : 0;
          }
          case 2 -> {
            assertUnknown(() -> worker.post(new VerbList().read(OTHER, 8, 8).faa(WORD, 1, 16)));
            expected += cut.isServed() ? 1 : 0;
          }
          default -> {
            Words.set(memory.segment(), 24, 1);
            Words.set(memory.segment(), 32, GlobalAddress.offset(WORD));
            assertUnknown(() -> worker.call(0, TestHandlers.ADD, 24, 16));
            expected += cut.isServed() ? 1 : 0;
          }
        }
        assertThat(observer.faa(WORD, 0)).as("cut %d: %s", i, cut).isEqualTo(expected);
        assertThat(worker.faa(WORD, 1)).isEqualTo(expected);
        expected++;
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"DELAYED", "TRICKLED", "FLIPPED"})
  void shouldSayThatAnUnansweredWriteIsUnknown(Fault fault) {
    Duration timeout = Duration.ofMillis(fault.isStall() ? 50 : 20_000);
    try (Fabric fabric = attach(OPTIONS.withVerbTimeout(timeout));
        RegisteredMemory memory = fabric.register(1 << 20);
        Worker worker = fabric.worker(memory)) {
      worker.read(WORD, 0, 8);
      Words.set(memory.segment(), 0, 5);
      proxy.inject(fault);
      assertUnknown(() -> worker.write(WORD, 0, 8));
      assertThat(observer.faa(WORD, 0)).isEqualTo(fault.isServed() ? 5 : 0);
      assertThat(worker.counters().writes).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"DELAYED", "TRICKLED", "FLIPPED"})
  void shouldDoVerbsExactlyOnceWhereRequestsArriveBadly(Fault fault) {
    int rounds = fault == Fault.FLIPPED ? CUTS : 20;
    SplittableRandom random = new SplittableRandom(SEED);
    try (Fabric fabric = attach(OPTIONS);
        RegisteredMemory memory = fabric.register(1 << 20);
        Worker worker = fabric.worker(memory)) {
      long expected = 0;
      for (int i = 0; i < rounds; i++) {
        proxy.inject(fault);
        switch (random.nextInt(4)) {
          case 0 -> {
            Words.set(memory.segment(), 0, expected);
            worker.write(OTHER, 0, 8);
            worker.read(OTHER, 8, 8);
            assertThat(Words.get(memory.segment(), 8)).isEqualTo(expected);
          }
          case 1 -> {
            assertThat(worker.faa(WORD, 1)).as("round %d", i).isEqualTo(expected);
            expected++;
          }
          case 2 -> {
            worker.post(new VerbList().read(OTHER, 0, 99).faa(WORD, 1, 128).write(OTHER, 0, 9));
            assertThat(Words.get(memory.segment(), 128)).isEqualTo(expected);
            expected++;
          }
          default -> {
            Words.set(memory.segment(), 0, 1);
            Words.set(memory.segment(), 8, GlobalAddress.offset(WORD));
            assertThat(worker.call(0, TestHandlers.ADD, 0, 16)).isEqualTo(16);
            assertThat(Words.get(memory.segment(), 0)).isEqualTo(expected);
            expected++;
          }
        }
        assertThat(observer.faa(WORD, 0)).as("round %d", i).isEqualTo(expected);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"DELAYED", "TRICKLED", "FLIPPED"})
  void shouldTellWhatBecameOfVerbsThatWereNotAnswered(Fault fault) {
    Duration timeout = Duration.ofMillis(fault.isStall() ? 50 : 20_000);
    TcpOptions options = OPTIONS.withVerbTimeout(timeout);
    try (TcpMemoryServer healthy =
            TcpMemoryServer.start(new InetSocketAddress(loopback(), 0), 1, POOL);
        Fabric fabric = TcpFabric.attach(List.of(proxy.address(), healthy.address()), 1, options);
        Worker worker = fabric.worker(fabric.register(1 << 20))) {
      long there = GlobalAddress.of(1, 64);
      VerbList list =
          new VerbList().faa(there, 1, 8).faa(WORD, 1, 0).read(WORD, 16, 8).read(there, 24, 8);
      worker.scatter(list);
      proxy.inject(fault);
      assertUnknown(() -> worker.scatter(list));
      assertOutcomes(list, Outcome.DONE, Outcome.UNKNOWN, Outcome.NOT_DONE, Outcome.DONE);
      assertThat(Words.get(worker.memory(), 8)).isEqualTo(1);
      assertThat(Words.get(worker.memory(), 24)).isEqualTo(2);
      assertThat(observer.faa(WORD, 0)).isEqualTo(fault.isServed() ? 2 : 1);
    }
  }

  @Test
  void shouldTellWhatBecameOfVerbsOfAListThatIsSentInParts() {
    try (Fabric fabric = attach(OPTIONS);
        Worker worker = fabric.worker(fabric.register(1 << 20))) {
      VerbList list =
          new VerbList()
              .faa(WORD, 1, 0)
              .write(OTHER, 64, 300_000)
              .read(OTHER, 64, 300_000)
              .faa(WORD, 1, 8);
      proxy.inject(Fault.DELAYED);
      proxy.inject(Fault.BEHIND);
      assertUnknown(() -> worker.post(list));
      assertOutcomes(list, Outcome.DONE, Outcome.UNKNOWN, Outcome.NOT_DONE, Outcome.NOT_DONE);
      assertThat(observer.faa(WORD, 0)).isEqualTo(1);
      worker.post(list);
      assertOutcomes(list, Outcome.DONE, Outcome.DONE, Outcome.DONE, Outcome.DONE);
    }
  }

  @Test
  void shouldTellThatNothingWasDoneWhereNoRequestLeaves() {
    TcpOptions impatient = OPTIONS.withLostAfter(Duration.ofMillis(50));
    try (Fabric fabric = TcpFabric.attach(List.of(server.address()), 1, impatient);
        Worker worker = fabric.worker(fabric.register(1 << 20))) {
      server.close();
      VerbList list = new VerbList().faa(WORD, 1, 0).read(WORD, 8, 8);
      assertLost(() -> worker.post(list));
      assertOutcomes(list, Outcome.NOT_DONE, Outcome.NOT_DONE);
    }
  }

  private static void assertOutcomes(VerbList list, Outcome... expected) {
    assertThat(IntStream.range(0, list.size()).mapToObj(list::outcome)).containsExactly(expected);
  }

  @Test
  void shouldWaitForAllMemoryServersOfAScatterAtOnce() throws IOException {
    TcpOptions options = OPTIONS.withVerbTimeout(Duration.ofSeconds(1));
    InetSocketAddress anyPort = new InetSocketAddress(loopback(), 0);
    try (TcpMemoryServer second = TcpMemoryServer.start(anyPort, 1, POOL);
        FaultProxy way = FaultProxy.start(second.address(), SEED);
        Fabric fabric = TcpFabric.attach(List.of(proxy.address(), way.address()), 1, options);
        RegisteredMemory memory = fabric.register(1 << 20);
        Worker worker = fabric.worker(memory)) {
      VerbList reads = new VerbList().read(WORD, 0, 8).read(GlobalAddress.of(1, 64), 8, 8);
      worker.scatter(reads);
      proxy.inject(Fault.STALLED);
      way.inject(Fault.STALLED);
      assertThatThrownBy(() -> worker.scatter(reads))
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("server=0")
          .satisfies(first ->
              assertThat(first.getSuppressed())
                  .singleElement()
                  .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
                  .isInstanceOf(StalledException.class)
                  .hasMessageContaining("server=1"));
      worker.scatter(reads);
    }
  }

  @Test
  void shouldSendReadsAgainAfterAnInterrupt() throws Exception {
    observer.faa(WORD, 7);
    proxy.inject(Fault.STALLED);
    @Nullable Throwable thrown =
        interruptInTheMiddle(worker -> {
          worker.read(WORD, 0, 8);
          assertThat(Thread.currentThread().isInterrupted()).isTrue();
          assertThat(Words.get(worker.memory(), 0)).isEqualTo(7);
        });
    assertThat(thrown).isNull();
  }

  @Test
  void shouldNotKnowTheOutcomeAfterAnInterruptAndGoOn() throws Exception {
    proxy.inject(Fault.STALLED);
    @Nullable Throwable thrown =
        interruptInTheMiddle(worker -> {
          assertUnknown(() -> worker.faa(WORD, 1));
          assertThat(Thread.currentThread().isInterrupted()).isTrue();
          assertThat(worker.faa(WORD, 1)).isEqualTo(1);
          assertThat(Thread.currentThread().isInterrupted()).isTrue();
        });
    assertThat(thrown).isNull();
    assertThat(observer.faa(WORD, 0)).isEqualTo(2);
  }

  @Test
  void shouldNotKnowTheOutcomeOfAnyVerbThatIsInterrupted() throws Exception {
    long operands = 1024;
    Map<String, Use> verbs = new LinkedHashMap<>();
    verbs.put("write", worker -> worker.write(WORD, 0, 8));
    verbs.put("cas", worker -> worker.cas(WORD, 0, 1));
    verbs.put("faa", worker -> worker.faa(WORD, 1));
    verbs.put("maskedCas", worker -> worker.maskedCas(WORD, 0, 0, 1, 1));
    verbs.put("maskedFaa", worker -> worker.maskedFaa(WORD, 1, 0));
    verbs.put("maskedCas16", worker -> worker.maskedCas16(WORD, operands));
    verbs.put("post", worker -> worker.post(new VerbList().read(OTHER, 8, 8).faa(WORD, 1, 16)));
    verbs.put("scatter", worker -> worker.scatter(new VerbList().write(WORD, 0, 8)));
    verbs.put("call", worker -> worker.call(0, TestHandlers.ADD, 2048, 16));
    for (Map.Entry<String, Use> verb : verbs.entrySet()) {
      // The word becomes 1, whichever verb it is.
      memory.segment().fill((byte) 0);
      Words.set(memory.segment(), 0, 0);
      observer.write(WORD, 0, 8);
      Words.set(memory.segment(), 0, 1);
      Words.set(memory.segment(), operands + 32, 1);
      Words.set(memory.segment(), operands + 48, -1);
      Words.set(memory.segment(), 2048, 1);
      Words.set(memory.segment(), 2048 + 8, GlobalAddress.offset(WORD));
      proxy.inject(Fault.STALLED);
      @Nullable Throwable thrown =
          interruptInTheMiddle(worker -> {
            worker.memory().copyFrom(memory.segment());
            assertUnknown(() -> verb.getValue().run(worker));
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            verb.getValue().run(worker);
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            assertThat(worker.faa(OTHER, 1)).isNotNegative();
          });
      assertThat(thrown).as(verb.getKey()).isNull();
      assertThat(observer.faa(WORD, 0)).as(verb.getKey()).isBetween(1L, 2L);
    }
  }

  @Tag("campaign")
  @Test
  void shouldCountEveryVerbUnderInterrupts() throws Exception {
    int interrupts = Boolean.getBoolean("pando.soak") ? 20_000 : 500;
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    AtomicLong done = new AtomicLong();
    AtomicLong unknown = new AtomicLong();
    AtomicLong seen = new AtomicLong();
    AtomicBoolean stopped = new AtomicBoolean();
    try (RegisteredMemory local = direct.register(64);
        Worker worker = direct.worker(local)) {
      Thread thread =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  while (!stopped.get()) {
                    countAdd(worker, done, unknown);
                    seen.addAndGet(Thread.interrupted() ? 1 : 0);
                  }
                } catch (RuntimeException | Error e) {
                  thrown.set(e);
                }
              });
      SplittableRandom random = new SplittableRandom(SEED);
      for (int i = 0; i < interrupts && thrown.get() == null; i++) {
        long before = seen.get();
        LockSupport.parkNanos(random.nextInt(100_000));
        thread.interrupt();
        // No interrupt is lost.
        while (seen.get() == before && thrown.get() == null) {
          Thread.onSpinWait();
        }
      }
      stopped.set(true);
      thread.join();
    }
    assertThat(thrown.get()).isNull();
    System.out.println("done=" + done + ", unknown=" + unknown + ", interrupts=" + seen);
    // What was sent on a connection that is gone may still take effect until it has ended.
    observer.read(WORD, 0, 8);
    while (server.connections() > 1) {
      LockSupport.parkNanos(100_000);
    }
    assertThat(observer.faa(WORD, 0)).isBetween(done.get(), done.get() + unknown.get());
  }

  /** Adds to the word and reads it. */
  private static void countAdd(Worker worker, AtomicLong done, AtomicLong unknown) {
    try {
      assertThat(worker.faa(WORD, 1)).isBetween(done.get(), done.get() + unknown.get());
      done.incrementAndGet();
    } catch (UnknownOutcomeException e) {
      unknown.incrementAndGet();
    }
    worker.read(WORD, 0, 8);
    assertThat(Words.get(worker.memory(), 0)).isBetween(done.get(), done.get() + unknown.get());
  }

  @Test
  void shouldLoseAMemoryServerThatIsStartedAnew() throws IOException {
    try (Fabric fabric = TcpFabric.attach(List.of(server.address()), 1, OPTIONS);
        RegisteredMemory memory = fabric.register(1 << 20);
        Worker worker = fabric.worker(memory);
        Worker late = fabric.worker(memory)) {
      worker.faa(WORD, 1);
      server.close();
      server = TcpMemoryServer.start(server.address(), 0, POOL);
      // A READ may be sent again, and finds another memory server.
      assertLost(() -> worker.read(WORD, 0, 8));
      assertLost(() -> worker.faa(WORD, 1));
      assertLost(() -> late.faa(WORD, 1));
      assertLost(() -> fabric.usage(0));
    }
    try (Fabric anew = TcpFabric.attach(List.of(server.address()), 1, OPTIONS);
        RegisteredMemory memory = anew.register(1 << 20);
        Worker worker = anew.worker(memory)) {
      assertThat(worker.faa(WORD, 1)).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldWaitForNoAnswerOfAMemoryServerThatIsFoundToBeLost(boolean inLane) throws Exception {
    try (Fabric fabric = attach(OPTIONS);
        Lane lane = fabric.lane("lane");
        ExecutorService threads =
            inLane
                ? Executors.newThreadPerTaskExecutor(lane)
                : Executors.newSingleThreadExecutor()) {
      Future<Duration> waited = threads.submit(() -> callUnanswered(fabric));
      proxy.awaitStalled();
      server.close();
      server = TcpMemoryServer.start(server.address(), 0, POOL);
      try (Worker other = fabric.worker(fabric.register(64))) {
        assertLost(() -> other.read(WORD, 0, 8));
      }
      // A CALL has 60 seconds.
      assertThat(waited.get()).isLessThan(Duration.ofSeconds(50));
    }
  }

  private Duration callUnanswered(Fabric fabric) {
    try (Worker worker = fabric.worker(fabric.register(1 << 20))) {
      worker.call(0, TestHandlers.ADD, 0, 16);
      proxy.inject(Fault.STALLED);
      long start = System.nanoTime();
      assertUnknown(() -> worker.call(0, TestHandlers.ADD, 0, 16));
      assertLost(() -> worker.call(0, TestHandlers.ADD, 0, 16));
      return Duration.ofNanos(System.nanoTime() - start);
    }
  }

  @Test
  void shouldMeasureTripsToTheMemoryServersThatAreNotLost() throws IOException {
    TcpOptions impatient = OPTIONS.withLostAfter(Duration.ofMillis(50));
    try (TcpMemoryServer other =
            TcpMemoryServer.start(new InetSocketAddress(loopback(), 0), 1, POOL);
        Fabric one = TcpFabric.attach(List.of(server.address()), 1, impatient);
        Fabric both = TcpFabric.attach(List.of(server.address(), other.address()), 1, impatient)) {
      server.close();
      assertThat(both.tripNanos()).isPositive();
      assertLost(one::tripNanos);
    }
  }

  @Test
  void shouldLoseAMemoryServerThatDoesNotComeBack() {
    TcpOptions impatient = OPTIONS.withLostAfter(Duration.ofMillis(50));
    try (Fabric fabric = TcpFabric.attach(List.of(server.address()), 1, impatient);
        RegisteredMemory memory = fabric.register(1 << 20);
        Worker worker = fabric.worker(memory)) {
      worker.faa(WORD, 1);
      server.close();
      assertThatThrownBy(() -> worker.faa(WORD, 1))
          .isInstanceOfAny(UnknownOutcomeException.class, MemoryServerLostException.class);
      assertLost(() -> worker.read(WORD, 0, 8));
      assertLost(() -> worker.call(0, TestHandlers.INCREMENT, 0, 8));
    }
    assertThatThrownBy(() -> TcpFabric.attach(List.of(server.address()), 1, OPTIONS))
        .isInstanceOf(TcpException.class)
        .hasMessageContaining(server.address().toString());
  }

  @Test
  void shouldCarryListsAndVerbsThatAreLongerThanAFrame() {
    int bytes = 700_001;
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < bytes; i += 8) {
      Words.set(memory.segment(), i, random.nextLong());
    }
    observer.write(WORD + 3, 0, bytes);
    try (RegisteredMemory copy = direct.register(bytes);
        Worker reader = direct.worker(copy)) {
      reader.read(WORD + 3, 0, bytes);
      assertThat(copy.segment().mismatch(memory.segment().asSlice(0, bytes))).isEqualTo(-1);
      assertThat(reader.counters().toString())
          .isEqualTo(
              "reads=1, writes=0, atomics=0, calls=0, roundTrips=1, bytesIn="
                  + bytes
                  + ", bytesOut=0");
    }
    observer.write(WORD, 800_000, 8);
    VerbList list = new VerbList();
    for (int i = 0; i < 1_000; i++) {
      list.faa(WORD, 1, 8L * i).read(OTHER, 16 << 10, 1_000);
    }
    long before = observer.faa(WORD, 0);
    observer.post(list);
    for (int i = 0; i < 1_000; i++) {
      assertThat(Words.get(memory.segment(), 8L * i)).isEqualTo(before + i);
    }
  }

  private interface Use {
    void run(Worker worker);
  }

  /** Interrupts a thread when the response to its request is held back; returns what it threw. */
  private @Nullable Throwable interruptInTheMiddle(Use use) throws InterruptedException {
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    try (Fabric fabric = attach(OPTIONS);
        RegisteredMemory memory = fabric.register(1 << 20);
        Worker worker = fabric.worker(memory)) {
      Thread thread =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  use.run(worker);
                } catch (RuntimeException | Error e) {
                  thrown.set(e);
                }
              });
      proxy.awaitStalled();
      thread.interrupt();
      thread.join();
    }
    return thrown.get();
  }

  private Fabric attach(TcpOptions options) {
    return TcpFabric.attach(List.of(proxy.address()), 1, options);
  }

  private static void assertUnknown(Runnable verb) {
    assertThatThrownBy(verb::run)
        .isInstanceOf(UnknownOutcomeException.class)
        .hasMessageContaining("server=0");
  }

  private static void assertLost(Runnable verb) {
    assertThatThrownBy(verb::run)
        .isInstanceOf(MemoryServerLostException.class)
        .hasMessageContaining("server=0");
  }

  private static InetAddress loopback() {
    return InetAddress.getLoopbackAddress();
  }
}
