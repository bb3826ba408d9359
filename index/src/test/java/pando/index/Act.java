package pando.index;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One operation of a session, and what it does to a map.
 *
 * @param expected value that the operation expects, if it compares
 */
public record Act(Kind kind, long key, long value, long expected) {
  private static final int SCANNED = 20;

  /** The operations there are. */
  public enum Kind {
    GET,
    PUT,
    PUT_IF_ABSENT,
    UPDATE,
    REMOVE,
    FLOOR,
    CEILING,
    SCAN,
    SCAN_DOWN,
    STORE,
    DISCARD,
    REPLACE,
    REMOVE_EXPECTED
  }

  /** Those that return what was there. */
  public static final List<Kind> ANSWERED =
      Stream.of(Kind.values()).filter(kind -> kind != Kind.STORE && kind != Kind.DISCARD).toList();

  /** Creates an operation that expects, if it compares, what a put by {@link #again} stores. */
  public Act(Kind kind, long key, long value) {
    this(kind, key, value, -1);
  }

  /**
   * Returns operations near a key under which leaves become full and empty again, and others of
   * some kinds besides. Of those that compare, most find what they expect where the key is there.
   *
   * @param before entries that are there before them
   */
  public static List<Act> nearby(
      SplittableRandom random,
      List<Kind> kinds,
      Map<Long, Long> before,
      long center,
      int span,
      int count) {
    NavigableMap<Long, Long> model = new TreeMap<>(before);
    List<Act> acts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      boolean shrinking = i > count / 2;
      Kind kind = kinds.get(random.nextInt(kinds.size()));
      if (random.nextInt(4) > 0) {
        kind = shrinking ? Kind.REMOVE : Kind.PUT;
      }
      long key = center + random.nextInt(-span, span);
      long expected = random.nextInt(4) > 0 ? model.getOrDefault(key, -1L) : -1;
      Act act = new Act(kind, key, i + 1, expected);
      act.run(model);
      acts.add(act);
    }
    return acts;
  }

  /** Does it; returns the entry or value it found, or what a scan visited. */
  public @Nullable Object run(Session session) {
    return switch (kind) {
      case GET -> session.get(key) ? session.value() : null;
      case PUT -> session.put(key, value) ? session.value() : null;
      case PUT_IF_ABSENT -> session.putIfAbsent(key, value) ? null : session.value();
      case UPDATE -> session.update(key, value) ? session.value() : null;
      case REMOVE -> session.remove(key) ? session.value() : null;
      case REPLACE -> session.replace(key, expected, value) ? session.value() : null;
      case REMOVE_EXPECTED -> session.remove(key, expected) ? session.value() : null;
      case FLOOR -> session.floor(key) ? Map.entry(session.key(), session.value()) : null;
      case CEILING -> session.ceiling(key) ? Map.entry(session.key(), session.value()) : null;
      case SCAN -> {
        List<Map.Entry<Long, Long>> seen = new ArrayList<>();
        session.scan(key, SCANNED, (each, stored) -> seen.add(Map.entry(each, stored)));
        yield seen;
      }
      case SCAN_DOWN -> {
        List<Map.Entry<Long, Long>> seen = new ArrayList<>();
        session.scanDown(key, SCANNED, (each, stored) -> seen.add(Map.entry(each, stored)));
        yield seen;
      }
      case STORE -> {
        session.store(key, value);
        yield null;
      }
      case DISCARD -> {
        session.discard(key);
        yield null;
      }
    };
  }

  /** Does it to a map; returns what a session would. */
  public @Nullable Object run(NavigableMap<Long, Long> model) {
    return switch (kind) {
      case GET -> model.get(key);
      case PUT -> model.put(key, value);
      case PUT_IF_ABSENT -> model.putIfAbsent(key, value);
      case UPDATE -> model.replace(key, value);
      case REMOVE -> model.remove(key);
      case REPLACE -> model.replace(key, expected, value) ? expected : null;
      case REMOVE_EXPECTED -> model.remove(key, expected) ? expected : null;
      case FLOOR -> model.floorEntry(key);
      case CEILING -> model.ceilingEntry(key);
      case SCAN -> first(model.tailMap(key, true));
      case SCAN_DOWN -> first(model.headMap(key, true).descendingMap());
      case STORE -> {
        model.put(key, value);
        yield null;
      }
      case DISCARD -> {
        model.remove(key);
        yield null;
      }
    };
  }

  private static List<Map.Entry<Long, Long>> first(NavigableMap<Long, Long> entries) {
    return entries.entrySet().stream().limit(SCANNED).map(Map.Entry::copyOf).toList();
  }

  /** Returns whether it takes place leaf by leaf, not at once. */
  public boolean isScan() {
    return kind == Kind.SCAN || kind == Kind.SCAN_DOWN;
  }

  /** Returns changes of the same entry and its neighbours, and it once more. */
  public List<Act> again() {
    return List.of(
        new Act(Kind.PUT, key, -1),
        new Act(Kind.PUT, key + 1, -1),
        new Act(Kind.REMOVE, key - 1, -1),
        this);
  }

  /** Sets a key of a map to what a session was seen to have there. */
  public static void settle(NavigableMap<Long, Long> model, long key, @Nullable Long found) {
    if (found == null) {
      model.remove(key);
    } else {
      model.put(key, found);
    }
  }
}
