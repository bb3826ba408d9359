package pando.index;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
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
