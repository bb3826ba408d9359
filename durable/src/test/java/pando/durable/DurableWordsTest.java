package pando.durable;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.EntryVisitor;
import pando.index.ModelRun;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Threads;

/** Indexes of all systems: what they answer, and what is in the log. */
@Timeout(300)
class DurableWordsTest {
  private static final int OPERATIONS = Seeds.count(2_000, 20_000, 200_000);
  private static final int KEYS = 24;

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeLikeAMapAndLogIt(SystemUnderTest system) {
    MemoryLog log = new MemoryLog(true);
    NavigableMap<Long, Long> model = new TreeMap<>();
    try (Fabric fabric = Pools.open(2, 16 << 20, 71);
        RangeIndex inner = system.tiny(1).create(fabric);
        DurableIndex index = new DurableIndex(inner, log::session, MemoryLog.NO_LOADS);
        DurableSession session = index.session()) {
      SplittableRandom random = new SplittableRandom(Seeds.of(71));
      new ModelRun(session, model, random, 500).operations(OPERATIONS);
      assertThat(WordContent.of(inner)).isEqualTo(model);
      assertThat(log.replay()).isEqualTo(model);
      assertThat(log.reserved()).isZero();
      assertThat(session.dependsOn()).isEqualTo(log.end());
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldLogWhatThreadsDoBeforeAnybodyReadsIt(SystemUnderTest system) throws Exception {
    MemoryLog log = new MemoryLog(true);
    log.beforeAppend(DurableWordsTest::pauseSometimes);
    SplittableRandom random = new SplittableRandom(Seeds.of(72));
    AtomicLong values = new AtomicLong();
    AtomicBoolean ended = new AtomicBoolean();
    List<AnsweredChange> changes = new ArrayList<>();
    try (Fabric fabric = Pools.open(2, 16 << 20, 72);
        RangeIndex inner = system.tiny(1).create(fabric);
        DurableIndex index = new DurableIndex(inner, log::session, MemoryLog.NO_LOADS)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        SplittableRandom own = random.split();
        tasks.add(() -> {
          try (DurableSession session = index.session();
              DurableSession other = index.session()) {
            KeyWriter writer = new KeyWriter(session, other, own, values);
            for (int n = 0; n < OPERATIONS / 2; n++) {
              writer.change();
            }
            synchronized (changes) {
              changes.addAll(writer.changes);
            }
            return null;
          } finally {
            ended.set(true);
          }
        });
      }
      for (int i = 0; i < 2; i++) {
        SplittableRandom own = random.split();
        tasks.add(() -> {
          try (DurableSession session = index.session()) {
            KeyReader reader = new KeyReader(session, own, new LogWitness(log));
            while (!ended.get()) {
              reader.read();
            }
            return null;
          }
        });
      }
      Threads.run(tasks);
      assertThat(log.replay()).isEqualTo(WordContent.of(inner));
    }
    assertThat(log.reserved()).isZero();
    changes.forEach(change -> change.check(log));
  }

  /** Leaves room between an effect and its record. */
  static void pauseSometimes() {
    if (Thread.currentThread().threadId() % 2 == 0) {
      LockSupport.parkNanos(1);
    }
  }

  private static long key(int number) {
    return number * (Long.MAX_VALUE / KEYS) - Long.MAX_VALUE / 2;
  }

  /** A change that was answered; {@code null} is a key that is absent. */
  private record AnsweredChange(long key, @Nullable Long before, @Nullable Long after) {
    /** Checks that it is in the log right behind what its answer says was there. */
    void check(MemoryLog log) {
      if (before != null) {
        int place = log.find(key, 0, before);
        assertThat(place).as("%s", this).isNotNegative();
        assertThat(log.history(key).get(place + 1).value()).as("%s", this).isEqualTo(after);
      } else if (after != null) {
        int place = log.find(key, 0, after);
        assertThat(place).as("%s", this).isNotNegative();
        if (place > 0) {
          assertThat(log.history(key).get(place - 1).value()).as("%s", this).isNull();
        }
      }
    }
  }

  /** Changes keys, each time to a value that no key ever had. */
  private static final class KeyWriter {
    private final Session session;
    private final Session other;
    private final SplittableRandom random;
    private final AtomicLong values;
    private final List<AnsweredChange> changes = new ArrayList<>();

    KeyWriter(Session session, Session other, SplittableRandom random, AtomicLong values) {
      this.session = session;
      this.other = other;
      this.random = random;
      this.values = values;
    }

    void change() {
      if (random.nextInt(100) == 0) {
        session.alone(() -> {
          change(session);
          change(other);
        });
      } else {
        change(session);
      }
    }

    private void change(Session by) {
      long key = key(random.nextInt(KEYS));
      long value = values.incrementAndGet();
      switch (random.nextInt(12)) {
        case 0, 1, 2 ->
            changes.add(new AnsweredChange(key, by.put(key, value) ? by.value() : null, value));
        case 3 -> by.store(key, value);
        case 4 -> by.discard(key);
        case 5 -> {
          if (by.putIfAbsent(key, value)) {
            changes.add(new AnsweredChange(key, null, value));
          }
        }
        case 6 -> {
          if (by.update(key, value)) {
            changes.add(new AnsweredChange(key, by.value(), value));
          }
        }
        case 7 -> {
          long expected = by.get(key) ? by.value() : -1;
          if (by.replace(key, expected, value)) {
            changes.add(new AnsweredChange(key, expected, value));
          }
        }
        case 8 -> {
          long expected = by.get(key) ? by.value() : -1;
          if (by.remove(key, expected)) {
            changes.add(new AnsweredChange(key, expected, null));
          }
        }
        case 9 -> putAll(by, random.nextInt(8));
        default -> {
          if (by.remove(key)) {
            changes.add(new AnsweredChange(key, by.value(), null));
          }
        }
      }
    }

    private void putAll(Session by, int count) {
      long[] keys = random.ints(count, 0, KEYS).mapToLong(DurableWordsTest::key).toArray();
      long[] stored = new long[count];
      for (int i = 0; i < count; i++) {
        stored[i] = values.incrementAndGet();
      }
      by.putAll(keys, 0, count, stored);
    }
  }

  /** Reads keys; a key that it passes without finding it is absent. */
  private static final class KeyReader {
    private final Session session;
    private final SplittableRandom random;
    private final LogWitness witness;

    KeyReader(Session session, SplittableRandom random, LogWitness witness) {
      this.session = session;
      this.random = random;
      this.witness = witness;
    }

    void read() {
      int number = random.nextInt(KEYS);
      switch (random.nextInt(8)) {
        case 0, 1 -> sees("get", number, session.get(key(number)));
        case 2 -> getAll();
        case 3 -> down("floor", number, session.floor(key(number)));
        case 4 -> up("ceiling", number, session.ceiling(key(number)));
        case 5 -> down("lower", number - 1, session.lower(key(number)));
        case 6 -> up("first", 0, session.first());
        default -> scan(number, random.nextBoolean());
      }
    }

    private void sees(String what, int number, boolean found) {
      witness.sees(what, key(number), found ? session.value() : null);
    }

    private void getAll() {
      int count = random.nextInt(1, 6);
      long[] keys = random.ints(count, 0, KEYS).mapToLong(DurableWordsTest::key).toArray();
      long[] values = new long[count];
      boolean[] found = new boolean[count];
      session.getAll(keys, 0, count, values, found);
      for (int i = 0; i < count; i++) {
        // A key that comes twice may be looked up in any order.
        long key = keys[i];
        if (Arrays.stream(keys).filter(it -> it == key).count() == 1) {
          witness.sees("get all", key, found[i] ? values[i] : null);
        }
      }
    }

    private void down(String what, int from, boolean found) {
      int number = from;
      while (number >= 0 && !(found && session.key() == key(number))) {
        witness.sees(what, key(number--), null);
      }
      if (found) {
        sees(what, number, true);
      }
    }

    private void up(String what, int from, boolean found) {
      int number = from;
      while (number < KEYS && !(found && session.key() == key(number))) {
        witness.sees(what, key(number++), null);
      }
      if (found) {
        sees(what, number, true);
      }
    }

    private void scan(int from, boolean down) {
      int step = down ? -1 : 1;
      int[] next = {from};
      int stop = random.nextInt(KEYS);
      boolean[] stopped = {false};
      EntryVisitor visitor =
          (key, value) -> {
            for (; key(next[0]) != key; next[0] += step) {
              witness.sees("scan", key(next[0]), null);
            }
            witness.sees("scan", key, value);
            next[0] += step;
            stopped[0] = next[0] == stop;
            return !stopped[0];
          };
      if (down) {
        session.scanDown(key(from), Long.MAX_VALUE, visitor);
      } else {
        session.scan(key(from), Long.MAX_VALUE, visitor);
      }
      for (; !stopped[0] && next[0] >= 0 && next[0] < KEYS; next[0] += step) {
        witness.sees("end of a scan", key(next[0]), null);
      }
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldLogWhatFailuresLeave(SystemUnderTest system) throws Exception {
    MemoryLog log = new MemoryLog(false);
    SplittableRandom random = new SplittableRandom(Seeds.of(73));
    FailingCalls failing = new FailingCalls(random.split(), 10);
    AtomicLong values = new AtomicLong();
    AtomicLong failures = new AtomicLong();
    try (Fabric fabric = Pools.open(2, 16 << 20, 73);
        RangeIndex inner = system.tiny(1).create(fabric);
        DurableIndex index =
            new DurableIndex(failing.over(inner), log::session, MemoryLog.NO_LOADS)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        SplittableRandom own = random.split();
        tasks.add(() -> {
          try (DurableSession session = index.session()) {
            KeyWriter writer = new KeyWriter(session, session, own, values);
            for (int n = 0; n < OPERATIONS; n++) {
              try {
                writer.change();
              } catch (RuntimeException | Error e) {
                assertThat(e).hasStackTraceContaining("failed by a test");
                failures.incrementAndGet();
              }
            }
            return null;
          }
        });
      }
      Threads.run(tasks);
      assertThat(log.replay()).isEqualTo(WordContent.of(inner));
    }
    assertThat(log.hasFailed()).isFalse();
    assertThat(log.reserved()).isZero();
    assertThat(failures.get()).isGreaterThan(OPERATIONS / 20);
  }
}
