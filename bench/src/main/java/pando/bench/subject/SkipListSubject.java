package pando.bench.subject;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;
import pando.index.EntrySource;
import pando.index.EntryVisitor;

/** The ordered map that the JDK has: a {@link ConcurrentSkipListMap} of boxed longs. */
public final class SkipListSubject implements Subject {
  /** Bytes of the heap that a record takes: two boxes, a node, and a part of an index node. */
  public static final int BYTES_PER_RECORD = 64;

  private final ConcurrentSkipListMap<Long, Long> map = new ConcurrentSkipListMap<>();

  /** Creates an empty map. */
  public SkipListSubject() {}

  @Override
  public String name() {
    return "skiplist";
  }

  @Override
  public void load(EntrySource entries, double fill) {
    while (entries.next()) {
      map.put(entries.key(), entries.value());
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
