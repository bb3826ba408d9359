package pando.durable;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteModelRun;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.ByteVisitor;
import pando.journal.LogFullException;

/** Byte strings: what they answer, and what is in the log. */
@Timeout(300)
class DurableBytesTest {
  private static final int OPERATIONS = Seeds.count(3_000, 20_000, 200_000);
  private static final int KEYS = 20;

  private final MemoryLog log = new MemoryLog(true);
  private final Fabric fabric = Pools.open(2, 64 << 20, 81);
  private final ByteIndex inner =
      ByteIndex.create(fabric, ByteOptions.defaults().withBlockBytes(256, 16));
  private final DurableStrings strings = new DurableStrings(inner, log::session);

  @AfterEach
  void close() {
    strings.close();
    fabric.close();
  }

  private static Map<Object, Object> content(ByteStrings of) {
    Map<Object, Object> all = new HashMap<>();
    try (ByteSession session = of.session()) {
      session.scan(
          segment(""),
          null,
          Long.MAX_VALUE,
          (key, value) -> {
            all.put(MemoryLog.text(key), MemoryLog.text(value));
            return true;
          });
    }
    return all;
  }

  private static MemorySegment segment(String text) {
    return MemorySegment.ofArray(text.getBytes(ISO_8859_1));
  }

  @Test
  void shouldBeLikeAMapAndLogIt() {
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    SplittableRandom random = new SplittableRandom(Seeds.of(81));
    try (DurableByteSession session = strings.session()) {
      for (int i = 0; i < OPERATIONS; i++) {
        boolean shrinks = i / (OPERATIONS / 8) % 2 == 1;
        byte[] key = ByteKeys.draw(random, 12);
        byte[] value = ByteKeys.value(random, 100);
        ByteModelRun.operate(session, model, random, shrinks, key, value);
      }
      ByteModelRun.checkAll(session, model);
      assertThat(session.dependsOn()).isEqualTo(log.end());
      session.forget();
      assertThat(session.dependsOn()).isZero();
    }
    assertThat(log.replay()).isEqualTo(content(inner)).hasSameSizeAs(model);
    assertThat(log.reserved()).isZero();
  }

  @Test
  void shouldLogBytesThatTheSessionReturned() {
    try (DurableByteSession session = strings.session()) {
      session.put(segment("a"), segment("value of a"));
      session.put(segment("b"), segment("something else"));
      session.ceiling(segment("a"));
      session.put(session.key(), session.value());
      session.get(segment("a"));
      session.put(segment("b"), session.value());
      session.get(segment("b"));
      session.put(session.value(), session.value());
      session.ceiling(segment("c"));
      session.put(session.value(), session.key());
    }
    assertThat(log.replay()).isEqualTo(content(inner)).hasSize(3);
  }

  @Test
  void shouldLogWhatThreadsDoBeforeAnybodyReadsIt() throws Exception {
    log.beforeAppend(DurableWordsTest::pauseSometimes);
    SplittableRandom random = new SplittableRandom(Seeds.of(82));
    AtomicLong values = new AtomicLong();
    AtomicBoolean ended = new AtomicBoolean();
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      SplittableRandom own = random.split();
      tasks.add(() -> {
        try (ByteSession session = strings.session()) {
          for (int n = 0; n < OPERATIONS; n++) {
            change(session, own, "value " + values.incrementAndGet());
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
        LogWitness witness = new LogWitness(log);
        try (ByteSession session = strings.session()) {
          while (!ended.get()) {
            read(session, own.nextInt(KEYS), own.nextInt(5), witness);
          }
          return null;
        }
      });
    }
    Threads.run(tasks);
    assertThat(log.replay()).isEqualTo(content(inner));
    assertThat(log.reserved()).isZero();
  }

  private static String key(int number) {
    return "key %02d".formatted(number);
  }

  private static void change(ByteSession session, SplittableRandom random, String value) {
    MemorySegment key = segment(key(random.nextInt(KEYS)));
    switch (random.nextInt(8)) {
      case 0, 1 -> session.put(key, segment(value));
      case 2 -> session.putIfAbsent(key, segment(value));
      case 3 -> session.update(key, segment(value));
      case 4 -> session.store(key, segment(value));
      case 5 -> session.discard(key);
      case 6 -> {
        if (session.get(key)) {
          session.remove(key, session.value());
        }
      }
      default -> session.remove(key);
    }
  }

  /** Reads keys from one on; those that are passed are absent. */
  private static void read(ByteSession session, int from, int kind, LogWitness witness) {
    int number = from;
    MemorySegment wanted = segment(key(from));
    boolean found = true;
    switch (kind) {
      case 0 -> {
        found = session.get(wanted);
        witness.sees("get", key(from), found ? MemoryLog.text(session.value()) : null);
        return;
      }
      case 1 -> found = session.ceiling(wanted);
      case 2 -> {
        found = session.floor(wanted);
        for (; number >= 0 && !(found && isKey(session, number)); number--) {
          witness.sees("floor", key(number), null);
        }
      }
      default -> {
        number = scanned(session, from, kind == 3, witness);
        found = false;
      }
    }
    for (; kind != 2 && number >= 0 && number < KEYS; number += kind == 4 ? -1 : 1) {
      if (found && isKey(session, number)) {
        break;
      }
      witness.sees("end", key(number), null);
    }
    if (found) {
      witness.sees("neighbour", key(number), MemoryLog.text(session.value()));
    }
  }

  private static boolean isKey(ByteSession session, int number) {
    return MemoryLog.text(session.key()).equals(key(number));
  }

  /** Scans from a key on; returns the first one behind the last that was found. */
  private static int scanned(ByteSession session, int from, boolean up, LogWitness witness) {
    int[] next = {from};
    int step = up ? 1 : -1;
    ByteVisitor visitor =
        (key, value) -> {
          for (; !key(next[0]).equals(MemoryLog.text(key)); next[0] += step) {
            witness.sees("scan", key(next[0]), null);
          }
          witness.sees("scan", key(next[0]), MemoryLog.text(value));
          next[0] += step;
          return true;
        };
    if (up) {
      session.scan(segment(key(from)), null, Long.MAX_VALUE, visitor);
    } else {
      session.scanDown(segment(key(from) + "\0"), segment(""), Long.MAX_VALUE, visitor);
    }
    return next[0];
  }

  @Test
  void shouldLogWhatFailuresLeave() {
    SplittableRandom random = new SplittableRandom(Seeds.of(83));
    FailingCalls failing = new FailingCalls(random.split(), 5);
    DurableStrings broken = new DurableStrings(failing.over(inner), log::session);
    int failures = 0;
    try (ByteSession session = broken.session()) {
      for (int i = 0; i < OPERATIONS; i++) {
        try {
          // Each value is longer than the one before: what a failure leaves needs other room.
          change(session, random, "value".repeat(i % 50) + i);
        } catch (RuntimeException | Error e) {
          assertThat(e).hasStackTraceContaining("failed by a test");
          failures++;
        }
      }
    }
    assertThat(failures).isGreaterThan(OPERATIONS / 20);
    assertThat(log.hasFailed()).isFalse();
    assertThat(log.replay()).isEqualTo(content(inner));
    assertThat(log.reserved()).isZero();
  }

  @Test
  void shouldStoreManyAndTellOfEach() {
    List<MemorySegment> keys = new ArrayList<>();
    List<MemorySegment> values = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      keys.add(segment(key(i % 550)));
      values.add(i == 7 ? segment("x".repeat(inner.valueBytesMax() + 1)) : segment("value " + i));
    }
    List<String> told = new ArrayList<>();
    try (ByteSession session = strings.session()) {
      session.storeAll(
          keys,
          values,
          (place, value, failure) -> {
            assertThat(place).isEqualTo(told.size());
            assertThat(value).isNull();
            told.add(String.valueOf(failure));
            return place < 590;
          });
      assertThat(told).hasSize(591).filteredOn(it -> !it.equals("null")).hasSize(1);
      assertThat(told.get(7)).contains("the value is too long");
      assertThat(log.replay()).isEqualTo(content(inner)).hasSize(550);
      assertThat(log.replay())
          .containsEntry(key(3), "value 553")
          .containsEntry(key(7), "value 557");
      assertThatThrownBy(() -> session.storeAll(keys, List.of(), (_, _, _) -> true))
          .isInstanceOf(IllegalArgumentException.class);

      log.leaveRoom(2 * SessionLog.WORD_BYTES);
      told.clear();
      session.storeAll(
          keys.subList(0, 4),
          values.subList(0, 4),
          (_, _, failure) -> {
            told.add(failure == null ? "done" : failure.getClass().getSimpleName());
            return true;
          });
      String full = LogFullException.class.getSimpleName();
      assertThat(told).containsExactly("done", "done", full, full);
      assertThat(log.replay()).isEqualTo(content(inner));
    }
  }

  @Test
  void shouldTellOfStoresOnceTheyAreOnTheDisk() throws Exception {
    log.holdSync();
    AtomicLong told = new AtomicLong();
    FutureTask<Void> storing =
        new FutureTask<>(() -> {
          try (ByteSession session = strings.session()) {
            List<MemorySegment> keys = List.of(segment("a"), segment("b"));
            session.storeAll(keys, keys, (_, _, _) -> told.incrementAndGet() > 0);
            return null;
          }
        });
    try {
      DurableWaitsTest.waiting(storing);
      assertThat(log.replay()).hasSize(2);
      assertThat(told).hasValue(0);
    } finally {
      log.goOn();
    }
    storing.get();
    assertThat(told).hasValue(2);
  }

  /** Ways to read key 5 of 10. */
  enum ByteRead {
    GET(session -> session.get(segment(key(5)))),
    FLOOR(session -> session.floor(segment(key(5)))),
    CEILING(session -> session.ceiling(segment(key(5)))),
    FIRST(session -> session.first()),
    LAST(session -> session.last()),
    SCAN(session -> session.scan(segment(key(5)), segment(key(6)), 9, (_, _) -> true)),
    SCAN_DOWN(session -> session.scanDown(segment(key(6)), segment(key(5)), 9, (_, _) -> true));

    @SuppressWarnings("ImmutableEnumChecker") // Stateless.
    private final Consumer<ByteSession> act;

    ByteRead(Consumer<ByteSession> act) {
      this.act = act;
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadNoAbsenceBeforeItIsLogged(ByteRead read) throws Exception {
    CountDownLatch logs = new CountDownLatch(1);
    checkWaits(
        read,
        () -> log.beforeAppend(() -> DurableWaitsTest.await(logs)),
        session -> session.remove(segment(key(5))),
        logs::countDown);
  }

  @ParameterizedTest
  @EnumSource(
      names = {"FIRST", "LAST"},
      mode = EnumSource.Mode.EXCLUDE)
  void shouldReadNoValueBeforeItIsOnTheDisk(ByteRead read) throws Exception {
    checkWaits(
        read, log::holdSync, session -> session.put(segment(key(5)), segment("x")), log::goOn);
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadNoAbsenceBeforeItIsOnTheDisk(ByteRead read) throws Exception {
    checkWaits(read, log::holdSync, session -> session.discard(segment(key(5))), log::goOn);
  }

  /** Checks that a read waits until what holds a change up goes on. */
  private void checkWaits(ByteRead read, Runnable hold, Consumer<ByteSession> change, Runnable goOn)
      throws Exception {
    try (ByteSession session = strings.session()) {
      for (int i = 0; i < 10; i++) {
        session.put(segment(key(i)), segment("value"));
      }
    }
    FutureTask<Void> changing = task(change);
    FutureTask<Void> reading = task(read.act);
    hold.run();
    try {
      DurableWaitsTest.waiting(changing);
      DurableWaitsTest.waiting(reading);
    } finally {
      goOn.run();
    }
    changing.get();
    reading.get();
  }

  private FutureTask<Void> task(Consumer<ByteSession> act) {
    return new FutureTask<>(() -> {
      try (ByteSession session = strings.session()) {
        act.accept(session);
        return null;
      }
    });
  }
}
