package pando.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;

/** Scans and looks for neighbours, and checks both by the keys that nobody touches. */
final class StressReader {
  private final RangeIndex index;
  private final NavigableMap<Long, Long> steady;
  private final StressKeys keys;
  private final SplittableRandom random;

  StressReader(RangeIndex index, StressKeys keys, SplittableRandom random) {
    this.index = index;
    this.steady = keys.steady();
    this.keys = keys;
    this.random = random;
  }

  /** Does one scan of everything, one of a part, and some searches. */
  void read() {
    try (Session session = index.session()) {
      scan(session, Long.MIN_VALUE, Long.MAX_VALUE);
      for (int i = 0; i < 20; i++) {
        long from = keys.any(random);
        scan(session, from, Math.max(from, keys.any(random)));
        floor(session, keys.any(random));
        ceiling(session, keys.any(random));
      }
    }
  }

  private void scan(Session session, long from, long to) {
    List<Long> seen = new ArrayList<>();
    List<Long> steadySeen = new ArrayList<>();
    long visited =
        session.scan(
            from,
            to,
            Long.MAX_VALUE,
            (key, value) -> {
              seen.add(key);
              Long expected = steady.get(key);
              if (expected != null) {
                steadySeen.add(key);
                assertThat(value).as("value of a steady key").isEqualTo(expected);
              }
              return true;
            });
    assertThat(visited).isEqualTo(seen.size());
    long before = from;
    for (int i = 0; i < seen.size(); i++) {
      long key = seen.get(i);
      if (key > to || key < before || (i > 0 && key == before)) {
        throw new AssertionError(
            "out of order: from=" + from + ", to=" + to + ", before=" + before + ", key=" + key);
      }
      before = key;
    }
    List<Long> expected = List.copyOf(steady.subMap(from, true, to, true).keySet());
    assertThat(steadySeen).as("from=%d, to=%d", from, to).isEqualTo(expected);
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
