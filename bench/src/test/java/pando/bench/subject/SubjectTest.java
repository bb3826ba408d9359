package pando.bench.subject;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.bench.btree.BTreeSubject;
import pando.bench.records.MapEntries;
import pando.index.dex.DexOptions;

/** Every subject answers as a {@link TreeMap} does. */
final class SubjectTest {
  private static final long SEED = 11;
  private static final int ENTRIES = Boolean.getBoolean("pando.campaign") ? 20_000 : 4_000;

  /** What workloads run against. */
  enum Kind {
    DEX,
    SKIPLIST,
    SKIPLIST_SORTED,
    BTREE;

    Subject open() {
      DexOptions options = DexOptions.defaults().withCacheBytes(128 << 10);
      return switch (this) {
        case DEX -> IndexSubject.openLocal(options, 2, 64 << 20, SEED);
        case SKIPLIST -> SkipListSubject.shuffled(SEED);
        case SKIPLIST_SORTED -> SkipListSubject.sorted();
        case BTREE -> new BTreeSubject(64 << 20);
      };
    }
  }

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final TreeMap<Long, Long> model = new TreeMap<>();

  @ParameterizedTest
  @EnumSource
  void shouldAnswerAsATreeMapDoes(Kind kind) {
    for (int i = 0; i < ENTRIES; i++) {
      model.put(key(), random.nextLong());
    }
    try (Subject subject = kind.open()) {
      subject.load(new MapEntries(model), 0.7);
      try (Access access = subject.access()) {
        for (int i = 0; i < 10 * ENTRIES; i++) {
          operate(access, random.nextInt(100));
        }
        getAll(access);
        assertThat(scan(access, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE))
            .isEqualTo(entries(model));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldBeginEmpty(Kind kind) {
    try (Subject subject = kind.open();
        Access access = subject.access()) {
      assertThat(access.get(1)).isFalse();
      assertThat(access.update(1, 2)).isFalse();
      assertThat(scan(access, Long.MIN_VALUE, Long.MAX_VALUE, 10)).isEmpty();
      assertThat(access.insert(Long.MIN_VALUE, 0)).isTrue();
      assertThat(access.insert(Long.MAX_VALUE, -1)).isTrue();
      assertThat(scan(access, Long.MIN_VALUE, Long.MAX_VALUE, 10))
          .containsExactly(Map.entry(Long.MIN_VALUE, 0L), Map.entry(Long.MAX_VALUE, -1L));
    }
  }

  private void getAll(Access access) {
    for (long key = -9; key < 0; key++) {
      access.store(key, ~key);
      model.put(key, ~key);
    }
    long[] keys = LongStream.range(0, 100).map(i -> i < 10 ? -i : key()).toArray();
    long[] values = new long[keys.length];
    boolean[] found = new boolean[keys.length];
    access.getAll(keys, 1, keys.length - 1, values, found);
    for (int i = 1; i < keys.length; i++) {
      assertThat(found[i] ? values[i] : null).isEqualTo(model.get(keys[i]));
    }
    assertThat(found[0]).isFalse();
  }

  private void operate(Access access, int percent) {
    long key = key();
    Long expected = model.get(key);
    if (percent < 40) {
      assertThat(access.get(key)).as("get %d", key).isEqualTo(expected != null);
    } else if (percent < 60) {
      long value = random.nextLong();
      assertThat(access.update(key, value)).as("update %d", key).isEqualTo(expected != null);
      model.computeIfPresent(key, (same, old) -> value);
    } else if (percent < 95) {
      long value = random.nextLong();
      assertThat(access.insert(key, value)).as("insert %d", key).isEqualTo(expected == null);
      model.putIfAbsent(key, value);
      return;
    } else {
      long to = Math.max(key, key());
      long limit = random.nextInt(200);
      assertThat(scan(access, key, to, limit))
          .isEqualTo(entries(model.subMap(key, true, to, true)).stream().limit(limit).toList());
      return;
    }
    if (expected != null) {
      assertThat(access.value()).isEqualTo(expected);
    }
  }

  /** Few enough keys that some are there and some are not. */
  private long key() {
    return random.nextLong(100_000) * 1_000_003 - 50_000_000_000L;
  }

  private static List<Map.Entry<Long, Long>> scan(Access access, long from, long to, long limit) {
    List<Map.Entry<Long, Long>> visited = new ArrayList<>();
    long count =
        access.scan(
            from,
            to,
            limit,
            (key, value) -> {
              visited.add(Map.entry(key, value));
              return true;
            });
    assertThat(count).isEqualTo(visited.size());
    return visited;
  }

  private static List<Map.Entry<Long, Long>> entries(Map<Long, Long> map) {
    List<Map.Entry<Long, Long>> entries = new ArrayList<>();
    map.forEach((key, value) -> entries.add(Map.entry(key, value)));
    return entries;
  }
}
