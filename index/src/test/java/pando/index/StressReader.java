package pando.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Supplier;

/** Scans and looks for neighbours, and checks both by the keys that nobody touches. */
final class StressReader {
  private final Supplier<Session> sessions;
  private final NavigableMap<Long, Long> steady;
  private final StressKeys keys;
  private final SplittableRandom random;

  StressReader(Supplier<Session> sessions, StressKeys keys, SplittableRandom random) {
    this.sessions = sessions;
    this.steady = keys.steady();
    this.keys = keys;
    this.random = random;
  }

  /** Scans everything up and down, estimates its size, then scans parts of it, and searches. */
  void read() {
    try (Session session = sessions.get()) {
      scan(session, Long.MIN_VALUE, Long.MAX_VALUE);
      scan(session, Long.MAX_VALUE, Long.MIN_VALUE);
      assertThat(session.sizeEstimate()).isGreaterThanOrEqualTo(steady.size());
      for (int i = 0; i < 20; i++) {
        scan(session, keys.any(random), keys.any(random));
        floor(session, keys.any(random));
        ceiling(session, keys.any(random));
      }
    }
  }

  /** Scans up or, from a key above the other, down. */
  private void scan(Session session, long from, long to) {
    boolean down = from > to;
    List<Long> seen = new ArrayList<>();
    List<Long> steadySeen = new ArrayList<>();
    EntryVisitor visitor =
        (key, value) -> {
          seen.add(key);
          Long expected = steady.get(key);
          if (expected != null) {
            steadySeen.add(key);
            assertThat(value).as("value of a steady key").isEqualTo(expected);
          }
          return true;
        };
    long visited =
        down
            ? session.scanDown(from, to, Long.MAX_VALUE, visitor)
            : session.scan(from, to, Long.MAX_VALUE, visitor);
    assertThat(visited).isEqualTo(seen.size());
    String what = "from=" + from + ", to=" + to;
    NavigableSet<Long> sorted = new TreeSet<>(seen);
    assertThat(seen).as(what).isEqualTo(List.copyOf(down ? sorted.descendingSet() : sorted));
    assertThat(sorted.subSet(Math.min(from, to), true, Math.max(from, to), true))
        .as(what)
        .hasSameSizeAs(sorted);
    NavigableMap<Long, Long> ordered = down ? steady.descendingMap() : steady;
    List<Long> expected = List.copyOf(ordered.subMap(from, true, to, true).keySet());
    assertThat(steadySeen).as(what).isEqualTo(expected);
  }

  private void floor(Session session, long key) {
    Map.Entry<Long, Long> nearest = steady.floorEntry(key);
    boolean found = session.floor(key);
    if (nearest == null) {
      assertThat(found ? session.key() : key).isLessThanOrEqualTo(key);
      return;
    }
    assertThat(found).as("floor of %d", key).isTrue();
    assertThat(session.key()).as("floor of %d", key).isBetween(nearest.getKey(), key);
    if (session.key() == nearest.getKey()) {
      assertThat(session.value()).isEqualTo(nearest.getValue());
    }
  }

  private void ceiling(Session session, long key) {
    Map.Entry<Long, Long> nearest = steady.ceilingEntry(key);
    boolean found = session.ceiling(key);
    if (nearest == null) {
      assertThat(found ? session.key() : key).isGreaterThanOrEqualTo(key);
      return;
    }
    assertThat(found).as("ceiling of %d", key).isTrue();
    assertThat(session.key()).as("ceiling of %d", key).isBetween(key, nearest.getKey());
    if (session.key() == nearest.getKey()) {
      assertThat(session.value()).isEqualTo(nearest.getValue());
    }
  }
}
