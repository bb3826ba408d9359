package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.index.Seeds;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** Operations that return before they are done. */
@Timeout(300)
class AsyncMapTest {
  private static final int OPERATIONS = Seeds.count(600, 3_000, 100_000);
  private static final int KEYS = 300;

  /** Says what an operation must have answered. */
  private record Expected<T>(CompletableFuture<T> answer, @Nullable T expected) {
    void check() {
      assertThat(answer.join()).isEqualTo(expected);
    }
  }

  static List<MapUnderTest> maps() {
    return MapUnderTest.ALL;
  }

  @ParameterizedTest
  @MethodSource("maps")
  void shouldDoWhatATreeMapDoesInTheOrderOfTheCalls(MapUnderTest kind) {
    SplittableRandom random = new SplittableRandom(Seeds.of(15));
    NavigableMap<Long, Long> model = new TreeMap<>();
    List<Expected<?>> answers = new ArrayList<>();
    try (OpenMap<Long, Long> open = kind.open()) {
      AsyncMap<Long, Long> map = open.map().async();
      for (int i = 0; i < OPERATIONS; i++) {
        answers.add(operate(map, model, random));
      }
      answers.forEach(Expected::check);
      assertThat(open.map()).isEqualTo(model);
    }
  }

  private static Expected<?> operate(
      AsyncMap<Long, Long> map, NavigableMap<Long, Long> model, SplittableRandom random) {
    long key = random.nextLong(KEYS) - KEYS / 2;
    long value = random.nextLong(1_000);
    Long before = model.get(key);
    return switch (random.nextInt(10)) {
      case 0 -> new Expected<>(map.put(key, value), model.put(key, value));
      case 1 -> new Expected<>(map.putIfAbsent(key, value), model.putIfAbsent(key, value));
      case 2 -> new Expected<>(map.remove(key), model.remove(key));
      case 3 -> new Expected<>(map.remove(key, value), model.remove(key, value));
      case 4 -> {
        long expected = before == null || random.nextInt(4) == 0 ? value + 1 : before;
        yield new Expected<>(
            map.replace(key, expected, value), model.replace(key, expected, value));
      }
      case 5 -> {
        List<Long> keys = LongStream.range(key, key + 20).boxed().toList();
        NavigableMap<Long, Long> found = new TreeMap<>(model);
        found.keySet().retainAll(keys);
        yield new Expected<>(map.getAll(keys), found);
      }
      case 6 -> {
        Map<Long, Long> stored = Map.of(key, value, key + 1, value + 1);
        model.putAll(stored);
        yield new Expected<>(map.putAll(stored), null);
      }
      default -> new Expected<>(map.get(key), before);
    };
  }

  @ParameterizedTest
  @MethodSource("maps")
  void shouldLookUpSeveralKeysTogether(MapUnderTest kind) {
    try (OpenMap<Long, Long> open = kind.open()) {
      PandoMap<Long, Long> map = open.map();
      Map<Long, Long> stored = new TreeMap<>();
      LongStream.range(0, 700).forEach(key -> stored.put(3 * key, 7 * key));
      map.putAll(stored);
      List<Long> keys = LongStream.range(0, 2_100).boxed().toList();

      assertThat(map.getAll(keys)).isEqualTo(stored);
      assertThat(map.getAll(keys.reversed())).isEqualTo(stored);
      assertThat(map.getAll(List.of(3L, 3L, 4L))).isEqualTo(Map.of(3L, 7L));
      assertThat(map.getAll(List.of())).isEmpty();
    }
  }

  /** A map whose thread waits while it encodes the value "wait", and fails at "fail". */
  private static final class Blocking {
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);

    private OpenMap<Long, String> open() {
      return OpenMap.of(
          SystemUnderTest.ALL.getFirst(),
          KeyCodec.longs(),
          ValueCodec.of(
              "blocking", this::encode, bytes -> new String(bytes, StandardCharsets.UTF_8)));
    }

    private byte[] encode(String value) {
      if (value.equals("wait")) {
        begun.countDown();
        try {
          go.await();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      if (value.equals("fail")) {
        throw new IllegalArgumentException("no encoding");
      }
      return value.getBytes(StandardCharsets.UTF_8);
    }
  }

  /** Has as many lookups wait as can. */
  private static List<CompletableFuture<@Nullable String>> fill(AsyncMap<Long, String> map) {
    List<CompletableFuture<@Nullable String>> waiting = new ArrayList<>();
    IntStream.range(0, AsyncMap.WAITING_MAX).forEach(_ -> waiting.add(map.get(0L)));
    return waiting;
  }

  @Test
  void shouldLetCallersWaitWhereManyOperationsWait() throws InterruptedException {
    Blocking blocking = new Blocking();
    try (OpenMap<Long, String> open = blocking.open()) {
      AsyncMap<Long, String> map = open.map().async();
      CompletableFuture<@Nullable String> first = map.put(0L, "wait");
      blocking.begun.await();
      List<CompletableFuture<@Nullable String>> waiting = fill(map);
      Thread caller = Thread.ofVirtual().start(() -> waiting.add(map.put(0L, "last")));
      assertThat(first).isNotDone();

      blocking.go.countDown();
      caller.join();

      waiting.removeLast().join();
      assertThat(waiting).allSatisfy(answer -> assertThat(answer.join()).isEqualTo("wait"));
      assertThat(open.map().get(0L)).isEqualTo("last");
    }
  }

  @Test
  void shouldFailOneOperationAndGoOn() {
    Blocking blocking = new Blocking();
    blocking.go.countDown();
    try (OpenMap<Long, String> open = blocking.open()) {
      AsyncMap<Long, String> map = open.map().async();
      CompletableFuture<@Nullable String> failing = map.put(1L, "fail");
      CompletableFuture<@Nullable String> fine = map.put(1L, "fine");

      assertThat(failing.handle((_, failure) -> failure).join())
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(fine.join()).isNull();
      assertThat(map.get(1L).join()).isEqualTo("fine");
    }
  }

  @Test
  void shouldLetWhatDependsOnAnAnswerUseTheMap() {
    try (OpenMap<Long, Long> open = MapUnderTest.BYTES.open()) {
      AsyncMap<Long, Long> map = open.map().async();
      List<CompletableFuture<@Nullable Long>> chains = new ArrayList<>();
      for (long key = 0; key < 200; key++) {
        long itsKey = key;
        chains.add(
            map.put(key, key)
                .thenApply(_ -> map.get(itsKey).join())
                .thenCompose(found -> map.put(itsKey, found + 1)));
      }

      chains.forEach(CompletableFuture::join);

      LongStream.range(0, 200).forEach(key -> assertThat(open.map().get(key)).isEqualTo(key + 1));
    }
  }

  @Test
  void shouldRefuseWhatHasNotBegunWhenTheMapCloses() throws InterruptedException {
    Blocking blocking = new Blocking();
    try (OpenMap<Long, String> open = blocking.open()) {
      AsyncMap<Long, String> map = open.map().async();
      CompletableFuture<@Nullable String> first = map.put(0L, "wait");
      blocking.begun.await();
      List<CompletableFuture<@Nullable String>> waiting = fill(map);
      Thread closing = Thread.ofVirtual().start(open.map()::close);
      while (!map.isClosed()) {
        Thread.onSpinWait();
      }
      blocking.go.countDown();
      closing.join();

      assertThat(first.join()).isNull();
      for (CompletableFuture<@Nullable String> answer : waiting) {
        assertThat(answer.handle((_, failure) -> failure).join())
            .isInstanceOf(IllegalStateException.class)
            .hasMessage("the map was closed before the operation began");
      }
      assertThatIllegalStateException().isThrownBy(() -> open.map().async());
      assertThatIllegalStateException().isThrownBy(() -> map.put(1L, "late"));
    }
  }

  @Test
  void shouldRefuseNull() {
    try (OpenMap<Long, Long> open = MapUnderTest.BYTES.open()) {
      AsyncMap<Long, Long> map = open.map().async();

      assertThatNullPointerException().isThrownBy(() -> map.get(nothing()));
      assertThatNullPointerException().isThrownBy(() -> map.put(1L, nothing()));
      assertThatNullPointerException().isThrownBy(() -> map.put(nothing(), 1L));
      assertThatNullPointerException().isThrownBy(() -> open.map().getAll(Arrays.asList(1L, null)));
      assertThat(map.put(1L, 1L).join()).isNull();
    }
  }

  @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"}) // What callers must not pass.
  private static <T> T nothing() {
    return null;
  }

  @Test
  void shouldSayWhatFailsWhereItIsWaitedFor() {
    Blocking blocking = new Blocking();
    try (OpenMap<Long, String> open = blocking.open()) {
      CompletableFuture<@Nullable String> failing = open.map().async().put(1L, "fail");

      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(failing::join)
          .withMessageContaining("no encoding");
    }
  }
}
