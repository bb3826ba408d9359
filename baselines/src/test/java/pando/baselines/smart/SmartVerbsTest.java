package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Systems;

/**
 * What operations cost where inner nodes are cached, all places are at one memory server, and lines
 * of 64 bytes land as one.
 */
@Tag("campaign")
@Timeout(300)
class SmartVerbsTest {
  /** Of each group of 256 keys, those that are there. */
  private static final int THERE = 8;

  private static final int GROUPS = 100;

  /** Operations on one key of each group, each of another group. */
  enum Case {
    GET,
    /** Of a byte of which the node has no slot. */
    GET_ABSENT,
    /** Of a byte of which the node has a slot, with another key. */
    GET_BESIDE,
    PUT,
    PUT_SAME,
    INSERT,
    INSERT_BESIDE,
    REMOVE
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource({
    // system, settings,      operation,     reads, writes, atomics, trips
    "smart,    reserve=steps, GET,           1,     0,      0,       1",
    "smart,    reserve=steps, GET_ABSENT,    1,     0,      0,       1",
    "smart,    reserve=steps, GET_BESIDE,    2,     0,      0,       2",
    "smart,    reserve=steps, PUT,           1,     1,      1,       3",
    "smart,    reserve=steps, PUT_SAME,      1,     0,      0,       1",
    "smart,    reserve=steps, INSERT,        1,     2,      1,       3",
    "smart,    reserve=whole, INSERT,        1,     2,      1,       3",
    "smart,    reserve=steps, INSERT_BESIDE, 2,     3,      2,       4",
    "smart,    reserve=steps, REMOVE,        2,     1,      2,       3",
    "smart,    check=reverse, GET_ABSENT,    1,     0,      0,       1",
    "smart,    check=reverse, GET_BESIDE,    1,     0,      0,       1",
    "smart,    check=reverse, INSERT,        1,     2,      1,       3",
    "smart,    check=reverse, INSERT_BESIDE, 1,     4,      2,       3",
    "p-smart,  reserve=steps, PUT_SAME,      1,     0,      0,       1",
  })
  void shouldCost(
      String system,
      String settings,
      Case operation,
      long reads,
      long writes,
      long atomics,
      long roundTrips) {
    String[] setting = settings.split("=", 2);
    SmartOptions options = (SmartOptions) Systems.named(system).defaults();
    options = options.withComputeServers(1).with(setting[0], setting[1]);
    NavigableMap<Long, Long> model = new TreeMap<>();
    for (long group = 0; group < GROUPS; group++) {
      for (long number = 0; number < THERE; number++) {
        model.put(key(group, number), number);
      }
    }
    HookedFabric hooked = new HookedFabric(Pools.open(1, 8 << 20, 921)).withTasksByHand();
    try (Fabric fabric =
            options.copyCheck() == CopyCheck.REVERSE ? hooked.withSimulated() : hooked;
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 1);
      model.keySet().forEach(session::get);
      VerbCounters before = index.verbs();
      for (long group = 0; group < GROUPS; group++) {
        run(operation, session, group);
      }
      VerbCounters verbs = index.verbs();
      verbs.subtract(before);
      assertThat(verbs.reads).as("reads").isEqualTo(reads * GROUPS);
      assertThat(verbs.writes).as("writes").isEqualTo(writes * GROUPS);
      assertThat(verbs.atomics).as("atomics").isEqualTo(atomics * GROUPS);
      // Now and then, places are fetched.
      assertThat(verbs.calls).as("calls").isLessThan(GROUPS / 10);
      assertThat(verbs.roundTrips - verbs.calls).as("round trips").isEqualTo(roundTrips * GROUPS);
    }
  }

  /** The last two bytes of keys are the number, so that two more fit below each slot. */
  private static long key(long group, long number) {
    return group << 32 | number << 8;
  }

  private static void run(Case operation, Session session, long group) {
    switch (operation) {
      case GET -> assertThat(session.get(key(group, 3))).isTrue();
      case GET_ABSENT -> assertThat(session.get(key(group, THERE))).isFalse();
      case GET_BESIDE -> assertThat(session.get(key(group, 3) + 1)).isFalse();
      case PUT -> assertThat(session.put(key(group, 3), -1)).isTrue();
      case PUT_SAME -> assertThat(session.put(key(group, 3), 3)).isTrue();
      case INSERT -> assertThat(session.put(key(group, THERE), 1)).isFalse();
      case INSERT_BESIDE -> assertThat(session.put(key(group, 3) + 1, 1)).isFalse();
      case REMOVE -> assertThat(session.remove(key(group, 3))).isTrue();
    }
  }
}
