package pando.index.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.FencedException;
import pando.fabric.UnknownOutcomeException;
import pando.index.EntryVisitor;
import pando.index.Lease;
import pando.index.Seeds;
import pando.index.Session;

class RoutedSessionTest {
  private static final Lease LOST =
      new Lease() {
        @Override
        public boolean isHeld() {
          return false;
        }

        @Override
        public void await() {
          throw new FencedException("fenced");
        }
      };

  private final List<String> retired = new ArrayList<>();
  private final List<String> operated = new ArrayList<>();
  private final List<List<Long>> groups = new ArrayList<>();

  @Test
  void shouldEndEveryWorkerWhereOneThrowsAnError() {
    Routed session = new Routed();
    session.setWorker(0, "first");
    session.setWorker(1, "second");
    assertThatThrownBy(session::close)
        .isInstanceOf(StackOverflowError.class)
        .hasMessage("first")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
    assertThat(retired).containsExactly("first", "second");
    session.close();
    assertThat(retired).hasSize(2);
  }

  @Test
  void shouldSendChangesWithoutAnAnswerAsSuch() {
    Routed session = new Routed();
    session.store(3, 4);
    session.discard(5);
    assertThat(operated).containsExactly("STORE 3 4", "DISCARD 5 0");
    for (Operation operation : Operation.values()) {
      assertThat(Operation.of(operation.code)).isEqualTo(operation);
    }
  }

  @Test
  void shouldGiveEachComputeServerItsKeysAtOnce() {
    long[] keys = {-7, 1, 205, 2, 201, 1, 99, 300, -7};
    long[] values = new long[keys.length];
    boolean[] found = new boolean[keys.length];
    assertThat(new Routed().getAll(keys, 1, 7, values, found)).isEqualTo(5);
    assertThat(groups)
        .containsExactly(List.of(1L, 2L, 1L, 99L), List.of(205L, 201L), List.of(300L));
    assertThat(values).containsExactly(0, -1, -205, 0, -201, -1, -99, 0, 0);
    assertThat(found).containsExactly(false, true, true, false, true, true, true, false, false);
  }

  @Test
  void shouldStoreTheKeysOfEachComputeServerInOrder() {
    long[] keys = {-7, 1, 205, 2, 201, 1, 99, 300, -7};
    long[] values = {0, 10, 20, 30, 40, 50, 60, 70, 80};
    new Routed().putAll(keys, 1, 7, values);
    assertThat(groups)
        .containsExactly(List.of(1L, 1L, 2L, 99L), List.of(201L, 205L), List.of(300L));
    assertThat(operated)
        .containsExactly(
            "STORE 1 10",
            "STORE 1 50",
            "STORE 2 30",
            "STORE 99 60",
            "STORE 201 40",
            "STORE 205 20",
            "STORE 300 70");
  }

  @Test
  void shouldStoreTheLastValueOfAKeyThatComesManyTimes() {
    int count = 3 * KeyGroups.KEYS_MAX - 1;
    SplittableRandom random = new SplittableRandom(Seeds.of(661));
    long[] keys = random.longs(count, 0, 90).toArray();
    long[] values = LongStream.range(0, count).toArray();
    Map<Long, Long> expected = new HashMap<>();
    for (int i = 0; i < count; i++) {
      expected.put(keys[i], values[i]);
    }
    new Routed().putAll(keys, 0, count, values);
    Map<Long, Long> stored = new HashMap<>();
    for (String operation : operated) {
      String[] parts = operation.split(" ", -1);
      stored.put(Long.valueOf(parts[1]), Long.valueOf(parts[2]));
    }
    assertThat(operated).hasSize(count);
    assertThat(stored).isEqualTo(expected);
  }

  @Test
  void shouldDivideManyKeys() {
    int count = 2 * KeyGroups.KEYS_MAX + 1;
    long[] keys = LongStream.range(0, count).toArray();
    boolean[] found = new boolean[count];
    assertThat(new Routed().getAll(keys, 0, count, new long[count], found)).isEqualTo(count / 2);
    assertThat(groups.stream().flatMap(List::stream))
        .containsExactlyInAnyOrderElementsOf(LongStream.of(keys).boxed().toList());
    assertThat(groups).allSatisfy(group -> assertThat(group).hasSizeLessThanOrEqualTo(100));
    assertThat(found[count - 2]).isTrue();
  }

  static Stream<Named<Consumer<Session>>> questions() {
    return Stream.of(
        Named.of("get", session -> session.get(1)),
        Named.of(
            "getAll", session -> session.getAll(new long[1], 0, 1, new long[1], new boolean[1])),
        Named.of("floor", session -> session.floor(1)),
        Named.of("ceiling", session -> session.ceiling(1)),
        Named.of("lower", session -> session.lower(1)),
        Named.of("lower than all", session -> session.lower(Long.MIN_VALUE)),
        Named.of("higher", session -> session.higher(1)),
        Named.of("first", Session::first),
        Named.of("last", Session::last),
        Named.of("scan", session -> session.scan(1, 9, 9, (_, _) -> true)),
        Named.of("scanDown", session -> session.scanDown(9, 1, 9, (_, _) -> true)),
        Named.of("sizeEstimate", Session::sizeEstimate),
        Named.of("servedSizeEstimate", Session::servedSizeEstimate));
  }

  static Stream<Named<Consumer<Session>>> changes() {
    return Stream.of(
        Named.of("put", session -> session.put(1, 2)),
        Named.of("putIfAbsent", session -> session.putIfAbsent(1, 2)),
        Named.of("update", session -> session.update(1, 2)),
        Named.of("remove", session -> session.remove(1)),
        Named.of("replace", session -> session.replace(1, 2, 3)),
        Named.of("remove expected", session -> session.remove(1, 2)),
        Named.of("store", session -> session.store(1, 2)),
        Named.of("discard", session -> session.discard(1)),
        Named.of("putAll", session -> session.putAll(new long[1], 0, 1, new long[2])));
  }

  @ParameterizedTest
  @MethodSource("questions")
  void shouldNotSayThatNothingIsThereWithoutTheLease(Consumer<Session> question) {
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> question.accept(new Routed(LOST)));
  }

  @ParameterizedTest
  @MethodSource("changes")
  void shouldNotKnowWhatAChangeCameToWithoutTheLease(Consumer<Session> change) {
    assertThatExceptionOfType(UnknownOutcomeException.class)
        .isThrownBy(() -> change.accept(new Routed(LOST)));
    assertThat(operated).hasSize(1);
  }

  /** Has workers that do nothing, and cannot be ended. */
  private final class Routed extends RoutedSession<String> {
    Routed() {
      this(null);
    }

    Routed(@Nullable Lease lease) {
      super(2, lease);
    }

    @Override
    protected boolean operate(Request wanted) {
      operated.add(wanted.operation() + " " + wanted.key() + " " + wanted.stored());
      return false;
    }

    /** Has a compute server for every hundred keys; those of odd keys are there. */
    @Override
    protected void operate(KeyGroups wanted) {
      long low = Math.floorDiv(wanted.next(), 100) * 100;
      wanted.take(low, low + 99);
      List<Long> group = new ArrayList<>();
      for (int i = 0; i < wanted.size(); i++) {
        long key = wanted.key(i);
        group.add(key);
        if (wanted.areStored()) {
          operate(wanted.request(i, new Request()));
        } else {
          wanted.set(i, key % 2 != 0, -key);
        }
      }
      groups.add(group);
    }

    @Override
    protected boolean neighbour(long wanted, boolean down) {
      return false;
    }

    @Override
    protected long visit(long from, long to, boolean down, long limit, EntryVisitor visitor) {
      return 0;
    }

    @Override
    protected long highOfRange(long wanted) {
      return Long.MAX_VALUE;
    }

    @Override
    protected double estimateSize(long low) {
      return 0;
    }

    @Override
    protected void runAlone(Runnable action) {
      action.run();
    }

    @Override
    protected void checkIndexOpen() {}

    @Override
    protected void retire(String worker) {
      retired.add(worker);
      throw new StackOverflowError(worker);
    }
  }
}
