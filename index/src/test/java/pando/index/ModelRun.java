package pando.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Random operations, each compared with a plain map. */
public final class ModelRun {
  /** More than a session looks up at a time. */
  private static final int MANY_KEYS = 600;

  private final Session session;
  private final NavigableMap<Long, Long> model;
  private final SplittableRandom random;
  private final int keys;

  /**
   * Prepares a run.
   *
   * @param keys different keys to choose from
   */
  public ModelRun(
      Session session, NavigableMap<Long, Long> model, SplittableRandom random, int keys) {
    this.session = session;
    this.model = model;
    this.random = random;
    this.keys = keys;
  }

  /** Runs so many operations. */
  public void operations(int count) {
    for (int i = 0; i < count; i++) {
      boolean shrinking = i / (count / 4) % 2 == 1;
      operation(i, shrinking ? random.nextInt(4, 22) : random.nextInt(18));
    }
  }

  private long key() {
    int key = random.nextInt(keys);
    return switch (key) {
      case 0 -> Long.MIN_VALUE;
      case 1 -> Long.MAX_VALUE;
      default -> (key - keys / 2) * (Long.MAX_VALUE / keys * 2);
    };
  }

  private void operation(int number, int kind) {
    long key = key();
    long value = random.nextInt(8) == 0 ? random.nextInt(-1, 1) : random.nextLong();
    String what = "operation=" + number + ", kind=" + kind + ", key=" + key;
    switch (kind) {
      case 0, 1, 2 -> stored(what, session.put(key, value), model.put(key, value));
      case 3 -> {
        if (random.nextInt(4) == 0) {
          putAll(random.nextInt(200) == 0 ? MANY_KEYS : random.nextInt(20));
        } else {
          session.store(key, value);
          model.put(key, value);
        }
      }
      case 4 -> {
        Long before = model.putIfAbsent(key, value);
        stored(what, !session.putIfAbsent(key, value), before);
      }
      case 5, 6 -> {
        Long before = model.containsKey(key) ? model.put(key, value) : null;
        stored(what, session.update(key, value), before);
      }
      case 7 -> stored(what, session.get(key), model.get(key));
      case 16 -> {
        long expected = expected(key, value);
        boolean matches = model.containsKey(key) && model.get(key) == expected;
        compared(what, session.replace(key, expected, ~value), matches, key);
        if (matches) {
          model.put(key, ~value);
        }
      }
      case 17 -> {
        long expected = expected(key, value);
        boolean matches = model.containsKey(key) && model.get(key) == expected;
        compared(what, session.remove(key, expected), matches, key);
        if (matches) {
          model.remove(key);
        }
      }
      case 8 -> getAll(what, random.nextInt(100) == 0 ? MANY_KEYS : random.nextInt(40));
      case 9 -> below(what, key);
      case 10 -> above(what, key);
      case 11 -> scan(what, key, key(), random.nextInt(100));
      case 12, 13 -> {
        session.discard(key);
        model.remove(key);
      }
      default -> stored(what, session.remove(key), model.remove(key));
    }
  }

  /** Mostly the value that a key has. */
  private long expected(long key, long other) {
    Long value = model.get(key);
    return value == null || random.nextInt(4) == 0 ? other : value;
  }

  private void compared(String what, boolean done, boolean matches, long key) {
    assertThat(done).as(what).isEqualTo(matches);
    if (model.containsKey(key)) {
      assertThat(session.value()).as(what).isEqualTo(model.get(key));
    }
  }

  private void stored(String what, boolean found, @Nullable Long before) {
    assertThat(found).as(what).isEqualTo(before != null);
    if (before != null) {
      assertThat(session.value()).as(what).isEqualTo(before);
    }
  }

  private void below(String what, long key) {
    switch (random.nextInt(8)) {
      case 0 -> found(what, session.last(), model.lastEntry());
      case 1, 2, 3 -> found(what, session.lower(key), model.lowerEntry(key));
      default -> found(what, session.floor(key), model.floorEntry(key));
    }
  }

  private void above(String what, long key) {
    switch (random.nextInt(8)) {
      case 0 -> found(what, session.first(), model.firstEntry());
      case 1, 2, 3 -> found(what, session.higher(key), model.higherEntry(key));
      default -> found(what, session.ceiling(key), model.ceilingEntry(key));
    }
  }

  /** Looks up so many keys, between others in arrays whose other places must stay as they are. */
  private void getAll(String what, int count) {
    int from = random.nextInt(3);
    int length = from + count + random.nextInt(3);
    long[] keys = LongStream.generate(this::key).limit(length).toArray();
    long[] values = new long[length];
    boolean[] found = new boolean[length];
    long[] expectedValues = new long[length];
    boolean[] expectedFound = new boolean[length];
    int expected = 0;
    for (int i = from; i < from + count; i++) {
      Long value = model.get(keys[i]);
      expectedValues[i] = value == null ? 0 : value;
      expectedFound[i] = value != null;
      expected += value == null ? 0 : 1;
    }
    assertThat(session.getAll(keys, from, count, values, found)).as(what).isEqualTo(expected);
    assertThat(values).as(what).isEqualTo(expectedValues);
    assertThat(found).as(what).isEqualTo(expectedFound);
  }

  /** Stores values under so many keys, some of them several times, between others in the arrays. */
  private void putAll(int count) {
    int from = random.nextInt(3);
    int length = from + count + random.nextInt(3);
    long[] keys = LongStream.generate(this::key).limit(length).toArray();
    for (int i = from; i < from + count; i++) {
      keys[i] = random.nextInt(8) == 0 ? keys[random.nextInt(from, i + 1)] : keys[i];
    }
    long[] values = random.longs(length).toArray();
    session.putAll(keys, from, count, values);
    for (int i = from; i < from + count; i++) {
      model.put(keys[i], values[i]);
    }
  }

  private void found(String what, boolean found, Map.@Nullable Entry<Long, Long> expected) {
    assertThat(found).as(what).isEqualTo(expected != null);
    if (expected != null) {
      assertThat(session.key()).as(what).isEqualTo(expected.getKey());
      assertThat(session.value()).as(what).isEqualTo(expected.getValue());
    }
  }

  /** Scans up or down, and every now and then all that is in this direction. */
  private void scan(String what, long from, long to, int limit) {
    List<Map.Entry<Long, Long>> seen = new ArrayList<>();
    EntryVisitor visitor = (key, value) -> seen.add(Map.entry(key, value));
    boolean down = from > to || (from == to && random.nextBoolean());
    boolean all = random.nextInt(4) == 0;
    long end = all ? (down ? Long.MIN_VALUE : Long.MAX_VALUE) : to;
    long visited =
        down
            ? session.scanDown(from, end, limit, visitor)
            : session.scan(from, end, limit, visitor);
    NavigableMap<Long, Long> range =
        down
            ? model.descendingMap().subMap(from, true, end, true)
            : model.subMap(from, true, end, true);
    List<Map.Entry<Long, Long>> expected =
        range.entrySet().stream()
            .limit(limit)
            .map(entry -> Map.entry(entry.getKey(), entry.getValue()))
            .toList();
    assertThat(seen).as(what).isEqualTo(expected);
    assertThat(visited).as(what).isEqualTo(expected.size());
  }
}
