package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.entry;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.Spliterator;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a concurrent navigable map promises, method by method, over each system and each view. */
@Timeout(120)
class MapContractTest {
  private static final int KEYS = 5;
  private static final Map<MapUnderTest, OpenMap<Long, Long>> OPEN = new HashMap<>();

  /** Each kind with each view; over a client, where each call takes longer, with two of them. */
  static Stream<Arguments> views() {
    return Stream.concat(
        MapUnderTest.EMBEDDED.stream().flatMap(kind -> arguments(kind, View.values())),
        Stream.of(MapUnderTest.CLIENT, MapUnderTest.BYTES_BY_CLIENT)
            .flatMap(kind -> arguments(kind, View.WHOLE, View.REVERSED_RANGE)));
  }

  private static Stream<Arguments> arguments(MapUnderTest kind, View... views) {
    return Stream.of(views).map(view -> Arguments.of(kind, view));
  }

  @AfterAll
  static void closeAll() {
    OPEN.values().forEach(OpenMap::close);
    OPEN.clear();
  }

  private static PandoMap<Long, Long> emptyMap(MapUnderTest kind) {
    PandoMap<Long, Long> map = OPEN.computeIfAbsent(kind, MapUnderTest::open).map();
    map.clear();
    return map;
  }

  /** Returns a view without entries; if it is a part, there are entries around it. */
  private static ConcurrentNavigableMap<Long, Long> empty(MapUnderTest kind, View view) {
    PandoMap<Long, Long> map = emptyMap(kind);
    if (view.isPart()) {
      for (long key = 1; key < 20; key++) {
        map.put(-key, 0L);
        map.put(View.END + key, 0L);
      }
    }
    return view.of(map);
  }

  /** Returns a view with the keys 1 to 5, and the negated keys as values. */
  private static ConcurrentNavigableMap<Long, Long> five(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = empty(kind, view);
    for (int i = 0; i < KEYS; i++) {
      int number = 1 + (3 * i) % KEYS;
      map.put(view.key(number), -view.key(number));
    }
    return map;
  }

  private static List<Long> keys(View view, int from, int to) {
    return IntStream.rangeClosed(from, to).mapToObj(view::key).toList();
  }

  private static Map.@Nullable Entry<Long, Long> found(View view, int number) {
    return number < 1 || number > KEYS ? null : entry(view.key(number), -view.key(number));
  }

  private static @Nullable Long keyOf(Map.@Nullable Entry<Long, Long> found) {
    return found == null ? null : found.getKey();
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldFindNeighbours(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    for (int i = 0; i <= KEYS + 1; i++) {
      Long key = view.key(i);
      int clipped = Math.min(i, KEYS + 1);
      assertThat(map.lowerEntry(key)).isEqualTo(found(view, i - 1));
      assertThat(map.higherEntry(key)).isEqualTo(found(view, i + 1));
      assertThat(map.floorEntry(key)).isEqualTo(found(view, Math.min(clipped, KEYS)));
      assertThat(map.ceilingEntry(key)).isEqualTo(found(view, Math.max(clipped, 1)));
      assertThat(map.lowerKey(key)).isEqualTo(keyOf(found(view, i - 1)));
      assertThat(map.higherKey(key)).isEqualTo(keyOf(found(view, i + 1)));
      assertThat(map.floorKey(key)).isEqualTo(keyOf(found(view, Math.min(clipped, KEYS))));
      assertThat(map.ceilingKey(key)).isEqualTo(keyOf(found(view, Math.max(clipped, 1))));
    }
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldFindNeighboursBetweenKeys(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    Long between = (view.key(2) + view.key(3)) / 2;
    assertThat(map.lowerKey(between)).isEqualTo(view.key(2));
    assertThat(map.floorKey(between)).isEqualTo(view.key(2));
    assertThat(map.ceilingKey(between)).isEqualTo(view.key(3));
    assertThat(map.higherKey(between)).isEqualTo(view.key(3));
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldFindNeighboursOfTheEndsOfLong(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    boolean reversed = view.key(0) > view.key(1);
    Long first = reversed ? Long.MAX_VALUE : Long.MIN_VALUE;
    Long last = reversed ? Long.MIN_VALUE : Long.MAX_VALUE;
    assertThat(map.lowerEntry(first)).isNull();
    assertThat(map.floorKey(first)).isNull();
    assertThat(map.higherKey(first)).isEqualTo(view.key(1));
    assertThat(map.ceilingKey(first)).isEqualTo(view.key(1));
    assertThat(map.higherEntry(last)).isNull();
    assertThat(map.ceilingKey(last)).isNull();
    assertThat(map.lowerKey(last)).isEqualTo(view.key(KEYS));
    assertThat(map.floorKey(last)).isEqualTo(view.key(KEYS));
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldFindEnds(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    assertThat(map.firstEntry()).isEqualTo(found(view, 1));
    assertThat(map.lastEntry()).isEqualTo(found(view, KEYS));
    assertThat(map.firstKey()).isEqualTo(view.key(1));
    assertThat(map.lastKey()).isEqualTo(view.key(KEYS));
    assertThat(map.keySet().first()).isEqualTo(view.key(1));
    assertThat(map.descendingKeySet().first()).isEqualTo(view.key(KEYS));
    map.clear();
    assertThat(map.firstEntry()).isNull();
    assertThat(map.lastEntry()).isNull();
    assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(map::firstKey);
    assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(map::lastKey);
    assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(map.keySet()::first);
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldPollEnds(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    assertThat(map.pollFirstEntry()).isEqualTo(found(view, 1));
    assertThat(map.pollLastEntry()).isEqualTo(found(view, KEYS));
    assertThat(map.keySet().pollFirst()).isEqualTo(view.key(2));
    assertThat(map.keySet().pollLast()).isEqualTo(view.key(4));
    assertThat(map.pollLastEntry()).isEqualTo(found(view, 3));
    assertThat(map.pollFirstEntry()).isNull();
    assertThat(map.pollLastEntry()).isNull();
    assertThat(map.keySet().pollFirst()).isNull();
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldReturnEntriesThatDoNotChange(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    List<Map.@Nullable Entry<Long, Long>> entries = new ArrayList<>();
    entries.add(map.firstEntry());
    entries.add(map.lastEntry());
    entries.add(map.lowerEntry(view.key(3)));
    entries.add(map.floorEntry(view.key(3)));
    entries.add(map.ceilingEntry(view.key(3)));
    entries.add(map.higherEntry(view.key(3)));
    entries.add(map.pollFirstEntry());
    for (Map.Entry<Long, Long> each : entries) {
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(() -> Objects.requireNonNull(each).setValue(7L));
    }
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldPutAndRemove(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = empty(kind, view);
    Long key = view.key(3);
    assertThat(map.get(key)).isNull();
    assertThat(map.getOrDefault(key, 9L)).isEqualTo(9);
    assertThat(map.put(key, 1L)).isNull();
    assertThat(map.put(key, 2L)).isEqualTo(1);
    assertThat(map.putIfAbsent(key, 3L)).isEqualTo(2);
    assertThat(map.putIfAbsent(view.key(4), 3L)).isNull();
    assertThat(map.get(key)).isEqualTo(2);
    assertThat(map.containsKey(key)).isTrue();
    assertThat(map.containsKey(view.key(5))).isFalse();
    assertThat(map.containsValue(3L)).isTrue();
    assertThat(map.containsValue(4L)).isFalse();
    assertThat(map.remove(key)).isEqualTo(2);
    assertThat(map.remove(key)).isNull();
    assertThat(map).containsExactly(entry(view.key(4), 3L));
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldChangeWhatIsExpected(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    Long key = view.key(2);
    assertThat(map.replace(key, 0L)).isEqualTo(-key);
    assertThat(map.replace(key, 1L, 2L)).isFalse();
    assertThat(map.replace(key, 0L, 2L)).isTrue();
    assertThat(map.replace(view.key(7), 2L)).isNull();
    assertThat(map.replace(view.key(7), 0L, 2L)).isFalse();
    assertThat(map.remove(key, 0L)).isFalse();
    assertThat(map.get(key)).isEqualTo(2);
    assertThat(map.remove(key, 2L)).isTrue();
    assertThat(map.remove(key, 2L)).isFalse();
    assertThat(map.containsKey(key)).isFalse();
    assertThat(map).hasSize(KEYS - 1);
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldCompute(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    Long present = view.key(2);
    Long absent = view.key(8);
    assertThat(map.compute(present, (key, value) -> key + value + 7)).isEqualTo(7);
    assertThat(map.computeIfPresent(present, (key, value) -> value + 1)).isEqualTo(8);
    assertThat(map.computeIfAbsent(present, key -> 0L)).isEqualTo(8);
    assertThat(map.merge(present, 2L, Long::sum)).isEqualTo(10);
    assertThat(map.get(present)).isEqualTo(10);
    assertThat(map.compute(present, (key, value) -> null)).isNull();
    assertThat(map.containsKey(present)).isFalse();
    assertThat(map.computeIfPresent(absent, (key, value) -> 1L)).isNull();
    assertThat(map.computeIfAbsent(absent, key -> null)).isNull();
    assertThat(map.compute(absent, (key, value) -> null)).isNull();
    assertThat(map.containsKey(absent)).isFalse();
    assertThat(map.computeIfAbsent(absent, key -> key + 1)).isEqualTo(absent + 1);
    assertThat(map.computeIfPresent(absent, (key, value) -> null)).isNull();
    assertThat(map.merge(absent, 3L, Long::sum)).isEqualTo(3);
    assertThat(map.merge(absent, 3L, (one, other) -> null)).isNull();
    assertThat(map.compute(absent, (key, value) -> value == null ? 5L : 6L)).isEqualTo(5);
    map.replaceAll((key, value) -> key);
    assertThat(map).allSatisfy((key, value) -> assertThat(value).isEqualTo(key)).hasSize(KEYS);
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldLeaveAnEntryAloneWhoseFunctionThrows(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    Long present = view.key(2);
    Long absent = view.key(8);
    IllegalCallerException failure = new IllegalCallerException("of a test");
    List<Runnable> calls =
        List.of(
            () -> map.compute(present, (key, value) -> fail(failure)),
            () -> map.compute(absent, (key, value) -> fail(failure)),
            () -> map.computeIfAbsent(absent, key -> fail(failure)),
            () -> map.computeIfPresent(present, (key, value) -> fail(failure)),
            () -> map.merge(present, 1L, (one, other) -> fail(failure)),
            () -> map.replaceAll((key, value) -> fail(failure)),
            () -> map.forEach((key, value) -> fail(failure)),
            () -> map.keySet().removeIf(key -> fail(failure) == 0),
            () -> map.entrySet().removeIf(each -> fail(failure) == 0),
            () -> map.values().forEach(value -> fail(failure)));
    for (Runnable call : calls) {
      assertThatExceptionOfType(IllegalCallerException.class)
          .isThrownBy(call::run)
          .isSameAs(failure);
    }
    assertThat(map.keySet()).containsExactlyElementsOf(keys(view, 1, KEYS));
    assertThat(map.get(present)).isEqualTo(-present);
  }

  private static Long fail(RuntimeException failure) {
    throw failure;
  }

  /** Deeper than there are sessions: none is claimed while a function runs. */
  @ParameterizedTest
  @MethodSource("views")
  void shouldLetFunctionsUseTheMap(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = empty(kind, view);
    Long deepest = nested(map, view, 2 * 2 * Runtime.getRuntime().availableProcessors());
    assertThat(deepest).isEqualTo(0);
    assertThat(map.get(view.key(3))).isNotNull();
    map.put(view.key(4), 1L);
    map.forEach((key, value) -> map.forEach((k, v) -> map.merge(view.key(5), v, Long::sum)));
    map.entrySet().removeIf(each -> map.containsValue(each.getValue()));
    assertThat(map).isEmpty();
  }

  private static Long nested(ConcurrentNavigableMap<Long, Long> map, View view, int depth) {
    if (depth == 0) {
      return 0L;
    }
    map.put(view.key(3), (long) depth);
    Long result = map.compute(view.key(depth % 2), (key, value) -> nested(map, view, depth - 1));
    return Objects.requireNonNull(result);
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldHaveKeysInOrder(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    NavigableSet<Long> set = map.keySet();
    List<Long> down = new ArrayList<>(keys(view, 1, KEYS));
    Collections.reverse(down);
    assertThat(set).containsExactlyElementsOf(keys(view, 1, KEYS));
    assertThat(map.navigableKeySet()).containsExactlyElementsOf(keys(view, 1, KEYS));
    assertThat(map.descendingKeySet()).containsExactlyElementsOf(down);
    assertThat(set.descendingSet()).containsExactlyElementsOf(down);
    List<Long> iterated = new ArrayList<>();
    set.descendingIterator().forEachRemaining(iterated::add);
    assertThat(iterated).isEqualTo(down);
    assertThat(set.toArray()).containsExactly(keys(view, 1, KEYS).toArray());
    assertThat(set.toArray(new Long[0])).containsExactlyElementsOf(keys(view, 1, KEYS));
    assertThat(set.equals(Set.copyOf(keys(view, 1, KEYS)))).isTrue();
    assertThat(set.lower(view.key(2))).isEqualTo(view.key(1));
    assertThat(set.floor(view.key(2))).isEqualTo(view.key(2));
    assertThat(set.ceiling(view.key(2))).isEqualTo(view.key(2));
    assertThat(set.higher(view.key(2))).isEqualTo(view.key(3));
    assertThat(set.subSet(view.key(2), view.key(4)).equals(Set.copyOf(keys(view, 2, 3)))).isTrue();
    assertThat(set.headSet(view.key(2))).containsExactly(view.key(1));
    assertThat(set.tailSet(view.key(4))).containsExactlyElementsOf(keys(view, 4, 5));
    assertThat(set.remove(view.key(1))).isTrue();
    assertThat(set.remove(view.key(1))).isFalse();
    assertThat(set.retainAll(keys(view, 2, 3))).isTrue();
    assertThat(map.keySet()).containsExactlyElementsOf(keys(view, 2, 3));
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> set.add(view.key(1)));
    set.clear();
    assertThat(map).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldHaveValuesInTheOrderOfKeys(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    Collection<Long> values = map.values();
    List<Long> expected = keys(view, 1, KEYS).stream().map(key -> -key).toList();
    assertThat(values).containsExactlyElementsOf(expected);
    assertThat(values.contains(-view.key(2))).isTrue();
    assertThat(values.remove(-view.key(2))).isTrue();
    assertThat(values.remove(-view.key(2))).isFalse();
    assertThat(values.removeIf(value -> value.equals(-view.key(4)))).isTrue();
    assertThat(values.removeIf(value -> false)).isFalse();
    assertThat(map.keySet()).containsExactly(view.key(1), view.key(3), view.key(5));
    assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> values.add(1L));
    values.clear();
    assertThat(map).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldHaveEntries(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    Set<Map.Entry<Long, Long>> entries = map.entrySet();
    assertThat(entries).hasSize(KEYS).contains(entry(view.key(2), -view.key(2)));
    assertThat(entries.contains(entry(view.key(2), 0L))).isFalse();
    assertThat(entries.contains((Object) "2")).isFalse();
    assertThat(entries.remove(entry(view.key(2), 0L))).isFalse();
    assertThat(entries.remove(entry(view.key(2), -view.key(2)))).isTrue();
    assertThat(entries.remove((Object) "2")).isFalse();
    assertThat(entries.removeIf(each -> each.getKey().equals(view.key(5)))).isTrue();
    assertThat(map.keySet()).containsExactly(view.key(1), view.key(3), view.key(4));
    assertThat(entries.equals(new TreeMap<>(map).entrySet())).isTrue();
    entries.clear();
    assertThat(map).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldRemoveAndSetWhileIterating(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    Iterator<Map.Entry<Long, Long>> entries = map.entrySet().iterator();
    assertThatIllegalStateException().isThrownBy(entries::remove);
    Map.Entry<Long, Long> first = entries.next();
    assertThat(first.setValue(7L)).isEqualTo(-view.key(1));
    assertThat(first.getValue()).isEqualTo(7);
    assertThat(map.get(view.key(1))).isEqualTo(7);
    entries.next();
    entries.remove();
    assertThatIllegalStateException().isThrownBy(entries::remove);
    assertThat(map.keySet()).containsExactly(view.key(1), view.key(3), view.key(4), view.key(5));
    Map.Entry<Long, Long> third = entries.next();
    map.remove(view.key(3));
    third.setValue(8L);
    assertThat(map.containsKey(view.key(3))).as("stays removed").isFalse();
    entries.next();
    entries.next();
    assertThat(entries.hasNext()).isFalse();
    assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(entries::next);
    Iterator<Long> keys = map.keySet().iterator();
    keys.next();
    keys.remove();
    Iterator<Long> values = map.values().iterator();
    values.next();
    values.remove();
    assertThat(map.keySet()).containsExactly(view.key(5));
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldIterateOverMoreThanABatch(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = empty(kind, view);
    for (long key = View.END; key >= 0; key--) {
      map.put(key, key);
    }
    List<Long> expected = new ArrayList<>();
    for (long key = 0; key <= View.END; key++) {
      expected.add(key);
    }
    expected.sort(map.comparator() == null ? Comparator.naturalOrder() : map.comparator());
    assertThat(new ArrayList<>(map.keySet())).isEqualTo(expected);
    assertThat(map.values().stream().toList()).isEqualTo(expected);
    assertThat(map.keySet().parallelStream().map(key -> key).toList()).isEqualTo(expected);
    assertThat(map.entrySet().parallelStream().mapToLong(Map.Entry::getValue).sum())
        .isEqualTo(View.END * (View.END + 1) / 2);
    assertThat(map).hasSize(expected.size());
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldSplitInOrder(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    Spliterator<Long> keys = map.keySet().spliterator();
    assertThat(
            keys.hasCharacteristics(
                Spliterator.ORDERED
                    | Spliterator.SORTED
                    | Spliterator.DISTINCT
                    | Spliterator.NONNULL
                    | Spliterator.CONCURRENT))
        .isTrue();
    assertThat(keys.hasCharacteristics(Spliterator.SIZED)).isFalse();
    assertThat((Object) keys.getComparator()).isEqualTo(map.comparator());
    List<Long> seen = new ArrayList<>();
    collect(keys, seen);
    assertThat(seen).isEqualTo(keys(view, 1, KEYS));
    assertThatIllegalStateException().isThrownBy(() -> map.values().spliterator().getComparator());
    assertThat(map.entrySet().spliterator().getComparator())
        .satisfies(order ->
            assertThat(order.compare(entry(view.key(1), 0L), entry(view.key(2), 0L))).isNegative());
  }

  private static void collect(Spliterator<Long> source, List<Long> seen) {
    Spliterator<Long> front = source.trySplit();
    if (front != null) {
      collect(front, seen);
      collect(source, seen);
    }
    source.forEachRemaining(seen::add);
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldHaveParts(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    for (int from = 0; from <= KEYS + 1; from++) {
      for (int to = 0; to <= KEYS + 1; to++) {
        for (int included = 0; included < 4; included++) {
          checkPart(map, view, from, (included & 1) == 0, to, (included & 2) == 0);
        }
      }
    }
  }

  private static void checkPart(
      ConcurrentNavigableMap<Long, Long> map,
      View view,
      int from,
      boolean fromIncluded,
      int to,
      boolean toIncluded) {
    int first = Math.max(1, fromIncluded ? from : from + 1);
    int last = Math.min(KEYS, toIncluded ? to : to - 1);
    assertThat(map.headMap(view.key(to), toIncluded).keySet())
        .containsExactlyElementsOf(keys(view, 1, last));
    assertThat(map.tailMap(view.key(from), fromIncluded).keySet())
        .containsExactlyElementsOf(keys(view, first, KEYS));
    if (from > to) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.subMap(view.key(from), fromIncluded, view.key(to), toIncluded))
          .withMessageStartingWith(
              "range is reversed: from=%s, to=%s", view.key(from), view.key(to));
      return;
    }
    ConcurrentNavigableMap<Long, Long> part =
        map.subMap(view.key(from), fromIncluded, view.key(to), toIncluded);
    List<Long> expected = keys(view, first, last);
    assertThat(part.keySet()).containsExactlyElementsOf(expected);
    assertThat(part.size()).isEqualTo(expected.size());
    assertThat(part.isEmpty()).isEqualTo(expected.isEmpty());
    assertThat(part.descendingMap().descendingMap()).isEqualTo(part);
    assertThat(keyOf(part.firstEntry())).isEqualTo(expected.isEmpty() ? null : view.key(first));
    assertThat(keyOf(part.lastEntry())).isEqualTo(expected.isEmpty() ? null : view.key(last));
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldKeepPartsInsideOfParts(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    ConcurrentNavigableMap<Long, Long> part = map.subMap(view.key(2), view.key(4));
    assertThat(part.keySet()).containsExactly(view.key(2), view.key(3));
    assertThat(part.get(view.key(4))).isNull();
    assertThat(part.remove(view.key(4))).isNull();
    assertThat(part.containsKey(view.key(1))).isFalse();
    assertThat(part.floorKey(view.key(9))).isEqualTo(view.key(3));
    assertThat(part.ceilingKey(view.key(0))).isEqualTo(view.key(2));
    assertThat(part.higherKey(view.key(3))).isNull();
    assertThat(part.put(view.key(3), 0L)).isEqualTo(-view.key(3));
    assertThat(map.get(view.key(3))).isEqualTo(0);
    List<Runnable> outside =
        List.of(
            () -> part.put(view.key(4), 0L),
            () -> part.putIfAbsent(view.key(1), 0L),
            () -> part.replace(view.key(1), 0L),
            () -> part.replace(view.key(4), 0L, 1L),
            () -> part.merge(view.key(6), 0L, Long::sum),
            () -> part.computeIfAbsent(view.key(6), key -> 0L),
            () -> part.headMap(view.key(5)),
            () -> part.tailMap(view.key(1)),
            () -> part.subMap(view.key(1), view.key(3)),
            () -> part.subMap(view.key(2), true, view.key(4), true),
            () -> part.keySet().headSet(view.key(5)));
    long least = Math.min(view.key(2), view.key(4));
    long greatest = Math.max(view.key(2), view.key(4));
    for (Runnable call : outside) {
      assertThatIllegalArgumentException()
          .isThrownBy(call::run)
          .withMessageContainingAll("not inside of the view", "low=" + least, "high=" + greatest);
    }
    assertThat(part.headMap(view.key(4)).keySet()).containsExactlyElementsOf(keys(view, 2, 3));
    part.clear();
    assertThat(map.keySet()).containsExactly(view.key(1), view.key(4), view.key(5));
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldBeEqualToOtherMaps(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    NavigableMap<Long, Long> model = new TreeMap<>(map.comparator());
    keys(view, 1, KEYS).forEach(key -> model.put(key, -key));
    assertThat(map.equals(model)).isTrue();
    assertThat(model.equals(map)).isTrue();
    assertThat(map.hashCode()).isEqualTo(model.hashCode());
    assertThat(map.toString()).isEqualTo(model.toString());
    assertThat(map.keySet().toString()).isEqualTo(model.keySet().toString());
    model.put(view.key(1), 0L);
    assertThat(map.equals(model)).isFalse();
    assertThat((Object) map).isNotEqualTo(Map.of("1", "2"));
    map.putAll(model);
    assertThat(map).isEqualTo(model);
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldPutSeveral(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    Map<Long, Long> several = new HashMap<>();
    for (long key = 0; key <= View.END; key++) {
      several.put(key, key * key);
    }
    map.putAll(several);
    assertThat(map.equals(several)).isTrue();
    map.putAll(Map.of());
    map.putAll(map);
    assertThat(map.equals(several)).isTrue();
    if (view.isPart()) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.putAll(Map.of(1L, 7L, View.END + 1, 7L)))
          .withMessageContaining("not inside of the view");
      assertThat(map.equals(several)).isTrue();
    }
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldLeaveOthersAlone(MapUnderTest kind, View view) {
    PandoMap<Long, Long> whole = emptyMap(kind);
    five(kind, view);
    int others = whole.size() - KEYS;
    ConcurrentNavigableMap<Long, Long> map = view.of(whole);
    assertThat(map).hasSize(KEYS);
    map.clear();
    assertThat(map).isEmpty();
    assertThat(map.isEmpty()).isTrue();
    assertThat(whole).hasSize(others);
  }

  @ParameterizedTest
  @MethodSource("views")
  @SuppressWarnings("NullAway") // the mistake under test
  void shouldRefuseNull(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    Long key = view.key(1);
    List<Callable<?>> calls =
        List.of(
            () -> map.get(null),
            () -> map.getOrDefault(null, 1L),
            () -> map.containsKey(null),
            () -> map.containsValue(null),
            () -> map.put(null, 1L),
            () -> map.put(key, null),
            () -> map.putIfAbsent(null, 1L),
            () -> map.putIfAbsent(key, null),
            () -> map.replace(null, 1L),
            () -> map.replace(key, null),
            () -> map.replace(null, 1L, 1L),
            () -> map.replace(key, null, 1L),
            () -> map.replace(key, 1L, null),
            () -> map.remove(null),
            () -> map.remove(null, 1L),
            () -> map.remove(key, null),
            () -> map.compute(null, (k, v) -> v),
            () -> map.compute(key, null),
            () -> map.computeIfAbsent(null, k -> 1L),
            () -> map.computeIfAbsent(key, null),
            () -> map.computeIfPresent(key, null),
            () -> map.merge(null, 1L, Long::sum),
            () -> map.merge(key, null, Long::sum),
            () -> map.merge(key, 1L, null),
            () -> map.floorKey(null),
            () -> map.higherEntry(null),
            () -> map.subMap(null, key),
            () -> map.subMap(key, null),
            () -> map.headMap(null),
            () -> map.tailMap(null),
            () -> map.keySet().contains(null),
            () -> map.keySet().remove(null),
            () -> map.entrySet().iterator().next().setValue(null));
    for (Callable<?> call : calls) {
      assertThatNullPointerException().isThrownBy(call::call);
    }
    assertThatNullPointerException().isThrownBy(() -> map.replaceAll(null));
    assertThatNullPointerException().isThrownBy(() -> map.replaceAll((k, v) -> null));
    assertThatNullPointerException().isThrownBy(() -> map.forEach(null));
    assertThat(map).hasSize(KEYS);
  }

  @ParameterizedTest
  @MethodSource("views")
  @SuppressWarnings({
    "unchecked",
    "rawtypes",
    "CollectionIncompatibleType"
  }) // the mistake under test
  void shouldRefuseKeysOfAnotherClass(MapUnderTest kind, View view) {
    Map map = five(kind, view);
    assertThatExceptionOfType(ClassCastException.class).isThrownBy(() -> map.get("1"));
    assertThatExceptionOfType(ClassCastException.class).isThrownBy(() -> map.put("1", 1L));
    assertThatExceptionOfType(ClassCastException.class).isThrownBy(() -> map.put(view.key(1), "1"));
    assertThat(map).hasSize(KEYS);
  }

  @ParameterizedTest
  @MethodSource("views")
  void shouldOrderByItsComparator(MapUnderTest kind, View view) {
    ConcurrentNavigableMap<Long, Long> map = five(kind, view);
    Comparator<? super Long> order = map.comparator();
    int compared =
        order == null
            ? view.key(1).compareTo(view.key(2))
            : order.compare(view.key(1), view.key(2));
    assertThat(compared).isNegative();
    assertThat((Object) map.keySet().comparator()).isEqualTo(order);
    assertThat(map.reversed().firstKey()).isEqualTo(view.key(KEYS));
  }
}
