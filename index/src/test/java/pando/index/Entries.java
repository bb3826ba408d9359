package pando.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Entries of a map, for a bulk load. */
public final class Entries implements EntrySource {
  private final Iterator<? extends Map.Entry<Long, Long>> entries;
  private Map.@Nullable Entry<Long, Long> current;

  private Entries(Iterable<? extends Map.Entry<Long, Long>> entries) {
    this.entries = entries.iterator();
  }

  /** Returns the entries of a map. */
  public static Entries of(NavigableMap<Long, Long> map) {
    return new Entries(map.entrySet());
  }

  /** Returns entries with these keys, in this order. */
  public static Entries keys(long... keys) {
    return new Entries(Arrays.stream(keys).mapToObj(key -> Map.entry(key, key)).toList());
  }

  /** Returns so many entries with random keys, the least and the greatest among them. */
  public static NavigableMap<Long, Long> random(SplittableRandom random, int count) {
    TreeMap<Long, Long> map = new TreeMap<>();
    while (map.size() < count) {
      switch (map.size()) {
        case 0 -> map.put(Long.MAX_VALUE, -1L);
        case 1 -> map.put(Long.MIN_VALUE, 0L);
        default -> map.put(random.nextLong(), random.nextLong());
      }
    }
    return map;
  }

  /** Returns so many entries, whose keys are so far from each other. */
  public static NavigableMap<Long, Long> spaced(int count, long step) {
    NavigableMap<Long, Long> entries = new TreeMap<>();
    LongStream.rangeClosed(1, count).forEach(i -> entries.put(i * step, i));
    return entries;
  }

  /** Returns the value of a key, {@code null} where it has none. */
  public static @Nullable Long get(Session session, long key) {
    return session.get(key) ? session.value() : null;
  }

  /** Returns what a session scans, having checked that keys ascend. */
  public static NavigableMap<Long, Long> scan(Session session) {
    TreeMap<Long, Long> seen = new TreeMap<>();
    session.scan(
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        (key, value) -> {
          if (!seen.isEmpty()) {
            assertThat(key).as("in order").isGreaterThan(seen.lastKey());
          }
          seen.put(key, value);
          return true;
        });
    return seen;
  }

  /** Checks that a session finds the entries of a map, and by a scan no others. */
  public static void check(Session session, NavigableMap<Long, Long> expected, String what) {
    expected.forEach(
        (key, value) -> assertThat(get(session, key)).as("%s: key=%d", what, key).isEqualTo(value));
    assertThat(scan(session)).as(what).isEqualTo(expected);
  }

  @Override
  public boolean next() {
    current = entries.hasNext() ? entries.next() : null;
    return current != null;
  }

  private Map.Entry<Long, Long> current() {
    if (current == null) {
      throw new IllegalStateException("no entry");
    }
    return current;
  }

  @Override
  public long key() {
    return current().getKey();
  }

  @Override
  public long value() {
    return current().getValue();
  }
}
