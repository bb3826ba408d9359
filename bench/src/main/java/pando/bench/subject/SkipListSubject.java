package pando.bench.subject;

import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.index.EntrySource;
import pando.index.EntryVisitor;

/**
 * The ordered map that the JDK has: a {@link ConcurrentSkipListMap} of boxed longs.
 *
 * <p>Its speed depends on the order in which it was filled: nodes and boxes that were made one
 * after the other are adjacent in memory, and stay so through every collection. After filling in
 * the order of keys, a search ends on neighbours in one or two cache lines, which a map in use
 * never has.
 */
public final class SkipListSubject implements Subject {
  /** Bytes of the heap that a record takes: two boxes, a node, and a part of an index node. */
  public static final int BYTES_PER_RECORD = 64;

  private static final int ENTRIES_MIN = 1 << 10;

  private final ConcurrentSkipListMap<Long, Long> map = new ConcurrentSkipListMap<>();
  private final boolean sorted;
  private final RandomGenerator random;

  private SkipListSubject(boolean sorted, long seed) {
    this.sorted = sorted;
    this.random = new SplittableRandom(seed);
  }

  /** Creates an empty map that will be filled in random order, as a map in use is. */
  public static SkipListSubject shuffled(long seed) {
    return new SkipListSubject(false, seed);
  }

  /** Creates an empty map that will be filled in the order of keys. */
  public static SkipListSubject sorted() {
    return new SkipListSubject(true, 0);
  }

  @Override
  public String name() {
    return sorted ? "skiplist-sorted" : "skiplist";
  }

  @Override
  public void load(EntrySource entries, double fill) {
    if (sorted) {
      while (entries.next()) {
        map.put(entries.key(), entries.value());
      }
      return;
    }
    loadShuffled(entries);
  }

  private void loadShuffled(EntrySource entries) {
    long[] pairs = new long[ENTRIES_MIN];
    int count = 0;
    while (entries.next()) {
      if (2 * count == pairs.length) {
        pairs = Arrays.copyOf(pairs, 2 * pairs.length);
      }
      pairs[2 * count] = entries.key();
      pairs[2 * count + 1] = entries.value();
      count++;
    }
    for (int left = count; left > 0; left--) {
      int drawn = random.nextInt(left);
      map.put(pairs[2 * drawn], pairs[2 * drawn + 1]);
      pairs[2 * drawn] = pairs[2 * left - 2];
      pairs[2 * drawn + 1] = pairs[2 * left - 1];
    }
  }

  @Override
  public Access access() {
    return new MapAccess(map);
  }

  @Override
  public long bytes() {
    return 0;
  }

  @Override
  public void close() {
    map.clear();
  }

  private static final class MapAccess implements Access {
    private final ConcurrentSkipListMap<Long, Long> map;
    private long value;

    MapAccess(ConcurrentSkipListMap<Long, Long> map) {
      this.map = map;
    }

    @Override
    public long value() {
      return value;
    }

    @Override
    public boolean get(long key) {
      return keep(map.get(key));
    }

    @Override
    public boolean update(long key, long newValue) {
      return keep(map.replace(key, newValue));
    }

    @Override
    public boolean insert(long key, long newValue) {
      return !keep(map.putIfAbsent(key, newValue));
    }

    @Override
    public long scan(long from, long to, long limit, EntryVisitor visitor) {
      long visited = 0;
      for (Map.Entry<Long, Long> entry : map.tailMap(from, true).entrySet()) {
        if (visited == limit || entry.getKey() > to) {
          break;
        }
        visited++;
        if (!visitor.visit(entry.getKey(), entry.getValue())) {
          break;
        }
      }
      return visited;
    }

    @Override
    public void close() {}

    private boolean keep(@Nullable Long found) {
      if (found == null) {
        return false;
      }
      value = found;
      return true;
    }
  }
}
