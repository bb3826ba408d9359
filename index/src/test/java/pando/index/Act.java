package pando.index;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** One operation of a session, and what it does to a map. */
record Act(Kind kind, long key, long value) {
  /** The operations there are. */
  enum Kind {
    GET,
    PUT,
    PUT_IF_ABSENT,
    UPDATE,
    REMOVE,
    FLOOR,
    CEILING,
    SCAN
  }

  /**
   * Returns operations near a key under which leaves become full and empty again, and all else
   * besides.
   */
  static List<Act> nearby(SplittableRandom random, long center, int span, int count) {
    List<Act> acts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      boolean shrinking = i > count / 2;
      Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
      if (random.nextInt(4) > 0) {
        kind = shrinking ? Kind.REMOVE : Kind.PUT;
      }
      acts.add(new Act(kind, center + random.nextInt(-span, span), i + 1));
    }
    return acts;
  }

  /** Does it. */
  void run(Session session) {
    switch (kind) {
      case GET -> session.get(key);
      case PUT -> session.put(key, value);
      case PUT_IF_ABSENT -> session.putIfAbsent(key, value);
      case UPDATE -> session.update(key, value);
      case REMOVE -> session.remove(key);
      case FLOOR -> session.floor(key);
      case CEILING -> session.ceiling(key);
      case SCAN -> session.scan(key, 20, (seen, stored) -> true);
    }
  }

  /** Does it to a map; returns what the key has then. */
  @Nullable Long run(NavigableMap<Long, Long> model) {
    switch (kind) {
      case PUT -> model.put(key, value);
      case PUT_IF_ABSENT -> model.putIfAbsent(key, value);
      case UPDATE -> model.computeIfPresent(key, (same, before) -> value);
      case REMOVE -> model.remove(key);
      default -> {}
    }
    return model.get(key);
  }

  /** Returns changes of the same entry and its neighbours, and it once more. */
  List<Act> again() {
    return List.of(
        new Act(Kind.PUT, key, -1),
        new Act(Kind.PUT, key + 1, -1),
        new Act(Kind.REMOVE, key - 1, -1),
        this);
  }

  /** Sets a key of a map to what a session was seen to have there. */
  static void settle(NavigableMap<Long, Long> model, long key, @Nullable Long found) {
    if (found == null) {
      model.remove(key);
    } else {
      model.put(key, found);
    }
  }
}
