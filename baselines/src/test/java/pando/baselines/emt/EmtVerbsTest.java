package pando.baselines.emt;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Costs;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Session;

/** What operations cost: each is one CALL, with the bytes that docs/systems.md has. */
@Timeout(300)
class EmtVerbsTest {
  private static final int ENTRIES = 3_000;
  private static final long STEP = 100;
  private static final int MEMORY_SERVERS = 3;

  private final NavigableMap<Long, Long> model = Entries.spaced(ENTRIES, STEP);

  /** An operation on a key that is there. */
  enum Case {
    GET,
    GET_OF_NOTHING,
    UPDATE,
    UPDATE_OF_NOTHING,
    PUT,
    PUT_IF_ABSENT,
    INSERT,
    REMOVE,
    REMOVE_OF_NOTHING,
    REPLACE,
    REMOVE_EXPECTED,
    FLOOR,
    CEILING;

    private void run(Session session, long key, long value) {
      switch (this) {
        case GET -> assertThat(session.get(key)).isTrue();
        case GET_OF_NOTHING -> assertThat(session.get(key + 1)).isFalse();
        case UPDATE -> assertThat(session.update(key, ~key)).isTrue();
        case UPDATE_OF_NOTHING -> assertThat(session.update(key + 1, 1)).isFalse();
        case PUT -> assertThat(session.put(key, ~key)).isTrue();
        case PUT_IF_ABSENT -> assertThat(session.putIfAbsent(key, ~key)).isFalse();
        case INSERT -> assertThat(session.put(key + 1, 1)).isFalse();
        case REMOVE -> assertThat(session.remove(key)).isTrue();
        case REMOVE_OF_NOTHING -> assertThat(session.remove(key + 1)).isFalse();
        case REPLACE -> assertThat(session.replace(key, value, 7)).isTrue();
        case REMOVE_EXPECTED -> assertThat(session.remove(key, value)).isTrue();
        case FLOOR -> assertThat(session.floor(key + 1)).isTrue();
        case CEILING -> assertThat(session.ceiling(key - 1)).isTrue();
      }
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    // operation,         out, in
    "GET,                 24,  16",
    "GET_OF_NOTHING,      24,  16",
    "UPDATE,              56,  24",
    "UPDATE_OF_NOTHING,   56,  24",
    "PUT,                 56,  24",
    "PUT_IF_ABSENT,       56,  24",
    "INSERT,              56,  24",
    "REMOVE,              56,  24",
    "REMOVE_OF_NOTHING,   56,  24",
    "REPLACE,             64,  24",
    "REMOVE_EXPECTED,     64,  24",
    "FLOOR,               24,  32",
    "CEILING,             24,  32",
  })
  void shouldTakeOneCall(Case operation, int bytesOut, int bytesIn) {
    try (Fabric fabric = Pools.open(MEMORY_SERVERS, 8 << 20, 1);
        EmtIndex index = EmtOptions.defaults().create(fabric, 0, 4);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      session.get(0);
      session.put(-1, 1); // The tree gets nodes.
      long key = model.firstKey() + STEP * 5;
      long value = Objects.requireNonNull(model.get(key));
      VerbCounters verbs = Costs.of(index, () -> operation.run(session, key, value));
      assertThat(verbs.calls).isEqualTo(1);
      assertThat(verbs.roundTrips).isEqualTo(1);
      assertThat(verbs.reads + verbs.writes + verbs.atomics).isZero();
      assertThat(verbs.bytesOut).isEqualTo(bytesOut);
      assertThat(verbs.bytesIn).isEqualTo(bytesIn);
    }
  }

  @ParameterizedTest(name = "entries={0} down={1}")
  @CsvSource({"10, false", "10, true", "250, false", "250, true", "600, false", "600, true"})
  void shouldScanByFewCalls(int entries, boolean down) {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        EmtIndex index = EmtOptions.defaults().create(fabric, 0, 4);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      session.get(0);
      long least = model.firstKey() + STEP * 20;
      long greatest = least + (entries - 1) * STEP;
      VerbCounters verbs =
          Costs.of(
              index,
              () -> {
                long visited =
                    down
                        ? session.scanDown(greatest, Long.MIN_VALUE, entries, (_, _) -> true)
                        : session.scan(least, Long.MAX_VALUE, entries, (_, _) -> true);
                assertThat(visited).isEqualTo(entries);
              });
      int calls = (entries + 249) / 250;
      assertThat(verbs.calls).isEqualTo(calls);
      assertThat(verbs.bytesOut).isEqualTo(40L * calls);
      assertThat(verbs.bytesIn).isEqualTo(16L * calls + 16L * entries);
      assertThat(verbs.reads + verbs.writes + verbs.atomics).isZero();
    }
  }

  /** A floor whose memory server has no such key asks the next one, and the first one again. */
  @Test
  void shouldConfirmWhatItPassed() {
    try (Fabric fabric = Pools.open(MEMORY_SERVERS, 8 << 20, 1);
        EmtIndex index = EmtOptions.defaults().create(fabric, 0, 4);
        Session session = index.session()) {
      session.put(Long.MIN_VALUE, 1);
      VerbCounters one = Costs.of(index, () -> session.floor(0));
      assertThat(one.calls).isEqualTo(3);
      VerbCounters two = Costs.of(index, () -> session.floor(Long.MAX_VALUE));
      assertThat(two.calls).isEqualTo(5);
      assertThat(session.key()).isEqualTo(Long.MIN_VALUE);
    }
  }

  @Test
  void shouldCountEntriesInOneTrip() {
    try (Fabric fabric = Pools.open(MEMORY_SERVERS, 8 << 20, 1);
        EmtIndex index = EmtOptions.defaults().create(fabric, 0, 4);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      session.get(0);
      VerbCounters verbs =
          Costs.of(index, () -> assertThat(session.servedSizeEstimate()).isEqualTo(ENTRIES));
      assertThat(verbs.reads).isEqualTo(MEMORY_SERVERS);
      assertThat(verbs.roundTrips).isEqualTo(1);
      assertThat(verbs.calls).isZero();
    }
  }
}
