package pando.durable;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.journal.LogFailedException;
import pando.journal.LogFullException;

/** Changes of several byte strings that count together, and their record. */
@Timeout(300)
class DurableGroupsTest {
  private static final int ROUNDS = Seeds.count(500, 5_000, 50_000);
  private static final int KEYS = 12;

  private final MemoryLog log = new MemoryLog(false);
  private final Fabric fabric = Pools.open(2, 64 << 20, 87);
  private final ByteIndex inner =
      ByteIndex.create(fabric, ByteOptions.defaults().withBlockBytes(256, 16));
  private final DurableStrings strings = new DurableStrings(inner, log::session);

  @AfterEach
  void close() {
    strings.close();
    fabric.close();
  }

  private static MemorySegment segment(String text) {
    return MemorySegment.ofArray(text.getBytes(ISO_8859_1));
  }

  private Map<Object, Object> content() {
    Map<Object, Object> all = new HashMap<>();
    try (ByteSession session = inner.session()) {
      session.scan(
          segment(""),
          null,
          Long.MAX_VALUE,
          (key, value) -> all.put(MemoryLog.text(key), MemoryLog.text(value)) == null);
    }
    return all;
  }

  private static List<MemorySegment> someKeys(SplittableRandom random) {
    return IntStream.range(0, KEYS)
        .filter(_ -> random.nextInt(4) == 0)
        .mapToObj(i -> segment("key " + i))
        .toList();
  }

  private static void change(
      ByteSession session, MemorySegment key, SplittableRandom random, String value) {
    switch (random.nextInt(4)) {
      case 0 -> session.discard(key);
      case 1 -> session.putIfAbsent(key, segment(value));
      case 2 -> session.update(key, segment(value));
      default -> session.store(key, segment(value));
    }
  }

  @Test
  void shouldLogWhatCountsTogetherAsOne() {
    SplittableRandom random = new SplittableRandom(Seeds.of(87));
    Map<Object, Object> model = new HashMap<>();
    try (DurableByteSession session = strings.session()) {
      for (int round = 0; round < ROUNDS; round++) {
        List<MemorySegment> keys = someKeys(random);
        @Nullable List<MemorySegment> given = random.nextBoolean() ? keys : null;
        boolean fails = random.nextInt(3) == 0;
        String value = "round " + round + " ".repeat(random.nextInt(200));
        long end = log.end();
        try {
          session.atomically(
              given,
              its -> {
                keys.forEach(key -> change(its, key, random, value));
                if (fails) {
                  throw new ArithmeticException();
                }
              });
          assertThat(fails).isFalse();
        } catch (ArithmeticException e) {
          assertThat(log.end()).isEqualTo(end);
          assertThat(content()).isEqualTo(model);
        }
        model = content();
        assertThat(log.replay()).isEqualTo(model);
        assertThat(
                keys.stream()
                    .flatMap(key -> log.history(MemoryLog.text(key)).stream())
                    .map(MemoryLog.Logged::lsn)
                    .filter(lsn -> lsn > end))
            .allMatch(lsn -> lsn == log.end());
      }
    }
    assertThat(model).isNotEmpty();
    assertThat(log.reserved()).isZero();
  }

  /** Who has seen a value of a change sees no older one of its other keys. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldShowNobodyAHalf(boolean namesKeys) throws Exception {
    log.beforeAppend(DurableWordsTest::pauseSometimes);
    List<MemorySegment> keys = IntStream.range(0, 4).mapToObj(i -> segment("key " + i)).toList();
    AtomicInteger rounds = new AtomicInteger();
    AtomicInteger writers = new AtomicInteger(2);
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      tasks.add(() -> {
        try (ByteSession session = strings.session()) {
          while (rounds.get() < ROUNDS) {
            session.atomically(
                namesKeys ? keys : null,
                its -> {
                  MemorySegment value = segment(String.valueOf(rounds.incrementAndGet()));
                  keys.reversed().forEach(key -> its.put(key, value));
                });
          }
          return null;
        } finally {
          writers.decrementAndGet();
        }
      });
      boolean scans = i == 1;
      tasks.add(() -> {
        try (ByteSession session = strings.session()) {
          while (writers.get() > 0) {
            List<Integer> seen = new ArrayList<>();
            if (scans) {
              session.scan(segment("key"), null, 1, (_, value) -> seen.add(number(value)));
              session.scan(segment("key 1"), null, 1, (_, value) -> seen.add(number(value)));
            } else {
              keys.forEach(key -> seen.add(loggedNumber(session, key)));
            }
            assertThat(seen).isSorted();
          }
          return null;
        }
      });
    }
    Threads.run(tasks);
    assertThat(log.replay()).isEqualTo(content());
  }

  /** Who reads a value finds it in the log. */
  private int loggedNumber(ByteSession session, MemorySegment key) {
    if (!session.get(key)) {
      return 0;
    }
    Object value = MemoryLog.text(session.value());
    assertThat(log.find(MemoryLog.text(key), 0, value)).isNotNegative();
    return number(session.value());
  }

  private static int number(MemorySegment value) {
    return Integer.parseInt(MemoryLog.text(value));
  }

  @Test
  void shouldChangeNothingIfTheLogIsFull() {
    try (DurableByteSession session = strings.session()) {
      session.store(segment("key 0"), segment("before"));
      log.leaveRoom(64);
      assertThatThrownBy(() ->
              session.atomically(
                  null,
                  its -> {
                    its.store(segment("key 0"), segment("after"));
                    its.store(segment("key 1"), segment("x".repeat(100)));
                  }))
          .isInstanceOf(LogFullException.class);
      assertThat(content()).isEqualTo(log.replay()).hasSize(1).containsValue("before");
      assertThat(log.reserved()).isZero();
      session.store(segment("key 1"), segment("after"));
    }
    assertThat(log.hasFailed()).isFalse();
  }

  /** Each round ends where undoing fails: then nobody may see what the log does not have. */
  @Test
  void shouldUndoWhatFailsHalfWay() {
    SplittableRandom random = new SplittableRandom(Seeds.of(88));
    FailingCalls failing = new FailingCalls(random.split(), 40);
    int undone = 0;
    for (int round = 0; round < 30; round++) {
      content().keySet().forEach(key -> discard(String.valueOf(key)));
      MemoryLog its = new MemoryLog(false);
      DurableStrings broken = new DurableStrings(failing.over(inner), its::session);
      try (ByteSession session = broken.session()) {
        while (!its.hasFailed()) {
          undone += isUndone(session, its, random) ? 1 : 0;
        }
        assertThatThrownBy(() -> session.store(segment("key"), segment("value")))
            .isInstanceOf(LogFailedException.class);
      }
    }
    assertThat(undone).isPositive();
  }

  private void discard(String key) {
    try (ByteSession session = inner.session()) {
      session.discard(segment(key));
    }
  }

  private boolean isUndone(ByteSession session, MemoryLog its, SplittableRandom random) {
    List<MemorySegment> keys = someKeys(random);
    String value = "value " + random.nextInt();
    try {
      session.atomically(keys, inside -> keys.forEach(key -> change(inside, key, random, value)));
      return false;
    } catch (StalledException e) {
      assertThat(its.replay()).isEqualTo(content());
      return true;
    } catch (RuntimeException | Error e) {
      assertThat(its.hasFailed()).isTrue();
      return false;
    }
  }

  @Test
  void shouldRefuseKeysThatOthersMayChange() {
    try (DurableByteSession session = strings.session()) {
      session.store(segment("a"), segment("before"));
      assertThatThrownBy(() ->
              session.atomically(
                  List.of(segment("a")),
                  its -> {
                    its.put(segment("a"), segment("after"));
                    its.put(segment("other"), segment("value"));
                  }))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the key is none of those that the action is for: key=6f74686572");
    }
    assertThat(log.replay()).isEqualTo(content()).hasSize(1).containsEntry("a", "before");
  }

  @Test
  void shouldSayThatUndoingFailed() {
    FailingCalls failing = new FailingCalls(new SplittableRandom(89), Integer.MAX_VALUE);
    DurableStrings broken = new DurableStrings(failing.over(inner), log::session);
    try (ByteSession session = broken.session()) {
      assertThatThrownBy(() ->
              session.atomically(
                  null,
                  its -> {
                    its.store(segment("key"), segment("value"));
                    failing.failChanges();
                    throw new ArithmeticException();
                  }))
          .isInstanceOf(UnknownOutcomeException.class)
          .hasMessageContaining("could not be undone: changes=1")
          .hasRootCauseInstanceOf(ArithmeticException.class);
    }
    assertThat(log.hasFailed()).isTrue();
  }

  @Test
  void shouldRefuseItsOwnSessionInside() {
    try (DurableByteSession session = strings.session()) {
      session.atomically(
          List.of(segment("a")),
          its -> {
            its.store(segment("a"), segment("value"));
            assertThatThrownBy(() -> session.store(segment("a"), segment("other")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("under way");
            assertThatThrownBy(() -> session.atomically(null, _ -> {}))
                .isInstanceOf(IllegalStateException.class);
          });
      session.store(segment("b"), segment("value"));
    }
    assertThat(log.replay()).isEqualTo(content()).hasSize(2).containsEntry("a", "value");
    try (DurableByteSession other = strings.session()) {
      assertThat(other.get(segment("a"))).isTrue();
    }
  }

  /** What a change replaces again, or undoes, was never there for others. */
  @Test
  void shouldShowNobodyWhatDoesNotStay() throws Exception {
    MemorySegment key = segment("key");
    try (ByteSession session = strings.session()) {
      session.store(key, segment("stays"));
    }
    AtomicInteger reads = new AtomicInteger();
    AtomicInteger writers = new AtomicInteger(1);
    List<Callable<Void>> tasks = new ArrayList<>();
    tasks.add(() -> {
      try (ByteSession session = strings.session()) {
        for (int n = 0; n < ROUNDS; n++) {
          boolean fails = n % 2 == 0;
          boolean removes = n % 4 < 2;
          try {
            session.atomically(List.of(key), its -> changeTwice(its, key, removes, fails, reads));
          } catch (ArithmeticException e) {
            assertThat(fails).isTrue();
          }
        }
        return null;
      } finally {
        writers.decrementAndGet();
      }
    });
    tasks.add(() -> {
      try (ByteSession session = strings.session()) {
        List<String> seen = new ArrayList<>();
        while (writers.get() > 0) {
          switch (reads.incrementAndGet() % 3) {
            case 0 -> seen.add(session.get(key) ? MemoryLog.text(session.value()) : "");
            case 1 -> seen.add(session.ceiling(key) ? MemoryLog.text(session.value()) : "");
            default -> {
              long count =
                  session.scan(key, null, 1, (_, value) -> seen.add(MemoryLog.text(value)));
              assertThat(count).isEqualTo(1);
            }
          }
        }
        assertThat(seen).containsOnly("stays");
        return null;
      }
    });
    Threads.run(tasks);
  }

  private static void changeTwice(
      ByteSession session, MemorySegment key, boolean removes, boolean fails, AtomicInteger reads) {
    int before = reads.get();
    if (removes) {
      session.discard(key);
    } else {
      session.store(key, segment("goes"));
    }
    for (int i = 0; i < 1_000 && reads.get() < before + 2; i++) {
      Thread.onSpinWait();
    }
    if (fails) {
      throw new ArithmeticException();
    }
    session.store(key, segment("stays"));
  }

  /** Nothing is logged, so no room is needed. */
  @Test
  void shouldReadTogetherIfTheLogIsFull() {
    try (DurableByteSession session = strings.session()) {
      session.store(segment("key"), segment("value"));
      log.leaveRoom(0);
      List<Object> seen = new ArrayList<>();
      session.atomically(
          List.of(segment("key")),
          its -> seen.add(its.get(segment("key")) ? MemoryLog.text(its.value()) : null));
      assertThat(seen).containsExactly("value");
    }
  }
}
