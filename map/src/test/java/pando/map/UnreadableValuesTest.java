package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.UnknownOutcomeException;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** A codec that throws where a value is decoded: what the caller learns, and what was done. */
@Timeout(120)
class UnreadableValuesTest {
  private static final Long KEY = 7L;
  private static final Long BEFORE = 100L;
  private static final Long AFTER = 200L;

  /** A codec of values that throws when it is told to. */
  private static final class Picky implements ValueCodec<Long> {
    private final ValueCodec<Long> values;
    private volatile @Nullable Throwable failure;

    Picky(ValueCodec<Long> values) {
      this.values = values;
    }

    @Override
    public int fixedBytes() {
      return values.fixedBytes();
    }

    @Override
    public int maxBytes(Long value) {
      return values.maxBytes(value);
    }

    @Override
    public int encode(Long value, MemorySegment to, long offset) {
      return values.encode(value, to, offset);
    }

    @Override
    public Long decode(MemorySegment from, long offset, int bytes) {
      if (failure instanceof RuntimeException exception) {
        throw exception;
      }
      if (failure instanceof Error error) {
        throw error;
      }
      return values.decode(from, offset, bytes);
    }

    @Override
    public String toString() {
      return "picky";
    }
  }

  private static OpenMap<Long, Long> open(MapUnderTest kind, Picky values) {
    KeyCodec<Long> keys = kind.system() == null ? new LongStrings() : KeyCodec.longs();
    if (!kind.byClient()) {
      return OpenMap.of(kind.system(), keys, values);
    }
    return kind.system() == null
        ? OpenMap.ofByteClient(keys, values)
        : OpenMap.ofClient(keys, values);
  }

  /** A call on a map that has {@link #KEY} alone. */
  private interface Call {
    @Nullable Object on(PandoMap<Long, Long> map);
  }

  /**
   * A call, and what is there after it.
   *
   * @param after {@code null} if the key is absent
   */
  private record Change(String name, Call call, @Nullable Long after) {}

  private static Stream<Change> changes() {
    return Stream.of(
        new Change("put", map -> map.put(KEY, AFTER), AFTER),
        new Change("replace", map -> map.replace(KEY, AFTER), AFTER),
        new Change("remove", map -> map.remove(KEY), null),
        new Change("poll first", map -> map.pollFirstEntry(), null),
        new Change("poll last", map -> map.descendingMap().pollFirstEntry(), null),
        new Change("poll a key", map -> map.keySet().pollFirst(), null),
        new Change("remove a key", map -> map.keySet().remove(KEY), null),
        new Change("remove of a view", map -> map.headMap(KEY, true).remove(KEY), null),
        new Change("put by a session", map -> inSession(map, each -> each.put(KEY, AFTER)), AFTER),
        new Change("remove by a session", map -> inSession(map, each -> each.remove(KEY)), null),
        new Change("put later", map -> map.async().put(KEY, AFTER).join(), AFTER),
        new Change("remove later", map -> map.async().remove(KEY).join(), null));
  }

  private static @Nullable Object inSession(
      PandoMap<Long, Long> map, Function<MapSession<Long, Long>, ?> call) {
    try (MapSession<Long, Long> session = map.session()) {
      return call.apply(session);
    }
  }

  /** Calls that change nothing before they have decoded, or nothing at all. */
  private static final List<Call> READS =
      List.of(
          map -> map.get(KEY),
          map -> map.firstEntry(),
          map -> map.putIfAbsent(KEY, AFTER),
          map -> map.merge(KEY, AFTER, Long::sum),
          map -> map.compute(KEY, (key, value) -> null),
          map -> map.computeIfPresent(KEY, (key, value) -> AFTER),
          map -> map.getAll(List.of(KEY)),
          map -> map.values().iterator().next(),
          map -> {
            map.replaceAll((key, value) -> AFTER);
            return null;
          });

  private static Throwable failureOf(Call call, PandoMap<Long, Long> map) {
    Throwable failure = catchThrowable(() -> call.on(map));
    return Objects.requireNonNull(
        failure instanceof CompletionException later ? later.getCause() : failure);
  }

  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#ALL")
  void shouldSayThatAChangeIsDoneWhoseValueCannotBeDecoded(MapUnderTest kind) {
    Picky values = new Picky(kind.blobs() ? new LongBlobs() : ValueCodec.longs());
    RuntimeException exception = new IllegalStateException("unreadable");
    Error error = new StackOverflowError("unreadable");
    try (OpenMap<Long, Long> open = open(kind, values)) {
      PandoMap<Long, Long> map = open.map();
      for (Throwable thrown : List.of(exception, error)) {
        changes()
            .forEach(change -> {
              map.put(KEY, BEFORE);
              values.failure = thrown;
              Throwable failure = failureOf(change.call, map);
              values.failure = null;
              assertThat(UnknownOutcomeException.isSaidBy(failure)).as(change.name).isTrue();
              if (thrown instanceof RuntimeException) {
                assertThat(failure)
                    .hasCause(exception)
                    .hasMessageStartingWith(
                        "the entry was changed, and its value before cannot be returned: key=");
              } else {
                assertThat(failure).isSameAs(error);
              }
              assertThat(map.get(KEY)).as(change.name).isEqualTo(change.after);
            });
      }
      map.put(KEY, BEFORE);
      checkEntry(map, values, exception);
      open.checkNoOrphans();
    }
  }

  private static void checkEntry(
      PandoMap<Long, Long> map, Picky values, RuntimeException exception) {
    Map.Entry<Long, Long> entry = map.entrySet().iterator().next();
    values.failure = exception;
    assertThat(catchThrowable(() -> entry.setValue(AFTER)))
        .isInstanceOf(UnknownOutcomeException.class)
        .hasCause(exception);
    values.failure = null;
    assertThat(map.get(KEY)).isEqualTo(AFTER);
  }

  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#ALL")
  void shouldChangeNothingBeforeAValueIsDecoded(MapUnderTest kind) {
    Picky values = new Picky(kind.blobs() ? new LongBlobs() : ValueCodec.longs());
    RuntimeException exception = new IllegalStateException("unreadable");
    try (OpenMap<Long, Long> open = open(kind, values)) {
      PandoMap<Long, Long> map = open.map();
      map.put(KEY, BEFORE);
      for (Call read : READS) {
        values.failure = exception;
        assertThat(failureOf(read, map)).isSameAs(exception);
        values.failure = null;
        assertThat(map.get(KEY)).isEqualTo(BEFORE);
      }
      values.failure = exception;
      map.putAll(Map.of(KEY, AFTER));
      assertThat(map.replace(KEY, AFTER, BEFORE)).isTrue();
      assertThat(map.remove(KEY, BEFORE)).isTrue();
      map.putAll(Map.of(KEY, AFTER));
      map.clear();
      assertThat(map).isEmpty();
      open.checkNoOrphans();
    }
  }
}
