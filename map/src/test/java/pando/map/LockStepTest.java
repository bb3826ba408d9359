package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.index.Seeds;

/** Random calls on views of views, each compared with the same call on a skip list. */
@Timeout(600)
class LockStepTest {
  private static final int CALLS = Seeds.count(1_000, 12_000, 200_000);
  private static final int CALLS_OF_A_VIEW = 12;

  private static final List<Call> CALLS_OF_MAPS =
      List.of(
          (map, random, key, value) -> map.get(key),
          (map, random, key, value) -> map.getOrDefault(key, value),
          (map, random, key, value) -> map.containsKey(key),
          (map, random, key, value) -> map.containsValue(value),
          (map, random, key, value) -> map.put(key, value),
          (map, random, key, value) -> map.put(key, value),
          (map, random, key, value) -> map.put(key, value),
          (map, random, key, value) -> putSeveral(map, random, key),
          (map, random, key, value) -> putSeveral(map, random, key),
          (map, random, key, value) -> {
            map.putAll(Map.of(key, value));
            return map;
          },
          (map, random, key, value) -> map.putIfAbsent(key, value),
          (map, random, key, value) -> map.replace(key, value),
          (map, random, key, value) -> map.replace(key, value, value + 1),
          (map, random, key, value) -> map.remove(key),
          (map, random, key, value) -> map.remove(key, value),
          (map, random, key, value) -> map.compute(key, (k, v) -> v == null ? value : null),
          (map, random, key, value) -> map.compute(key, (k, v) -> v == null ? null : v + 1),
          (map, random, key, value) -> map.computeIfAbsent(key, k -> value),
          (map, random, key, value) -> map.computeIfPresent(key, (k, v) -> v + 1),
          (map, random, key, value) -> map.computeIfPresent(key, (k, v) -> null),
          (map, random, key, value) -> map.merge(key, value, (a, b) -> a < b ? null : b),
          (map, random, key, value) -> map.lowerEntry(key),
          (map, random, key, value) -> map.floorEntry(key),
          (map, random, key, value) -> map.ceilingEntry(key),
          (map, random, key, value) -> map.higherEntry(key),
          (map, random, key, value) -> map.lowerKey(key),
          (map, random, key, value) -> map.floorKey(key),
          (map, random, key, value) -> map.ceilingKey(key),
          (map, random, key, value) -> map.higherKey(key),
          (map, random, key, value) -> map.firstEntry(),
          (map, random, key, value) -> map.lastEntry(),
          (map, random, key, value) -> map.firstKey(),
          (map, random, key, value) -> map.lastKey(),
          (map, random, key, value) -> map.pollFirstEntry(),
          (map, random, key, value) -> map.pollLastEntry(),
          (map, random, key, value) -> map.keySet().pollFirst(),
          (map, random, key, value) -> map.size(),
          (map, random, key, value) -> map.isEmpty(),
          (map, random, key, value) -> map.hashCode(),
          (map, random, key, value) -> map.toString(),
          (map, random, key, value) -> new ArrayList<>(map.entrySet()).toString(),
          (map, random, key, value) -> new ArrayList<>(map.values()),
          (map, random, key, value) -> new ArrayList<>(map.descendingKeySet()),
          (map, random, key, value) -> keys(map.keySet().descendingSet(), random, key),
          (map, random, key, value) -> keys(map.navigableKeySet(), random, key),
          (map, random, key, value) -> map.keySet().remove(key),
          (map, random, key, value) -> map.values().remove(value),
          (map, random, key, value) -> map.entrySet().remove(Map.entry(key, value)),
          (map, random, key, value) -> map.entrySet().contains(Map.entry(key, value)),
          (map, random, key, value) -> map.keySet().removeIf(k -> (k & 7) == 0),
          (map, random, key, value) -> map.values().removeIf(v -> (v & 7) == 0),
          (map, random, key, value) -> map.entrySet().removeIf(e -> (e.getValue() & 7) == 1),
          (map, random, key, value) -> removed(map.keySet(), random),
          (map, random, key, value) -> removed(map.values(), random),
          (map, random, key, value) -> removed(map.entrySet(), random).toString(),
          (map, random, key, value) -> map.keySet().stream().filter(k -> k > key).toList(),
          (map, random, key, value) -> map.values().parallelStream().mapToLong(v -> v).sum(),
          (map, random, key, value) -> map.entrySet().parallelStream().toList().toString(),
          (map, random, key, value) -> {
            map.replaceAll((k, v) -> v + 1);
            return map;
          },
          (map, random, key, value) -> {
            if (random.nextInt(20) == 0) {
              map.clear();
            }
            return map;
          });

  /** Keys that are often equal. */
  private enum Keys {
    SMALL,
    DENSE,
    ENDS;

    Long draw(SplittableRandom random) {
      long number = random.nextLong(30);
      return switch (this) {
        case SMALL -> random.nextLong(-50, 50);
        case DENSE -> random.nextLong(400);
        case ENDS ->
            switch (random.nextInt(3)) {
              case 0 -> Long.MIN_VALUE + number;
              case 1 -> Long.MAX_VALUE - number;
              default -> number;
            };
      };
    }
  }

  /** A call, whose outcome depends on its arguments alone. */
  private interface Call {
    @Nullable Object on(
        ConcurrentNavigableMap<Long, Long> map, SplittableRandom random, Long key, Long value);
  }

  /** Puts entries with keys around one, so that leaves split. */
  private static Object putSeveral(
      ConcurrentNavigableMap<Long, Long> map, SplittableRandom random, Long key) {
    for (int i = 0; i < 60; i++) {
      map.put(key + random.nextInt(-100, 100), random.nextLong(20));
    }
    return map;
  }

  private static List<Long> keys(NavigableSet<Long> set, SplittableRandom random, Long key) {
    return new ArrayList<>(
        random.nextBoolean()
            ? set.headSet(key, random.nextBoolean())
            : set.tailSet(key, random.nextBoolean()));
  }

  /** Iterates, removes some on the way, and returns what came. */
  private static <T> List<T> removed(Collection<T> view, SplittableRandom random) {
    List<T> seen = new ArrayList<>();
    for (Iterator<T> elements = view.iterator(); elements.hasNext(); ) {
      seen.add(elements.next());
      if (random.nextInt(8) == 0) {
        elements.remove();
      }
    }
    return seen;
  }

  /** Returns what a call returns, or the class of what it throws. */
  private static @Nullable Object outcome(
      Call call, ConcurrentNavigableMap<Long, Long> map, long seed, Long key, Long value) {
    try {
      return call.on(map, new SplittableRandom(seed), key, value);
    } catch (RuntimeException e) {
      return e.getClass();
    }
  }

  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#ALL")
  void shouldAnswerAsASkipListDoes(MapUnderTest kind) {
    SplittableRandom random = new SplittableRandom(Seeds.of(701));
    try (OpenMap<Long, Long> open = kind.open()) {
      for (Keys keys : Keys.values()) {
        ConcurrentSkipListMap<Long, Long> model = new ConcurrentSkipListMap<>();
        open.map().clear();
        for (int i = 0; i < kind.count(CALLS) / CALLS_OF_A_VIEW / Keys.values().length; i++) {
          callView(open.map(), model, keys, random, keys + " view=" + i);
        }
        assertThat(open.map()).isEqualTo(model);
      }
      open.checkNoOrphans();
    }
  }

  private static void callView(
      ConcurrentNavigableMap<Long, Long> map,
      ConcurrentNavigableMap<Long, Long> model,
      Keys keys,
      SplittableRandom random,
      String what) {
    ConcurrentNavigableMap<Long, Long> view = map;
    ConcurrentNavigableMap<Long, Long> modelView = model;
    StringBuilder way = new StringBuilder(what);
    for (int depth = random.nextInt(4); depth > 0; depth--) {
      UnaryOperator<ConcurrentNavigableMap<Long, Long>> step = step(keys, random, way);
      Object narrower = narrowed(step, view);
      Object modelNarrower = narrowed(step, modelView);
      if (narrower instanceof Class<?> || modelNarrower instanceof Class<?>) {
        assertThat(narrower).as(way.toString()).isEqualTo(modelNarrower);
        return;
      }
      view = step.apply(view);
      modelView = step.apply(modelView);
    }
    for (int i = 0; i < CALLS_OF_A_VIEW; i++) {
      int number = random.nextInt(CALLS_OF_MAPS.size());
      Call call = CALLS_OF_MAPS.get(number);
      Long key = keys.draw(random);
      Long value = random.nextLong(20);
      long seed = random.nextLong();
      Object expected = outcome(call, modelView, seed, key, value);
      assertThat(outcome(call, view, seed, key, value))
          .as("%s, call=%s, key=%s, value=%s", way, number, key, value)
          .isEqualTo(expected);
    }
    setValues(view, modelView, random);
    assertThat(new ArrayList<>(view.entrySet()))
        .as(way.toString())
        .isEqualTo(new ArrayList<>(modelView.entrySet()));
    assertThat(new ArrayList<>(view.descendingMap().entrySet()))
        .as(way.toString())
        .isEqualTo(new ArrayList<>(modelView.descendingMap().entrySet()));
  }

  private static Object narrowed(
      UnaryOperator<ConcurrentNavigableMap<Long, Long>> step,
      ConcurrentNavigableMap<Long, Long> view) {
    try {
      return step.apply(view);
    } catch (RuntimeException e) {
      return e.getClass();
    }
  }

  private static UnaryOperator<ConcurrentNavigableMap<Long, Long>> step(
      Keys keys, SplittableRandom random, StringBuilder way) {
    Long one = keys.draw(random);
    Long other = keys.draw(random);
    boolean oneIncluded = random.nextBoolean();
    boolean otherIncluded = random.nextBoolean();
    int kind = random.nextInt(5);
    way.append(" %s(%s %s, %s %s)".formatted(kind, one, oneIncluded, other, otherIncluded));
    return switch (kind) {
      case 0 -> view -> view.headMap(one, oneIncluded);
      case 1 -> view -> view.tailMap(one, oneIncluded);
      case 2 -> ConcurrentNavigableMap::descendingMap;
      default -> view -> view.subMap(one, oneIncluded, other, otherIncluded);
    };
  }

  /** Sets values by entries of an iterator, which those of a skip list do not allow. */
  private static void setValues(
      ConcurrentNavigableMap<Long, Long> view,
      ConcurrentNavigableMap<Long, Long> modelView,
      SplittableRandom random) {
    for (Map.Entry<Long, Long> entry : view.entrySet()) {
      if (random.nextInt(8) == 0) {
        Long value = random.nextLong(20);
        Long before = modelView.put(entry.getKey(), value);
        assertThat(entry.setValue(value)).isEqualTo(before);
        assertThat(entry.getValue()).isEqualTo(value);
      }
    }
  }
}
