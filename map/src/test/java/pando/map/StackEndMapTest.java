package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.index.DeepChanges;
import pando.index.Seeds;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** Maps at the end of the stack: calls, functions of {@code compute}, codecs. */
@Timeout(120)
class StackEndMapTest {
  private static final int ROUNDS = Seeds.count(1, 50);

  /** A value for which the codec calls itself until the stack ends. */
  private static final String ENDLESS = "endless";

  static Stream<Named<Supplier<OpenMap<Long, String>>>> maps() {
    List<Named<Supplier<OpenMap<Long, String>>>> all = new ArrayList<>();
    for (SystemUnderTest system : SystemUnderTest.PRODUCTS) {
      all.add(
          Named.of(system.systemName(), () -> OpenMap.of(system, KeyCodec.longs(), new Texts())));
    }
    all.add(Named.of("byte strings", () -> OpenMap.of(null, KeyCodec.longs(), new Texts())));
    all.add(Named.of("client", () -> OpenMap.ofByteClient(KeyCodec.longs(), new Texts())));
    return all.stream();
  }

  @ParameterizedTest
  @MethodSource("maps")
  void shouldLoseNothingWhereTheStackEnds(Supplier<OpenMap<Long, String>> opening)
      throws Exception {
    DeepChanges changes = new DeepChanges(4411);
    try (OpenMap<Long, String> open = opening.get()) {
      Calls calls = new Calls(open.map());
      for (int round = 0; round < ROUNDS; round++) {
        changes.descend(calls);
        changes.check(calls);
        List<String> expected = new ArrayList<>();
        DeepChanges.checked().forEach((key, value) -> expected.add(key + "=" + text(value)));
        List<String> found = new ArrayList<>();
        open.map().forEach((key, value) -> found.add(key + "=" + value));
        assertThat(found).isEqualTo(expected);
      }
      open.map().clear();
    }
  }

  /** Calls of a map. */
  private record Calls(PandoMap<Long, String> map)
      implements DeepChanges.Target, DeepChanges.Entries {
    @Override
    public long get(int key) {
      String text = map.get((long) key);
      return text == null ? -1 : Long.parseLong(text, 0, text.indexOf(' '), 10);
    }

    @Override
    public void store(int key, long value) {
      String text = text(value);
      switch ((int) value % 3) {
        case 0 -> map.put((long) key, text);
        case 1 -> map.compute((long) key, (_, _) -> text);
        default -> map.merge((long) key, text, (_, _) -> text);
      }
    }

    @Override
    public void remove(int key) {
      if (key % 2 == 0) {
        map.remove((long) key);
      } else {
        map.computeIfPresent((long) key, (_, _) -> null);
      }
    }

    @Override
    public void read(int kind, int key) {
      switch (kind) {
        case 0 -> map.get((long) key);
        case 1 -> map.ceilingEntry((long) key);
        default -> map.subMap((long) key, key + 10L).forEach((_, _) -> {});
      }
    }
  }

  private static String text(long number) {
    return number + " " + "x".repeat((int) number % 4 * 30);
  }

  @ParameterizedTest
  @MethodSource("maps")
  void shouldGoOnAfterTheCallerHasEndedTheStack(Supplier<OpenMap<Long, String>> opening) {
    try (OpenMap<Long, String> open = opening.get()) {
      PandoMap<Long, String> map = open.map();
      IntStream.range(0, 100).forEach(key -> map.put((long) key, text(key)));
      // More often than a map in this process has sessions: none may stay claimed.
      for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors() + 1; i++) {
        ends(() -> map.put(1L, ENDLESS));
        ends(() -> map.compute(1L, (_, _) -> endless("")));
        ends(() -> map.merge(1L, "", (_, _) -> endless("")));
        ends(() -> map.computeIfAbsent(1_000L, _ -> endless("")));
        ends(() -> map.forEach((_, value) -> endless(value)));
        ends(() -> map.replaceAll((_, _) -> ENDLESS));
      }
      assertThat(map).hasSize(100);
      IntStream.range(0, 100)
          .forEach(key -> assertThat(map.put((long) key, text(key))).isEqualTo(text(key)));
      map.clear();
    }
  }

  private static void ends(Runnable call) {
    assertThatThrownBy(call::run).isInstanceOf(StackOverflowError.class);
  }

  @SuppressWarnings("InfiniteRecursion")
  private static String endless(String text) {
    return endless(text) + text;
  }

  /** Encodes text, but one. */
  private static final class Texts implements ValueCodec<String> {
    private final ValueCodec<String> strings = ValueCodec.strings();

    @Override
    public int fixedBytes() {
      return strings.fixedBytes();
    }

    @Override
    public int maxBytes(String value) {
      return strings.maxBytes(value);
    }

    @Override
    public int encode(String value, MemorySegment to, long offset) {
      return strings.encode(value.equals(ENDLESS) ? endless(value) : value, to, offset);
    }

    @Override
    public String decode(MemorySegment from, long offset, int bytes) {
      return strings.decode(from, offset, bytes);
    }

    @Override
    public String toString() {
      return "texts";
    }
  }
}
