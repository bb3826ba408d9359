package pando.fabric.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Backoff;
import pando.fabric.Lane;

@Timeout(60)
@SuppressWarnings("ThreadPriorityCheck") // In a lane, yielding lets the others run.
class LaneLoopTest {
  private static final Object FABRIC = new Object();

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldRunManyThreadsInTurn(boolean carries) throws Exception {
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    try (Lane lane = open(carries);
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      CyclicBarrier all = new CyclicBarrier(100);
      List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        int number = i;
        ends.add(
            threads.submit(() -> {
              all.await();
              order.add(number);
              Thread.yield();
              order.add(number);
              return null;
            }));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    }
    assertThat(order).hasSize(200);
    assertThat(order.stream().distinct()).hasSize(100);
  }

  @Test
  void shouldRunOneThreadAtATime() {
    int[] counter = new int[1];
    try (Lane lane = open(true);
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      for (int i = 0; i < 16; i++) {
        threads.execute(() -> {
          for (int round = 0; round < 1_000; round++) {
            counter[0]++;
            Thread.yield();
          }
        });
      }
    }
    assertThat(counter[0]).isEqualTo(16_000);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldKnowItsThreads(boolean carries) throws Exception {
    LaneLoop lane = open(carries);
    try (lane;
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      assertThat(threads.submit(() -> LaneLoop.current(FABRIC)).get()).isSameAs(lane);
      assertThat(threads.submit(() -> LaneLoop.current(new Object())).get()).isNull();
      assertThat(LaneLoop.current(FABRIC)).isNull();
      assertThat(threads.submit(() -> Thread.currentThread().isVirtual()).get()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldGoOnAfterWaitsOutsideOfItsReach(boolean carries) throws Exception {
    SynchronousQueue<Integer> there = new SynchronousQueue<>();
    SynchronousQueue<Integer> back = new SynchronousQueue<>();
    List<Future<?>> answers = new ArrayList<>();
    try (Lane lane = open(carries);
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      for (int i = 0; i < 4; i++) {
        answers.add(
            threads.submit(() -> {
              for (int round = 0; round < 500; round++) {
                back.put(there.take() + 1);
              }
              return null;
            }));
      }
      for (int round = 0; round < 2_000; round++) {
        there.put(round);
        assertThat(back.take()).isEqualTo(round + 1);
      }
      for (Future<?> answer : answers) {
        answer.get();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldWaitForAnotherThreadOfTheLane(boolean carries) throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger attempts = new AtomicInteger();
    LaneLoop lane = open(carries);
    try (lane;
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      Backoff backoff = LaneLoop.backoff(lane);
      Future<?> waiter =
          threads.submit(() -> {
            while (!done.get()) {
              backoff.pause(attempts.getAndIncrement());
            }
          });
      threads.execute(() -> {
        while (attempts.get() < 100) {
          Thread.yield();
        }
        done.set(true);
      });
      waiter.get();
    }
    assertThat(attempts.get()).isGreaterThanOrEqualTo(100);
  }

  @Test
  void shouldSleepForLaterAttempts() throws Exception {
    LaneLoop lane = open(true);
    try (lane;
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      List<Future<Long>> slept = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        int attempt = 64 + 5 * i;
        slept.add(
            threads.submit(() -> {
              Backoff backoff = LaneLoop.backoff(lane);
              long start = System.nanoTime();
              backoff.pause(attempt);
              return System.nanoTime() - start;
            }));
      }
      for (int i = 0; i < 8; i++) {
        assertThat(slept.get(i).get()).isGreaterThanOrEqualTo(1_000L << (5 * i / 4));
      }
    }
  }

  @Test
  void shouldSleepTheWholeTimeThoughInterrupted() throws Exception {
    LaneLoop lane = open(true);
    try (lane;
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      Backoff backoff = LaneLoop.backoff(lane);
      Future<Boolean> interrupted =
          threads.submit(() -> {
            Thread.currentThread().interrupt();
            long start = System.nanoTime();
            backoff.pause(1_000);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(1_000_000);
            return Thread.interrupted();
          });
      assertThat(interrupted.get()).isTrue();
    }
  }

  @Test
  void shouldServeItsBackoffToAnyThread() {
    try (LaneLoop lane = open(true)) {
      Backoff backoff = LaneLoop.backoff(lane);
      for (int attempt = 0; attempt < 100; attempt++) {
        backoff.pause(attempt);
      }
      assertThat(LaneLoop.current(FABRIC)).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldWaitForItsThreadsWhenItIsClosed(boolean carries) {
    AtomicInteger ended = new AtomicInteger();
    try (Lane lane = open(carries)) {
      lane.newThread(ended::incrementAndGet); // Never started, so nothing to wait for.
      for (int i = 0; i < 20; i++) {
        int millis = i;
        lane.newThread(
                () -> {
                  LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
                  ended.incrementAndGet();
                })
            .start();
      }
    }
    assertThat(ended.get()).isEqualTo(20);
  }

  @Test
  void shouldCloseManyTimesWhileThreadsStart() throws Exception {
    for (int round = 0; round < 200; round++) {
      AtomicInteger ran = new AtomicInteger();
      AtomicInteger refused = new AtomicInteger();
      Lane lane = open(true);
      CountDownLatch begun = new CountDownLatch(1);
      Thread starter =
          Thread.ofPlatform()
              .start(() -> {
                for (int i = 0; i < 50; i++) {
                  try {
                    lane.newThread(ran::incrementAndGet).start();
                  } catch (IllegalStateException | RejectedExecutionException e) {
                    refused.incrementAndGet();
                  }
                  begun.countDown();
                }
              });
      begun.await();
      lane.close();
      starter.join();
      assertThat(ran.get() + refused.get()).isEqualTo(50);
    }
  }

  @Test
  void shouldRefuseThreadsOnceClosed() {
    LaneLoop lane = open(true);
    Thread late = lane.newThread(() -> {});
    lane.close();
    lane.close();
    assertThatThrownBy(() -> lane.newThread(() -> {}))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("lane is closed: name=test");
    assertThatThrownBy(late::start).isInstanceOf(RejectedExecutionException.class);
  }

  @Test
  void shouldRefuseToBeClosedByItsOwnThread() throws Exception {
    try (Lane lane = open(true);
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      Future<?> end = threads.submit(lane::close);
      assertThatThrownBy(end::get).hasRootCauseMessage("a thread ends its own lane: name=test");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldCarryVirtualThreadsThatItsThreadsStart(boolean carries) throws Exception {
    LaneLoop lane = open(carries);
    try (lane;
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      Future<Integer> sum =
          threads.submit(() -> {
            AtomicInteger ended = new AtomicInteger();
            List<Thread> started = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
              started.add(
                  Thread.startVirtualThread(() -> {
                    Thread.yield();
                    ended.incrementAndGet();
                  }));
            }
            for (Thread thread : started) {
              thread.join();
            }
            return ended.get();
          });
      assertThat(sum.get()).isEqualTo(10);
    }
  }

  @Test
  void shouldServePlatformThreadsThatItsThreadsStart() throws Exception {
    LaneLoop lane = open(true);
    try (lane;
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      SynchronousQueue<Integer> there = new SynchronousQueue<>();
      Future<Integer> sum =
          threads.submit(() -> {
            Backoff backoff = LaneLoop.backoff(lane);
            List<Thread> platform = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
              platform.add(
                  Thread.ofPlatform()
                      .start(() -> {
                        assertThat(LaneLoop.current(FABRIC)).isNull();
                        for (int round = 0; round < 500; round++) {
                          put(there, round);
                        }
                      }));
            }
            int taken = 0;
            for (int round = 0; round < 2_000; round++) {
              there.take();
              taken++;
              backoff.pause(round % 100);
            }
            for (Thread thread : platform) {
              thread.join();
            }
            return taken;
          });
      assertThat(sum.get()).isEqualTo(2_000);
    }
  }

  private static void put(SynchronousQueue<Integer> queue, int value) {
    try {
      queue.put(value);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldGoOnAfterAPassThatFails() throws Exception {
    AtomicInteger polls = new AtomicInteger();
    NoCompletions none = new NoCompletions();
    Completions failing =
        new Completions() {
          @Override
          public boolean poll() {
            if (polls.incrementAndGet() % 3 == 0) {
              throw new IllegalStateException("planted");
            }
            return none.poll();
          }

          @Override
          public void await(long nanos, Consumer<SelectionKey> ready) {
            none.await(nanos, ready);
          }

          @Override
          public void wakeUp() {
            none.wakeUp();
          }

          @Override
          public Selector selector() {
            return none.selector();
          }

          @Override
          public void close() {
            none.close();
          }
        };
    try (Lane lane = LaneLoop.start(FABRIC, "test", failing, true);
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane)) {
      Future<Integer> rounds =
          threads.submit(() -> {
            int round = 0;
            while (round < 100) {
              Thread.yield();
              round++;
            }
            return round;
          });
      assertThat(rounds.get()).isEqualTo(100);
    }
    assertThat(polls.get()).isGreaterThanOrEqualTo(100);
  }

  /** Of several lanes, one after the other: what waits for sockets must outlive the first. */
  @Test
  void shouldWaitForSockets() throws Exception {
    for (int round = 0; round < 3; round++) {
      Pipe pipe = Pipe.open();
      try (Lane lane = open(true);
          ExecutorService threads = Executors.newThreadPerTaskExecutor(lane);
          Pipe.SourceChannel source = pipe.source();
          Pipe.SinkChannel sink = pipe.sink()) {
        Future<Integer> read = threads.submit(() -> source.read(ByteBuffer.allocate(8)));
        Future<Integer> written =
            threads.submit(() -> sink.write(ByteBuffer.wrap(new byte[] {1, 2, 3})));
        assertThat(written.get()).isEqualTo(3);
        assertThat(read.get()).isEqualTo(3);
      }
    }
  }

  @Test
  void shouldGoOnAfterAThreadThatThrows() throws Exception {
    try (Lane lane = open(true)) {
      CountDownLatch thrown = new CountDownLatch(1);
      Thread failing =
          lane.newThread(() -> {
            throw new IllegalStateException("planted");
          });
      failing.setUncaughtExceptionHandler((_, _) -> thrown.countDown());
      failing.start();
      thrown.await();
      CountDownLatch next = new CountDownLatch(1);
      lane.newThread(next::countDown).start();
      assertThat(next.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  /** A byte that comes by a pipe lets a thread go on, which answers by the lane's own thread. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldPerformADutyBesideItsThreads(boolean carries) throws Exception {
    int rounds = 1_000;
    Pipe there = Pipe.open();
    Pipe back = Pipe.open();
    try (LaneLoop lane = open(carries);
        ExecutorService threads = Executors.newThreadPerTaskExecutor(lane);
        Pipe.SinkChannel ask = there.sink();
        Pipe.SourceChannel asked = there.source();
        Pipe.SinkChannel answer = back.sink();
        Pipe.SourceChannel answered = back.source()) {
      asked.configureBlocking(false);
      asked.register(lane.selector(), SelectionKey.OP_READ);
      Echo echo = new Echo(lane, asked, answer);
      lane.perform(echo);
      Future<?> ended = threads.submit(() -> echo.run(rounds));
      for (int round = 0; round < rounds; round++) {
        ByteBuffer one = ByteBuffer.wrap(new byte[] {(byte) round});
        assertThat(ask.write(one)).isEqualTo(1);
        assertThat(answered.read(one.clear())).isEqualTo(1);
        assertThat(one.get(0)).isEqualTo((byte) (round + 1));
      }
      ended.get();
      lane.perform(null);
    }
  }

  /** Takes bytes, has a thread of the lane add 1, and sends them back. */
  private static final class Echo implements LaneDuty {
    private final LaneLoop lane;
    private final Pipe.SourceChannel from;
    private final Pipe.SinkChannel to;
    private final Waiter waiter = new Waiter();
    private final ByteBuffer one = ByteBuffer.allocate(1);
    private volatile boolean hasCome;
    private volatile boolean isDone;

    Echo(LaneLoop lane, Pipe.SourceChannel from, Pipe.SinkChannel to) {
      this.lane = lane;
      this.from = from;
      this.to = to;
    }

    void run(int rounds) {
      for (int round = 0; round < rounds; round++) {
        waiter.begin();
        if (!hasCome) {
          waiter.await();
        }
        waiter.end();
        hasCome = false;
        one.put(0, (byte) (one.get(0) + 1));
        isDone = true;
        lane.wakeUp();
      }
    }

    @Override
    public boolean perform(boolean waitsNext) {
      boolean some = isDone;
      try {
        if (some) {
          isDone = false;
          assertThat(to.write(one.clear())).isEqualTo(1);
        }
        if (!waitsNext) {
          lane.selector().selectNow(this::serve);
        }
        return some;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void serve(SelectionKey ready) {
      try {
        if (from.read(one.clear()) > 0) {
          hasCome = true;
          waiter.goOn();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public boolean isDue() {
      return isDone;
    }
  }

  private static LaneLoop open(boolean carries) {
    return LaneLoop.start(FABRIC, "test", new NoCompletions(), carries);
  }
}
