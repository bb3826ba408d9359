package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.index.Seeds;
import pando.index.SystemUnderTest;
import pando.index.Threads;

/** Several threads on one map: more of them than it has sessions. */
@Timeout(300)
class MapRacesTest {
  private static final int THREADS = 3 * Runtime.getRuntime().availableProcessors();
  private static final int CALLS = Seeds.count(250, 1_200, 20_000);
  private static final int KEYS = 20;

  private static void race(RaceTask task) throws Exception {
    long seed = Seeds.of(801);
    CyclicBarrier start = new CyclicBarrier(THREADS);
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int thread = i;
      tasks.add(() -> {
        start.await();
        task.run(thread, new SplittableRandom(seed + thread));
        return null;
      });
    }
    Threads.run(tasks);
  }

  private interface RaceTask {
    void run(int thread, SplittableRandom random) throws Exception;
  }

  /** Each value is put once; so each is replaced or removed once, or is there at the end. */
  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#ALL")
  void shouldTellEachValueThatWasReplacedOnce(MapUnderTest kind) throws Exception {
    try (OpenMap<Long, Long> open = kind.open()) {
      PandoMap<Long, Long> map = open.map();
      List<Long> gone = Collections.synchronizedList(new ArrayList<>());
      race((thread, random) -> {
        List<Long> mine = new ArrayList<>();
        for (long i = 0; i < CALLS; i++) {
          Long value = i * THREADS + thread;
          Long key = random.nextLong(KEYS);
          Long before = map.put(key, value);
          Long removed =
              switch (random.nextInt(4)) {
                case 0 -> map.remove(key);
                case 1 -> valueOf(map.pollFirstEntry());
                default -> null;
              };
          Stream.of(Optional.ofNullable(before), Optional.ofNullable(removed))
              .flatMap(Optional::stream)
              .forEach(mine::add);
        }
        gone.addAll(mine);
      });
      gone.addAll(map.values());
      gone.sort(null);
      assertThat(gone).isEqualTo(LongStream.range(0, (long) CALLS * THREADS).boxed().toList());
      open.checkNoOrphans();
    }
  }

  private static @Nullable Long valueOf(Map.@Nullable Entry<Long, Long> entry) {
    return entry == null ? null : entry.getValue();
  }

  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#ALL")
  void shouldHaveOneWinnerForEachAbsentKey(MapUnderTest kind) throws Exception {
    try (OpenMap<Long, Long> open = kind.open()) {
      PandoMap<Long, Long> map = open.map();
      Map<Long, Long> winners = new ConcurrentHashMap<>();
      race((thread, random) -> {
        for (long key = 0; key < CALLS; key++) {
          Long mine = key * THREADS + thread;
          boolean won =
              key % 2 == 0
                  ? map.putIfAbsent(key, mine) == null
                  : map.computeIfAbsent(key, k -> mine).equals(mine);
          if (won) {
            assertThat(winners.put(key, mine)).as("another winner").isNull();
          }
        }
      });
      assertThat(map.equals(winners)).isTrue();
    }
  }

  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#ALL")
  void shouldCountEachIncrement(MapUnderTest kind) throws Exception {
    try (OpenMap<Long, Long> open = kind.open()) {
      PandoMap<Long, Long> map = open.map();
      race((thread, random) -> {
        for (int i = 0; i < CALLS; i++) {
          Long key = random.nextLong(KEYS);
          switch (random.nextInt(3)) {
            case 0 -> map.merge(key, 1L, Long::sum);
            case 1 -> map.compute(key, (k, count) -> count == null ? 1 : count + 1);
            default -> add(map, key);
          }
        }
      });
      assertThat(map.values().stream().mapToLong(count -> count).sum())
          .isEqualTo((long) CALLS * THREADS);
      open.checkNoOrphans();
    }
  }

  private static void add(PandoMap<Long, Long> map, Long key) {
    boolean added = false;
    while (!added) {
      Long count = map.get(key);
      added = count == null ? map.putIfAbsent(key, 1L) == null : map.replace(key, count, count + 1);
    }
  }

  /** Multiples of 3 stay; the others come and go. */
  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#ALL")
  void shouldShowIteratorsAllKeysThatStay(MapUnderTest kind) throws Exception {
    try (OpenMap<Long, Long> open = kind.open()) {
      PandoMap<Long, Long> map = open.map();
      for (long key = 0; key < CALLS; key += 3) {
        map.put(key, -key);
      }
      AtomicInteger iterating = new AtomicInteger(THREADS / 2);
      race((thread, random) -> {
        if (thread >= THREADS / 2) {
          while (iterating.get() > 0) {
            Long key = random.nextLong(CALLS / 3) * 3 + random.nextInt(1, 3);
            if (map.put(key, -key) != null) {
              map.remove(key);
            }
          }
          return;
        }
        try {
          for (int i = 0; i < 5; i++) {
            checkIteration(map, false);
            checkIteration(map.descendingMap(), true);
          }
        } finally {
          iterating.decrementAndGet();
        }
      });
    }
  }

  private static void checkIteration(ConcurrentNavigableMap<Long, Long> map, boolean down) {
    List<Long> keys = new ArrayList<>();
    map.forEach((key, value) -> {
      assertThat(value).isEqualTo(-key);
      keys.add(key);
    });
    List<Long> inOrder = new ArrayList<>(new TreeSet<>(keys));
    if (down) {
      Collections.reverse(inOrder);
    }
    assertThat(keys).as("in order, none twice").isEqualTo(inOrder);
    assertThat(keys.stream().filter(key -> key % 3 == 0).count()).isEqualTo((CALLS + 2) / 3);
  }

  @Test
  void shouldServeTenThousandVirtualThreads() throws Exception {
    int threads = 10_000;
    try (OpenMap<Long, Long> open = OpenMap.of(SystemUnderTest.ORCA);
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      PandoMap<Long, Long> map = open.map();
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        Long key = (long) i % KEYS;
        all.add(
            executor.submit(() -> {
              map.merge(key, 1L, Long::sum);
              map.compute(key, (k, count) -> map.get(k));
              map.merge(key, 1L, Long::sum);
            }));
      }
      for (Future<?> each : all) {
        each.get(100, TimeUnit.SECONDS);
      }
      assertThat(map.values().stream().mapToLong(count -> count).sum()).isEqualTo(2L * threads);
    }
  }

  /** Some calls end before it, some are refused; none ends otherwise. */
  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#ALL")
  void shouldBeClosedBesideCalls(MapUnderTest kind) throws Exception {
    try (OpenMap<Long, Long> open = kind.open()) {
      PandoMap<Long, Long> map = open.map();
      AtomicInteger refused = new AtomicInteger();
      race((thread, random) -> {
        if (thread == 0) {
          map.put(0L, 0L);
          map.close();
          map.close();
          return;
        }
        try {
          for (long key = 0; ; key++) {
            map.put(key % KEYS, key);
            map.forEach((k, v) -> {});
          }
        } catch (IllegalStateException e) {
          assertThat(e).hasMessage("the map is closed");
          refused.incrementAndGet();
        }
      });
      assertThat(refused).hasValue(THREADS - 1);
    }
  }
}
