package pando.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Keys at both ends of their type, beside a tree map. */
public final class Ends {
  private static final long[] KEYS = {
    Long.MIN_VALUE, Long.MIN_VALUE + 1, 0, Long.MAX_VALUE - 1, Long.MAX_VALUE
  };

  private static final long[] LIMITS = {1, 2, 100};

  private Ends() {}

  /** Checks a session of an empty index with each set of keys, and leaves the index empty. */
  public static void checkEachSet(Session session) {
    for (int set = 0; set < 1 << KEYS.length; set++) {
      NavigableMap<Long, Long> model = new TreeMap<>();
      for (int i = 0; i < KEYS.length; i++) {
        if ((set >> i & 1) != 0) {
          model.put(KEYS[i], (long) set);
          session.put(KEYS[i], set);
        }
      }
      check(session, model);
      for (long key : KEYS) {
        assertThat(session.remove(key)).as("key=%s", key).isEqualTo(model.containsKey(key));
      }
    }
  }

  /** Returns so many entries from each end. */
  public static NavigableMap<Long, Long> entries(int count) {
    NavigableMap<Long, Long> entries = new TreeMap<>();
    for (long i = 0; i < count; i++) {
      entries.put(Long.MIN_VALUE + i, i);
      entries.put(Long.MAX_VALUE - i, -i);
    }
    return entries;
  }

  /** Checks what a session finds at both ends. */
  public static void check(Session session, NavigableMap<Long, Long> model) {
    assertThat(found(session, session.first())).isEqualTo(model.firstEntry());
    assertThat(found(session, session.last())).isEqualTo(model.lastEntry());
    for (long key : KEYS) {
      String at = "key=" + key;
      assertThat(Entries.get(session, key)).as(at).isEqualTo(model.get(key));
      assertThat(found(session, session.lower(key))).as(at).isEqualTo(model.lowerEntry(key));
      assertThat(found(session, session.floor(key))).as(at).isEqualTo(model.floorEntry(key));
      assertThat(found(session, session.ceiling(key))).as(at).isEqualTo(model.ceilingEntry(key));
      assertThat(found(session, session.higher(key))).as(at).isEqualTo(model.higherEntry(key));
      for (long other : KEYS) {
        if (key <= other) {
          checkScans(session, model.subMap(key, true, other, true), key, other);
        }
      }
    }
  }

  private static Map.@Nullable Entry<Long, Long> found(Session session, boolean isThere) {
    return isThere ? Map.entry(session.key(), session.value()) : null;
  }

  private static void checkScans(
      Session session, NavigableMap<Long, Long> expected, long low, long high) {
    List<Map.Entry<Long, Long>> seen = new ArrayList<>();
    EntryVisitor visitor = (key, value) -> seen.add(Map.entry(key, value));
    for (long limit : LIMITS) {
      String what = "low=%s, high=%s, limit=%s".formatted(low, high, limit);
      assertThat(session.scan(low, high, limit, visitor)).isEqualTo(seen.size());
      assertThat(seen).as(what).isEqualTo(first(expected, limit));
      seen.clear();
      assertThat(session.scanDown(high, low, limit, visitor)).isEqualTo(seen.size());
      assertThat(seen).as(what + ", down").isEqualTo(first(expected.descendingMap(), limit));
      seen.clear();
    }
  }

  private static List<Map.Entry<Long, Long>> first(NavigableMap<Long, Long> map, long limit) {
    return map.entrySet().stream().limit(limit).toList();
  }
}
