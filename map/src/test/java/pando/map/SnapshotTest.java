package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.NotServedHereException;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.SystemUnderTest;
import pando.index.Threads;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** Copies of ranges as of one moment. */
@Timeout(120)
class SnapshotTest {
  private static final int SNAPSHOTS = Seeds.count(100, 200, 3_000);

  /** Threads that change the map; each has keys of its own, which lie everywhere. */
  private static final int WRITERS = 4;

  private static final int KEYS = 12;

  /** Distance between two keys of writers, so that a scan takes several batches. */
  private static final int GAP = 5;

  private static final int ALL_KEYS = KEYS * WRITERS * GAP;

  /** How far a key moves. Prime to the number of keys. */
  private static final int STEP = 5;

  private static Long key(int writer, int number) {
    return ((long) number * WRITERS + writer) * GAP;
  }

  /**
   * Three threads count up in each of their keys, one after the other: by the map, by a session of
   * the map, and by the asynchronous map. The fourth has one key: it puts the next one, then
   * removes it.
   */
  @Tag("campaign")
  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#EMBEDDED")
  void shouldShowNoChangeWithoutThoseBeforeIt(MapUnderTest kind) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(3101));
    try (OpenMap<Long, Long> open = kind.open();
        MapSession<Long, Long> session = open.map().session()) {
      PandoMap<Long, Long> map = open.map();
      LongStream.range(0, ALL_KEYS).forEach(key -> map.put(key, 0L));
      IntStream.range(1, KEYS).forEach(number -> map.remove(key(3, number)));
      AtomicBoolean ended = new AtomicBoolean();
      List<Callable<Void>> tasks = new ArrayList<>();
      tasks.add(() -> count(ended, 0, map::put));
      tasks.add(() -> count(ended, 1, session::put));
      tasks.add(() -> count(ended, 2, (key, value) -> map.async().put(key, value).join()));
      tasks.add(() -> move(ended, map));
      tasks.add(() -> {
        try {
          look(map, random);
        } finally {
          ended.set(true);
        }
        return null;
      });
      Threads.run(tasks);
    }
  }

  private static Void count(AtomicBoolean ended, int writer, BiConsumer<Long, Long> put) {
    for (long round = 1; !ended.get(); round++) {
      for (int i = 0; i < KEYS; i++) {
        put.accept(key(writer, written(writer, i)), round);
      }
    }
    return null;
  }

  /**
   * Returns the number of the key that a writer writes next: some write upwards, some downwards.
   */
  private static int written(int writer, int i) {
    return writer % 2 == 0 ? i : KEYS - 1 - i;
  }

  private static Void move(AtomicBoolean ended, PandoMap<Long, Long> map) {
    for (int number = 0; !ended.get(); number = (number + STEP) % KEYS) {
      map.put(key(3, (number + STEP) % KEYS), 0L);
      map.remove(key(3, number));
    }
    return null;
  }

  private static void look(PandoMap<Long, Long> map, SplittableRandom random) {
    for (int i = 0; i < SNAPSHOTS; i++) {
      boolean down = random.nextBoolean();
      NavigableMap<Long, Long> copied =
          Objects.requireNonNull(map.snapshot(down ? map.descendingMap() : map, ALL_KEYS));
      assertThat(copied.firstKey() > copied.lastKey()).isEqualTo(down);
      int moved = copied.size() - (ALL_KEYS - KEYS);
      assertThat(moved).as("keys of the one that moves").isBetween(1, 2);
      for (int writer = 0; writer < 3; writer++) {
        checkCounts(copied, writer);
      }
    }
  }

  private static void checkCounts(NavigableMap<Long, Long> copied, int writer) {
    List<Long> counts = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) {
      counts.add(copied.get(key(writer, written(writer, i))));
    }
    assertThat(counts.reversed()).as("counts, the last written first").isSorted();
    assertThat(counts.getFirst() - counts.getLast()).isBetween(0L, 1L);
  }

  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#EMBEDDED")
  void shouldCopyViews(MapUnderTest kind) {
    SplittableRandom random = new SplittableRandom(Seeds.of(3102));
    try (OpenMap<Long, Long> open = kind.open()) {
      PandoMap<Long, Long> map = open.map();
      NavigableMap<Long, Long> model = new TreeMap<>();
      for (int i = 0; i < 400; i++) {
        Long key = random.nextLong(1_000);
        map.put(key, -key);
        model.put(key, -key);
      }
      for (int i = 0; i < 50; i++) {
        Long from = random.nextLong(1_000);
        Long to = random.nextLong(from, 1_001);
        ConcurrentNavigableMap<Long, Long> view = map.subMap(from, to);
        NavigableMap<Long, Long> expected = model.subMap(from, true, to, false);
        if (random.nextBoolean()) {
          view = view.descendingMap();
          expected = expected.descendingMap();
        }
        int size = expected.size();
        assertThat(Objects.requireNonNull(map.snapshot(view, size)).sequencedEntrySet())
            .containsExactlyElementsOf(expected.sequencedEntrySet());
        if (size > 0) {
          assertThat(map.snapshot(view, size - 1)).isNull();
        }
      }
      NavigableMap<Long, Long> copied =
          Objects.requireNonNull(map.snapshot(map, PandoMap.SNAPSHOT_MAX));
      map.clear();
      copied.remove(copied.firstKey());
      assertThat(copied).hasSize(model.size() - 1);
    }
  }

  @Test
  void shouldRefuseWhatMakesNoSense() {
    try (OpenMap<Long, Long> open = MapUnderTest.BYTES.open();
        OpenMap<Long, Long> other = MapUnderTest.BYTES.open()) {
      PandoMap<Long, Long> map = open.map();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.snapshot(other.map(), 1))
          .withMessageContaining("not a view of this map");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.snapshot(map, -1))
          .withMessage("no such number of entries: max=-1, greatest=10000");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.snapshot(map, 10_001))
          .withMessageContaining("max=10001");
      assertThat(Objects.requireNonNull(map.snapshot(map, 0))).isEmpty();
      map.close();
      assertThatIllegalStateException()
          .isThrownBy(() -> map.snapshot(map, 1))
          .withMessage("the map is closed");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"dex", "orca", "p-sherman"})
  void shouldRefuseKeysThatAnotherProcessServes(String system) {
    Configuration configuration = SystemUnderTest.of(system).tiny(2);
    try (Fabric fabric = OpenMap.pool();
        RangeIndex here = configuration.create(fabric, 0, 1);
        RangeIndex there = configuration.join(fabric, 1, 1);
        PandoMap<Long, Long> map = PandoMap.of(here, KeyCodec.longs(), ValueCodec.longs());
        PandoMap<Long, Long> other = PandoMap.of(there, KeyCodec.longs(), ValueCodec.longs())) {
      map.put(-500L, 5L);
      other.put(500L, -5L);
      assertThatExceptionOfType(NotServedHereException.class)
          .isThrownBy(() -> map.snapshot(map, 10));
      assertThat(map.snapshot(map.headMap(-100L), 10)).containsOnlyKeys(-500L);
      assertThat(other.snapshot(other.tailMap(100L), 10)).containsOnlyKeys(500L);
      map.put(-500L, 6L);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sherman", "fg", "deft", "rolex", "xstore-d", "emt-d"})
  void shouldRefuseWhereOtherProcessesCanChangeTheRange(String system) {
    Configuration configuration = SystemUnderTest.of(system).tiny(2);
    try (Fabric fabric = OpenMap.pool();
        RangeIndex index = configuration.create(fabric, 0, 1);
        PandoMap<Long, Long> map = PandoMap.of(index, KeyCodec.longs(), ValueCodec.longs())) {
      map.put(1L, 1L);
      assertThatIllegalStateException()
          .isThrownBy(() -> map.snapshot(map, 10))
          .withMessageContaining("other processes could change the same keys: system=" + system)
          .withMessageContaining("computeServersHere=1, all=2");
      assertThat(map).containsOnlyKeys(1L);
    }
  }
}
