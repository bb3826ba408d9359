package pando.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.Fabric;
import pando.index.AllocatedBytes;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.journal.LogFailedException;
import pando.journal.LogFullException;

/** Readers wait for changes, and changes for the disk; the log is full, or has failed. */
@Timeout(60)
class DurableWaitsTest {
  private static final long GONE = 50;

  private MemoryLog log = new MemoryLog(false);
  private final Fabric fabric = Pools.open(1, 16 << 20, 91);
  private final RangeIndex inner = SystemUnderTest.ORCA.tiny(1).create(fabric);
  private DurableIndex index = new DurableIndex(inner, () -> log.session(), MemoryLog.NO_LOADS);

  @AfterEach
  void close() {
    index.close();
    fabric.close();
  }

  /** Ways to read, with what they find of the keys 0, 10, 20 and so on. */
  enum WordRead {
    GET(session -> session.get(GONE)),
    GET_ALL(session -> session.getAll(new long[] {3, GONE}, 0, 2, new long[2], new boolean[2])),
    PUT_IF_ABSENT(session -> session.putIfAbsent(GONE, 1)),
    UPDATE(session -> session.update(GONE, 1)),
    FLOOR(session -> session.floor(GONE + 5)),
    CEILING(session -> session.ceiling(GONE - 5)),
    LOWER(session -> session.lower(GONE + 5)),
    HIGHER(session -> session.higher(GONE - 5)),
    SCAN(session -> session.scan(GONE - 5, GONE + 5, 9, (_, _) -> true)),
    SCAN_TO_NEXT(session -> session.scan(GONE - 5, GONE + 15, 1, (_, _) -> true)),
    SCAN_DOWN(session -> session.scanDown(GONE + 5, GONE - 5, 9, (_, _) -> true));

    @SuppressWarnings("ImmutableEnumChecker") // Stateless.
    private final Consumer<Session> act;

    WordRead(Consumer<Session> act) {
      this.act = act;
    }

    void by(Session session) {
      act.accept(session);
    }
  }

  private void fill() {
    try (Session session = index.session()) {
      for (long key = 0; key < 100; key += 10) {
        session.put(key, key);
      }
    }
  }

  /** Starts a thread; returns once it waits. */
  static void waiting(FutureTask<?> task) throws InterruptedException {
    Thread thread = Thread.ofPlatform().daemon().start(task);
    while (thread.getState() != Thread.State.WAITING) {
      assertThat(task.isDone()).as("does not wait").isFalse();
      Thread.onSpinWait();
    }
  }

  private FutureTask<Long> reading(WordRead read) {
    return new FutureTask<>(() -> {
      try (Session session = index.session()) {
        read.by(session);
        return log.end();
      }
    });
  }

  private FutureTask<Void> changing(Consumer<Session> change) {
    return new FutureTask<>(() -> {
      try (Session session = index.session()) {
        change.accept(session);
        return null;
      }
    });
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadNoValueBeforeItIsLogged(WordRead read) throws Exception {
    fill();
    checkWaits(read, session -> session.put(GONE, -1));
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadNoAbsenceBeforeItIsLogged(WordRead read) throws Exception {
    fill();
    checkWaits(read, session -> session.remove(GONE));
  }

  /** Checks that a read waits for a change that has taken effect and is not logged yet. */
  private void checkWaits(WordRead read, Consumer<Session> change) throws Exception {
    CountDownLatch logs = new CountDownLatch(1);
    log.beforeAppend(() -> await(logs));
    FutureTask<Void> changing = changing(change);
    long before = log.end();
    FutureTask<Long> reading = reading(read);
    try {
      waiting(changing);
      waiting(reading);
    } finally {
      log.beforeAppend(() -> {});
      logs.countDown();
    }
    assertThat(reading.get()).isGreaterThan(before);
    changing.get();
  }

  static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadNoValueBeforeItIsOnTheDisk(WordRead read) throws Exception {
    checkWaitsForSync(read, session -> session.put(GONE, -1));
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadNoAbsenceBeforeItIsOnTheDisk(WordRead read) throws Exception {
    checkWaitsForSync(read, session -> session.remove(GONE));
  }

  private void checkWaitsForSync(WordRead read, Consumer<Session> change) throws Exception {
    log = new MemoryLog(true);
    fill();
    log.holdSync();
    FutureTask<Void> changing = changing(change);
    FutureTask<Long> reading = reading(read);
    try {
      waiting(changing);
      waiting(reading);
    } finally {
      log.goOn();
    }
    changing.get();
    reading.get();
  }

  @Test
  void shouldReadOtherKeysMeanwhile() throws Exception {
    fill();
    CountDownLatch logs = new CountDownLatch(1);
    log.beforeAppend(() -> await(logs));
    FutureTask<Void> changing = changing(session -> session.put(GONE, -1));
    try (Session session = index.session()) {
      waiting(changing);
      assertThat(session.get(GONE + 10)).isTrue();
      assertThat(session.floor(GONE - 5)).isTrue();
      assertThat(session.scan(0, GONE - 5, 99, (_, _) -> true)).isEqualTo(5);
    } finally {
      logs.countDown();
    }
    changing.get();
  }

  @Test
  void shouldNotWaitDeferred() {
    log = new MemoryLog(true);
    log.holdSync();
    try (DurableSession writer = index.session().deferred();
        DurableSession reader = index.session().deferred()) {
      writer.put(1, 10);
      long first = log.end();
      assertThat(writer.dependsOn()).isEqualTo(first);
      writer.put(2, 20);
      assertThat(writer.dependsOn()).isEqualTo(log.end()).isGreaterThan(first);
      assertThat(reader.dependsOn()).isZero();
      assertThat(reader.get(3)).isFalse();
      assertThat(reader.dependsOn()).isZero();
      assertThat(reader.get(1)).isTrue();
      assertThat(reader.dependsOn()).isEqualTo(first);
      assertThat(reader.putIfAbsent(2, 21)).isFalse();
      assertThat(reader.dependsOn()).isEqualTo(log.end());
      writer.remove(2);
      assertThat(reader.last()).isTrue();
      assertThat(reader.dependsOn()).isEqualTo(log.end());
    }
  }

  @Test
  void shouldDependOnWhatFailedConditionHasRead() {
    log = new MemoryLog(true);
    try (DurableSession writer = index.session();
        DurableSession reader = index.session().deferred()) {
      writer.put(1, 10);
      long lsn = log.end();
      assertThat(writer.putIfAbsent(1, 11)).isFalse();
      assertThat(writer.replace(1, 11, 12)).isFalse();
      assertThat(writer.remove(1, 11)).isFalse();
      assertThat(log.end()).isEqualTo(lsn);
      assertThat(reader.get(1)).isTrue();
      assertThat(reader.dependsOn()).isEqualTo(lsn);
    }
  }

  @Test
  void shouldChangeNothingWhereLogIsFull() {
    fill();
    log.leaveRoom(SessionLog.WORD_BYTES);
    try (Session session = index.session()) {
      List<Consumer<Session>> changes =
          List.of(
              it -> it.put(1, 2),
              it -> it.store(10, 2),
              it -> it.putIfAbsent(1, 2),
              it -> it.update(10, 2),
              it -> it.replace(10, 10, 2),
              it -> it.remove(10),
              it -> it.remove(10, 10),
              it -> it.discard(10),
              it -> it.putAll(new long[] {1}, 0, 1, new long[1]));
      assertThatThrownBy(() -> session.putAll(new long[] {1, 2}, 0, 2, new long[2]))
          .isInstanceOf(LogFullException.class);
      session.put(GONE, 7);
      for (Consumer<Session> change : changes) {
        assertThatThrownBy(() -> change.accept(session)).isInstanceOf(LogFullException.class);
      }
      assertThat(session.get(10)).isTrue();
      assertThat(session.value()).isEqualTo(10);
      assertThat(session.first()).isTrue();
      assertThat(log.replay()).isEqualTo(WordContent.of(inner)).hasSize(10).containsEntry(50L, 7L);
      log.leaveRoom(1000);
      changes.forEach(change -> change.accept(session));
      assertThat(log.replay()).isEqualTo(WordContent.of(inner)).containsEntry(1L, 0L);
    }
  }

  @Test
  void shouldAnswerNothingThatIsNotInFailedLog() {
    fill();
    log.breakNextAppend();
    try (Session session = index.session()) {
      assertThatThrownBy(() -> session.put(GONE, 7)).isInstanceOf(LogFailedException.class);
      assertThatThrownBy(() -> session.get(GONE)).isInstanceOf(LogFailedException.class);
      assertThatThrownBy(() -> session.scan(0, 100, (_, _) -> true))
          .isInstanceOf(LogFailedException.class);
      assertThatThrownBy(() -> session.put(1, 1)).isInstanceOf(LogFailedException.class);
      assertThatThrownBy(() -> session.remove(10)).isInstanceOf(LogFailedException.class);
      assertThat(session.get(10)).isTrue();
      assertThat(session.floor(GONE - 1)).isTrue();
    }
  }

  @Test
  void shouldAnswerNoAbsenceThatIsNotInFailedLog() {
    fill();
    log.breakNextAppend();
    try (Session session = index.session()) {
      assertThatThrownBy(() -> session.remove(GONE)).isInstanceOf(LogFailedException.class);
      assertThatThrownBy(() -> session.floor(GONE)).isInstanceOf(LogFailedException.class);
      assertThatThrownBy(() -> session.get(GONE)).isInstanceOf(LogFailedException.class);
      assertThat(session.get(10)).isTrue();
    }
  }

  @Test
  void shouldFailLogWhereKeyCannotBeSettled() {
    fill();
    FailingCalls failing = new FailingCalls(new SplittableRandom(5), 1);
    DurableIndex broken =
        new DurableIndex(failing.over(inner), () -> log.session(), MemoryLog.NO_LOADS);
    try (Session session = broken.session()) {
      List<Throwable> failures = new ArrayList<>();
      failing.failGets(true);
      for (int i = 0; i < 100 && !log.hasFailed(); i++) {
        try {
          session.put(GONE, 7);
        } catch (RuntimeException | Error e) {
          failures.add(e);
        }
      }
      assertThat(log.hasFailed()).isTrue();
      assertThat(failures.getLast()).hasStackTraceContaining("a get failed by a test");
      failing.failGets(false);
      assertThatThrownBy(() -> session.get(GONE)).isInstanceOf(LogFailedException.class);
      assertThatThrownBy(() -> session.put(GONE, 7)).isInstanceOf(LogFailedException.class);
      assertThat(session.get(10)).isTrue();
    }
    assertThat(log.reserved()).isEqualTo(SessionLog.WORD_BYTES);
  }

  @Test
  void shouldNotFailLogByMisuse() {
    fill();
    Session session = index.session();
    session.scan(
        0,
        100,
        (key, value) -> {
          assertThatThrownBy(() -> session.put(key, value))
              .isInstanceOf(IllegalStateException.class);
          assertThatThrownBy(() -> session.putAll(new long[] {key}, 0, 1, new long[1]))
              .isInstanceOf(IllegalStateException.class);
          assertThatThrownBy(() -> session.scan(0, 1, (_, _) -> true))
              .isInstanceOf(IllegalStateException.class);
          return true;
        });
    assertThatThrownBy(() -> session.putAll(new long[1], 1, 1, new long[2]))
        .isInstanceOf(IndexOutOfBoundsException.class);
    session.close();
    assertThatThrownBy(() -> session.put(1, 1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> session.putAll(new long[1], 0, 1, new long[1]))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> session.putAll(new long[1], 0, 0, new long[1]))
        .isInstanceOf(IllegalStateException.class);
    assertThat(log.hasFailed()).isFalse();
    assertThat(log.reserved()).isZero();
    assertThat(log.replay()).isEqualTo(WordContent.of(inner));
  }

  @Test
  void shouldWaitAloneForChangesUnderWay() throws Exception {
    fill();
    CountDownLatch logs = new CountDownLatch(1);
    log.beforeAppend(() -> await(logs));
    FutureTask<Void> changing = changing(session -> session.put(GONE, -1));
    FutureTask<Void> alone =
        changing(session -> session.alone(() -> assertThat(log.history(GONE)).hasSize(2)));
    try {
      waiting(changing);
      waiting(alone);
    } finally {
      logs.countDown();
    }
    alone.get();
    changing.get();
  }

  @Test
  void shouldChangeAloneByAnySession() {
    try (Session one = index.session();
        Session other = index.session()) {
      one.alone(() -> {
        one.put(1, 1);
        other.put(1, 2);
        assertThat(one.remove(1)).isTrue();
        other.putAll(new long[] {1, 2, 3, 1}, 0, 4, new long[] {4, 5, 6, 7});
        assertThat(one.scan(0, 9, (_, _) -> true)).isEqualTo(3);
      });
      assertThat(log.replay()).isEqualTo(WordContent.of(inner)).containsEntry(1L, 7L);
    }
  }

  @Test
  void shouldNotAllocateOnceWarm() {
    index.close();
    fabric.close();
    try (Fabric large = Pools.open(1, 16 << 20, 92);
        RangeIndex words = SystemUnderTest.ORCA.defaults().create(large);
        DurableIndex durable = new DurableIndex(words, NullLog::new, MemoryLog.NO_LOADS);
        Session session = durable.session()) {
      for (int key = 0; key < 1000; key++) {
        session.put(key, key);
      }
      AllocatedBytes allocated = new AllocatedBytes();
      long least = Long.MAX_VALUE;
      for (int round = 0; round < 50; round++) {
        long before = allocated.get();
        for (int i = 0; i < 10_000; i++) {
          session.get(i % 1000);
          session.put(i % 1000, i);
          session.update(i % 1000, i);
        }
        least = Math.min(least, allocated.get() - before);
      }
      assertThat(least).isLessThan(1000);
    }
  }
}
