package pando.index.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.AllocatedBytes;
import pando.index.Pools;
import pando.index.Seeds;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;
import pando.sim.fault.Fault;
import pando.sim.history.History;
import pando.sim.history.HistoryCheck;
import pando.sim.history.RecordedOperation;

/** Turns of sessions over words of a pool: a lock and a value for each key, 0 for none. */
@Timeout(60)
class KeyTurnsTest {
  private static final int KEYS = 3;
  private static final Backoff NEVER = _ -> {};

  private final History history = new History();
  private final AtomicInteger shared = new AtomicInteger();
  private KeyTurns reads = new KeyTurns();
  private KeyTurns writes = new KeyTurns();

  private static long lock(long key) {
    return GlobalAddress.of(0, 8192 + 128 * key);
  }

  private static long word(long key) {
    return lock(key) + 64;
  }

  /** One session. */
  private final class Client implements AutoCloseable {
    private final int number;
    private final LongSupplier clock;
    private final RegisteredMemory memory;
    private final Worker worker;
    private final Seat reader = reads.open();
    private final Seat writer = writes.open();
    private final Request request = new Request();
    private final SplittableRandom random;

    Client(Fabric fabric, int number, LongSupplier clock, long seed) {
      this.number = number;
      this.clock = clock;
      this.memory = fabric.register(64);
      this.worker = fabric.worker(memory);
      this.random = new SplittableRandom(seed);
    }

    void operate(int operations) {
      for (int i = 0; i < operations; i++) {
        Operation operation = random.nextInt(3) > 0 ? Operation.GET : anyChange();
        long stored = (number + 1) * 1_000_000L + i;
        request.set(operation, random.nextInt(KEYS), stored, random.nextInt(4) == 0 ? stored : 0);
        long start = clock.getAsLong();
        Long before = operation == Operation.GET ? read() : write();
        record(start, clock.getAsLong(), operation.answers() ? before : null);
      }
    }

    private Operation anyChange() {
      Operation[] all = Operation.values();
      return all[1 + random.nextInt(all.length - 1)];
    }

    private void record(long start, long end, @Nullable Long before) {
      RecordedOperation.Kind kind = RecordedOperation.Kind.valueOf(request.operation().name());
      boolean removes = request.operation().isRemoval();
      boolean isGet = request.operation() == Operation.GET;
      RecordedOperation operation =
          new RecordedOperation(
              number,
              start,
              end,
              kind,
              request.key(),
              removes || isGet ? 0 : request.stored(),
              kind.compares() ? request.expected() : 0,
              before);
      synchronized (history) {
        history.add(operation);
      }
    }

    private @Nullable Long read() {
      if (reader.join(request, worker.backoff())) {
        shared.incrementAndGet();
      } else {
        long value = readWord();
        reader.answer(value != 0, value);
      }
      return reader.found() ? (Long) reader.value() : null;
    }

    private long readWord() {
      worker.read(word(request.key()), 0, Long.BYTES);
      return Words.get(worker.memory(), 0);
    }

    private @Nullable Long write() {
      if (writer.join(request, worker.backoff())) {
        shared.incrementAndGet();
      } else {
        for (int i = 0; worker.cas(lock(request.key()), 0, 1) != 0; i++) {
          worker.backoff().pauseBriefly(i);
        }
        long value = readWord();
        writer.apply(value != 0, value);
        Words.set(worker.memory(), 0, writer.isPresent() ? writer.last() : 0);
        worker.write(word(request.key()), 0, Long.BYTES);
        worker.cas(lock(request.key()), 1, 0);
        writer.done();
      }
      return writer.found() ? (Long) writer.value() : null;
    }

    @Override
    public void close() {
      reader.close();
      writer.close();
      worker.close();
      memory.close();
    }
  }

  /** Returns the violations of clients in virtual time. */
  private List<String> simulate(long seed, boolean plantsOldResults) {
    reads = new KeyTurns(plantsOldResults);
    writes = new KeyTurns(plantsOldResults);
    ClusterOptions options =
        ClusterOptions.defaults()
            .withServers(1, 1)
            .withBytesPerServer(1 << 20)
            .withChunkBytes(64 << 10)
            .withYieldShare(0.3)
            .withFaults(EnumSet.of(Fault.DELAY, Fault.PAUSE))
            .withSeed(seed);
    try (Cluster cluster = new Cluster(options)) {
      for (int i = 0; i < 8; i++) {
        int number = i;
        cluster
            .core(0)
            .spawn(
                "client-" + i,
                () -> {
                  try (Client client =
                      new Client(cluster.fabric(0), number, cluster::nanos, seed * 100 + number)) {
                    client.operate(40);
                  }
                });
      }
      cluster.run(10_000_000_000L, 10_000_000);
    }
    return HistoryCheck.violations(history);
  }

  @Test
  void shouldBeLinearizableInVirtualTime() {
    long seed = Seeds.of(8811);
    for (int i = 0; i < Seeds.count(20, 1_000); i++) {
      assertThat(new KeyTurnsTest().simulate(seed + i, false)).as("seed %s", seed + i).isEmpty();
    }
    simulate(seed, false);
    assertThat(shared.get()).isPositive();
  }

  @Test
  void shouldFindResultsThatAreTooOld() {
    long seed = Seeds.of(8811);
    int found = 0;
    for (int i = 0; i < 20; i++) {
      found += new KeyTurnsTest().simulate(seed + i, true).isEmpty() ? 0 : 1;
    }
    assertThat(found).isPositive();
  }

  @Test
  void shouldBeLinearizableAmongThreads() throws InterruptedException {
    long seed = Seeds.of(8812);
    for (int round = 0; round < Seeds.count(5, 100); round++) {
      KeyTurnsTest test = new KeyTurnsTest();
      test.runThreads(seed + round);
      assertThat(HistoryCheck.violations(test.history)).as("seed %s", seed + round).isEmpty();
    }
  }

  private void runThreads(long seed) throws InterruptedException {
    try (Fabric fabric = Pools.open(1, 1 << 20, 1)) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        int number = i;
        threads.add(
            Thread.ofPlatform()
                .start(() -> {
                  try (Client client = new Client(fabric, number, System::nanoTime, seed)) {
                    client.operate(2_000);
                  }
                }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    assertThat(history.operations()).hasSize(4 * 2_000);
  }

  private static Request get(long key) {
    return new Request().set(Operation.GET, key, 0, 0);
  }

  private static Request put(long key, long value) {
    return new Request().set(Operation.PUT, key, value, 0);
  }

  /** Acts in place of the first pause. */
  private static Backoff atPause(Runnable action) {
    boolean[] done = new boolean[1];
    return _ -> {
      if (!done[0]) {
        done[0] = true;
        action.run();
      }
    };
  }

  @Test
  void shouldBelongToTheNextTurn() {
    Seat first = reads.open();
    Seat second = reads.open();
    Seat third = reads.open();
    assertThat(first.join(get(1), NEVER)).isFalse();
    Backoff others =
        atPause(() -> {
          assertThat(second.join(get(1), atPause(() -> first.answer(true, 10)))).isFalse();
          second.answer(true, 20);
        });
    assertThat(third.join(get(1), others)).isTrue();
    assertThat(first.value()).isEqualTo(10);
    assertThat(third.value()).isEqualTo(20);
    assertThat(first.join(get(1), NEVER)).as("the slot is empty").isFalse();
    first.answer(false, 0);
  }

  @Test
  void shouldGoAloneWhereAnotherKeyHasTheSlot() {
    Seat first = reads.open();
    Seat second = reads.open();
    assertThat(first.join(get(1), NEVER)).isFalse();
    for (long key = 2; key < 10_000; key++) {
      assertThat(second.join(get(key), NEVER)).isFalse();
      second.answer(true, key);
      assertThat(second.value()).isEqualTo(key);
    }
    first.answer(false, 0);
  }

  @Test
  void shouldGoAloneWhereTheTurnFails() {
    Seat first = writes.open();
    Seat second = writes.open();
    Seat third = writes.open();
    assertThat(first.join(put(1, 1), NEVER)).isFalse();
    Backoff fails =
        atPause(() -> {
          assertThat(third.join(put(1, 3), leads(first))).isFalse();
          third.apply(true, 1);
          third.fail(false);
        });
    assertThat(second.join(put(1, 2), fails)).isFalse();
    second.apply(true, 1);
    assertThat(second.last()).isEqualTo(2);
    second.done();
  }

  /** Has the one that waits lead, as the first one ends its turn. */
  private static Backoff leads(Seat first) {
    return atPause(() -> {
      first.apply(false, 0);
      first.done();
    });
  }

  @Test
  void shouldSayThatTheOutcomeOfAllIsUnknown() {
    Seat first = writes.open();
    Seat second = writes.open();
    Seat third = writes.open();
    assertThat(first.join(put(1, 1), NEVER)).isFalse();
    Backoff fails =
        atPause(() -> {
          assertThat(third.join(put(1, 3), leads(first))).isFalse();
          third.apply(true, 1);
          assertThat(third.last()).isEqualTo(2);
          third.fail(true);
        });
    assertThatThrownBy(() -> second.join(put(1, 2), fails))
        .isInstanceOf(UnknownOutcomeException.class)
        .hasMessageContaining("key=1");
    assertThat(second.join(put(1, 2), NEVER)).isFalse();
    second.apply(false, 0);
    second.done();
  }

  @Test
  void shouldApplyOneAfterTheOther() {
    Seat first = writes.open();
    Seat second = writes.open();
    Seat third = writes.open();
    assertThat(first.join(put(1, 1), NEVER)).isFalse();
    Backoff applied =
        atPause(() -> {
          assertThat(third.join(put(1, 3), leads(first))).isFalse();
          third.apply(true, 1);
          third.apply(true, 7);
          assertThat(third.isPresent()).isFalse();
          third.done();
        });
    Request removal = new Request().set(Operation.REMOVE_EXPECTED, 1, 0, 3);
    assertThat(second.join(removal, applied)).isTrue();
    assertThat(third.value()).as("as it was applied last").isEqualTo(7);
    assertThat(second.found()).isTrue();
    assertThat(second.value()).isEqualTo(3);
  }

  @Test
  void shouldGoPastOneThatGaveUp() {
    Seat first = reads.open();
    Seat second = reads.open();
    assertThat(first.join(get(1), NEVER)).isFalse();
    assertThatThrownBy(() -> second.join(get(1), new Late()))
        .isInstanceOf(StalledException.class)
        .hasMessageContaining("operations on a key do not end: key=1");
    first.answer(true, 1);
    assertThat(second.join(get(1), NEVER)).as("by a new ticket").isFalse();
    second.answer(true, 2);
    assertThat(first.join(get(1), NEVER)).isFalse();
    Seat third = reads.open();
    assertThat(third.join(get(1), atPause(() -> first.answer(true, 3)))).isFalse();
    third.answer(true, 4);
    assertThat(third.value()).isEqualTo(4);
  }

  @Test
  void shouldLeaveATicketThatGaveUpAsItIs() {
    Seat first = writes.open();
    Seat second = writes.open();
    Seat third = writes.open();
    assertThat(first.join(put(1, 1), NEVER)).isFalse();
    boolean[] waited = new boolean[1];
    assertThatThrownBy(() -> second.join(put(1, 2), new Late()))
        .isInstanceOf(StalledException.class);
    assertThat(second.join(put(2, 20), NEVER)).as("its key has another slot").isFalse();
    Backoff waits =
        atPause(() -> {
          waited[0] = true;
          first.done();
        });
    assertThat(third.join(put(1, 3), waits)).as("leads the next turn").isFalse();
    assertThat(waited).as("for the turn of its key").containsExactly(true);
    third.apply(true, 1);
    assertThat(third.last()).as("without the one that gave up").isEqualTo(3);
    third.done();
    second.apply(false, 0);
    assertThat(second.last()).isEqualTo(20);
    second.done();
  }

  @Test
  void shouldNotApplyTheNextOperationOfOneThatGaveUp() {
    Seat first = writes.open();
    Seat second = writes.open();
    Seat third = writes.open();
    assertThat(first.join(put(1, 1), NEVER)).isFalse();
    Late late = new Late();
    Backoff appliedAndLate =
        new Backoff() {
          @Override
          public void pause(int attempt) {
            if (attempt == 0) {
              assertThat(third.join(put(1, 3), leads(first))).isFalse();
              third.apply(true, 1);
              assertThat(third.last()).isEqualTo(2);
            }
            late.pause(attempt);
          }

          @Override
          public long nanoTime() {
            return late.nanoTime();
          }
        };
    assertThatThrownBy(() -> second.join(put(1, 2), appliedAndLate))
        .isInstanceOf(UnknownOutcomeException.class);
    assertThat(second.join(put(2, 20), NEVER)).isFalse();
    second.apply(true, 10);
    third.apply(true, 7);
    assertThat(third.last()).as("by its operations alone").isEqualTo(2);
    third.done();
    second.done();
    assertThat(second.value()).as("what was found for its own").isEqualTo(10);
  }

  @Test
  void shouldEndTurnsWhoseSessionsOverflowTheStack() throws InterruptedException {
    Seat first = reads.open();
    Seat second = reads.open();
    int[] attempts = new int[1];
    Runnable turns =
        () -> {
          attempts[0]++;
          // Each session first ends what is left, by an operation on a key of its own.
          alone(first, 2);
          alone(second, 3);
          assertThat(first.join(get(1), new Late())).isFalse();
          assertThat(second.join(get(1), atPause(() -> first.answer(true, 1)))).isFalse();
          second.answer(true, 2);
        };
    turns.run();
    List<Throwable> failures = new ArrayList<>();
    Thread thread =
        Thread.ofPlatform()
            .start(() -> {
              try {
                dive(turns);
              } catch (Throwable e) {
                failures.add(e);
              }
            });
    thread.join();
    assertThat(failures).isEmpty();
    assertThat(attempts[0]).as("some overflow").isGreaterThan(2);
    turns.run();
    first.close();
    second.close();
  }

  private static void alone(Seat seat, long key) {
    if (seat.join(get(key), new Late())) {
      throw new IllegalStateException("others have joined: key=" + key);
    }
    seat.answer(true, key);
  }

  /** Runs an action at the greatest depth of the stack that has room for it. */
  @SuppressWarnings("InfiniteRecursion")
  private static boolean dive(Runnable action) {
    boolean done = false;
    try {
      done = dive(action);
    } catch (StackOverflowError _) {
      done = false;
    }
    if (done) {
      return true;
    }
    try {
      action.run();
      return true;
    } catch (StackOverflowError _) {
      return false;
    }
  }

  /** Time passes at each pause. */
  private static final class Late implements Backoff {
    private long nanos;

    @Override
    public void pause(int attempt) {
      nanos += 60_000_000_000L;
    }

    @Override
    public long nanoTime() {
      return nanos;
    }
  }

  @Test
  void shouldAllocateNothing() {
    Seat seat = writes.open();
    Request request = put(1, 2);
    AllocatedBytes allocated = new AllocatedBytes();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 10; round++) {
      long before = allocated.get();
      for (int i = 0; i < 10_000; i++) {
        seat.join(request, NEVER);
        seat.apply(true, i);
        seat.done();
      }
      least = Math.min(least, allocated.get() - before);
    }
    assertThat(least).isLessThan(1_000);
  }
}
