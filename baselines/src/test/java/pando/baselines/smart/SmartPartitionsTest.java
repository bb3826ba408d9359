package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Costs;
import pando.index.HookedFabric;
import pando.index.MovablePartitions;
import pando.index.Pools;
import pando.index.Session;

/** P-SMART: what operations cost on keys of one compute server alone, and where ranges begin. */
@Timeout(300)
class SmartPartitionsTest {
  private static final int KEYS = 200;

  /** Keys from 0 on, all in one inner node, each with a place beside it. */
  private static NavigableMap<Long, Long> loaded(int step) {
    NavigableMap<Long, Long> model = new TreeMap<>();
    for (long key = 0; key < KEYS; key += step) {
      model.put(key, key);
    }
    return model;
  }

  /** Operations, each on keys of its own. */
  enum Case {
    GET,
    UPDATE,
    INSERT,
    REMOVE
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    // operation, reads, writes, atomics, trips, bytes out
    "GET,         1,     0,      0,       1,     0",
    "UPDATE,      1,     1,      0,       2,     24",
    "INSERT,      0,     3,      0,       1,     48",
    "REMOVE,      1,     2,      0,       2,     16",
  })
  void shouldCost(
      Case operation, long reads, long writes, long atomics, long trips, long bytesOut) {
    int step = operation == Case.INSERT ? 2 : 1;
    NavigableMap<Long, Long> model = loaded(step);
    SmartOptions options = SmartOptions.partitionedSmart().withComputeServers(1);
    // A node of 256 slots, which neither grows nor shrinks.
    options = options.with("merge-share", "0");
    try (Fabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 971));
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session()) {
      for (long key = 0; key < 256; key++) {
        session.put(key, key);
      }
      for (long key = 0; key < 256; key++) {
        if (!model.containsKey(key)) {
          session.remove(key);
        }
      }
      VerbCounters verbs =
          Costs.of(
              index,
              () -> {
                for (long key = 1; key < KEYS; key += 2) {
                  switch (operation) {
                    case GET -> assertThat(session.get(key)).isTrue();
                    case UPDATE -> assertThat(session.update(key, ~key)).isTrue();
                    case INSERT -> assertThat(session.put(key, ~key)).isFalse();
                    case REMOVE -> assertThat(session.remove(key)).isTrue();
                  }
                }
              });
      long count = KEYS / 2;
      assertThat(verbs.atomics).as(Costs.text(verbs)).isEqualTo(atomics * count);
      assertThat(verbs.reads).as(Costs.text(verbs)).isEqualTo(reads * count);
      assertThat(verbs.writes).as(Costs.text(verbs)).isEqualTo(writes * count);
      // A CALL brings a chunk of places.
      assertThat(verbs.roundTrips - verbs.calls).as(Costs.text(verbs)).isEqualTo(trips * count);
      assertThat(verbs.bytesOut - 16 * verbs.calls)
          .as(Costs.text(verbs))
          .isEqualTo(bytesOut * count);
    }
  }

  @Test
  void shouldMoveABoundToAnyKey() {
    SmartOptions options = SmartOptions.partitionedSmart().withComputeServers(2);
    Map<Long, Long> model = loaded(1);
    try (Fabric fabric = Pools.open(2, 8 << 20, 972);
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session()) {
      model.forEach(session::put);
      MovablePartitions partitions = index.partitions().orElseThrow();
      assertThat(partitions.moveBoundary(1, 77)).isEqualTo(77);
      model.replaceAll((key, value) -> ~value);
      model.forEach(session::put);
      int added = partitions.addComputeServer(0);
      assertThat(index.partitioning().lowOfServer(added)).isPositive().isLessThan(77);
      model.forEach((key, value) -> {
        assertThat(session.get(key)).isTrue();
        assertThat(session.value()).isEqualTo(value);
      });
      assertThat(session.floor(76)).isTrue();
      assertThat(session.key()).isEqualTo(76);
      long[] next = {0};
      session.scan(Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, (key, _) -> key == next[0]++);
      assertThat(next[0]).isEqualTo(KEYS);
    }
    assertThat(model).hasSize(KEYS);
  }
}
