package pando.baselines.sherman;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;

/** What operations cost where the nodes of level 1 are cached (Sherman table 2). */
@Tag("campaign")
@Timeout(300)
class ShermanVerbsTest {
  private static final int ENTRIES = 1_000;
  private static final int IMAGE = 1_024 - BLinkLayout.IMAGE;

  private final NavigableMap<Long, Long> model =
      Entries.random(new SplittableRandom(Seeds.of(821)), ENTRIES);

  /** Operations, each on a key that is there, which leave the tree as it is. */
  enum Case {
    GET,
    PUT,
    UPDATE_OF_NOTHING
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource({
    // system,  settings,             operation,         reads, writes, atomics, trips, bytes out
    "sherman,   validation=checksum,  GET,               1,     0,      0,       1,     0",
    "sherman,   validation=versions,  GET,               3,     0,      0,       1,     0",
    "sherman,   validation=checksum,  PUT,               1,     3,      1,       3,     60",
    "sherman,   validation=versions,  PUT,               2,     2,      1,       3,     42",
    "sherman,   combine=off,          PUT,               1,     3,      1,       5,     60",
    "sherman,   entry-writes=off,     PUT,               1,     2,      1,       3,     1050",
    "sherman,   validation=checksum,  UPDATE_OF_NOTHING, 1,     1,      1,       3,     34",
    "p-sherman, validation=checksum,  GET,               1,     0,      0,       1,     0",
    "p-sherman, validation=checksum,  PUT,               1,     2,      0,       2,     26",
    "p-sherman, validation=checksum,  UPDATE_OF_NOTHING, 1,     0,      0,       1,     0",
    "fg,        validation=checksum,  GET,               1,     0,      0,       1,     0",
    "fg,        validation=checksum,  PUT,               1,     2,      1,       4,     1050",
  })
  void shouldCost(
      String system,
      String settings,
      Case operation,
      long reads,
      long writes,
      long atomics,
      long roundTrips,
      long bytesOut) {
    String[] setting = settings.split("=", 2);
    ShermanOptions options =
        ShermanOptions.of(system).withComputeServers(1).with(setting[0], setting[1]);
    try (Fabric fabric = Pools.open(2, 8 << 20, 821);
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      model.keySet().forEach(session::get);
      VerbCounters before = index.verbs();
      for (long key : model.keySet()) {
        switch (operation) {
          case GET -> assertThat(session.get(key)).isTrue();
          case PUT -> assertThat(session.put(key, ~key)).isTrue();
          case UPDATE_OF_NOTHING -> assertThat(session.update(key ^ 1, 1)).isFalse();
        }
      }
      VerbCounters verbs = index.verbs();
      verbs.subtract(before);
      assertThat(verbs.reads).as("reads").isEqualTo(reads * ENTRIES);
      assertThat(verbs.writes).as("writes").isEqualTo(writes * ENTRIES);
      assertThat(verbs.atomics).as("atomics").isEqualTo(atomics * ENTRIES);
      assertThat(verbs.calls).as("calls").isZero();
      assertThat(verbs.roundTrips).as("round trips").isEqualTo(roundTrips * ENTRIES);
      assertThat(verbs.bytesOut).as("bytes out").isEqualTo(bytesOut * ENTRIES);
      assertThat(verbs.bytesIn).as("bytes in").isGreaterThanOrEqualTo((long) IMAGE * ENTRIES);
    }
  }
}
