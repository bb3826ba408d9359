package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Costs;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;

/** What operations cost where all models are known (ROLEX, one-sided operations). */
@Tag("campaign")
@Timeout(300)
class RolexVerbsTest {
  private static final int ENTRIES = 4_000;
  private static final int LEAF_BYTES = 288;
  private static final int LEAVES_MAX = 3;
  private static final int SHARE = 10;
  private static final int OPERATIONS = ENTRIES / SHARE;
  private static final int DELTA = 16;

  private static final RolexOptions OPTIONS =
      RolexOptions.defaults().withComputeServers(1).with("retraining", "off");

  /** Operations, each on a key of a tenth. */
  enum Case {
    GET,
    GET_OF_NOTHING,
    UPDATE,
    PUT,
    PUT_IF_ABSENT,
    UPDATE_OF_NOTHING,
    INSERT,
    REMOVE,
    REMOVE_OF_NOTHING,
    FLOOR,
    CEILING;

    private void run(Session session, long key) {
      switch (this) {
        case GET -> assertThat(session.get(key)).isTrue();
        case GET_OF_NOTHING -> assertThat(session.get(key ^ 1)).isFalse();
        case UPDATE -> assertThat(session.update(key, ~key)).isTrue();
        case PUT -> assertThat(session.put(key, ~key)).isTrue();
        case PUT_IF_ABSENT -> assertThat(session.putIfAbsent(key, ~key)).isFalse();
        case UPDATE_OF_NOTHING -> assertThat(session.update(key ^ 1, 1)).isFalse();
        case INSERT -> assertThat(session.put(key ^ 1, 1)).isFalse();
        case REMOVE -> assertThat(session.remove(key)).isTrue();
        case REMOVE_OF_NOTHING -> assertThat(session.remove(key ^ 1)).isFalse();
        case FLOOR -> assertThat(session.floor(key)).isTrue();
        case CEILING -> assertThat(session.ceiling(key)).isTrue();
      }
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    // operation,       writes, atomics, trips
    "GET,               0,      0,       1",
    "GET_OF_NOTHING,    0,      0,       1",
    "UPDATE,            2,      1,       2",
    "PUT,               2,      1,       2",
    "PUT_IF_ABSENT,     1,      1,       2",
    "UPDATE_OF_NOTHING, 1,      1,       2",
    "INSERT,            2,      1,       2",
    "REMOVE,            2,      1,       2",
    "REMOVE_OF_NOTHING, 1,      1,       2",
    "FLOOR,             0,      0,       1",
    "CEILING,           0,      0,       1",
  })
  void shouldCost(Case operation, long writes, long atomics, long roundTrips) {
    SplittableRandom random = new SplittableRandom(Seeds.of(1101));
    NavigableMap<Long, Long> model = Entries.random(random, ENTRIES);
    try (Fabric fabric = Pools.open(2, 8 << 20, 1101);
        RolexIndex index = RolexIndex.create(fabric, OPTIONS);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.5);
      model.keySet().forEach(session::get);
      List<Long> keys = new ArrayList<>();
      model.keySet().forEach(keys::add);
      VerbCounters verbs =
          Costs.of(
              index,
              () -> {
                for (int i = 0; i < ENTRIES; i += SHARE) {
                  operation.run(session, keys.get(i));
                }
              });
      System.out.println(operation + ": " + verbs);
      assertThat(verbs.calls).as("calls").isZero();
      assertThat(verbs.reads).as("reads").isEqualTo(OPERATIONS);
      assertThat(verbs.writes).as("writes").isEqualTo(writes * OPERATIONS);
      assertThat(verbs.atomics).as("atomics").isEqualTo(atomics * OPERATIONS);
      assertThat(verbs.roundTrips).as("round trips").isEqualTo(roundTrips * OPERATIONS);
      long words = 2 * Long.BYTES * atomics * OPERATIONS;
      assertThat(verbs.bytesIn)
          .as("bytes in")
          .isLessThanOrEqualTo((long) LEAVES_MAX * LEAF_BYTES * OPERATIONS + words);
    }
  }

  /** Makes an index with one leaf that is full, in the midst of others. */
  private static NavigableMap<Long, Long> fillLeaf(RolexIndex index, Session session, int more) {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(1102), ENTRIES);
    index.bulkLoad(Entries.of(model), 1);
    model.keySet().forEach(session::get);
    long key = keyOfTheMiddle(model);
    for (int i = 1; i <= more; i++) {
      assertThat(session.put(key + i, i)).isFalse();
      model.put(key + i, (long) i);
    }
    return model;
  }

  private static long keyOfTheMiddle(NavigableMap<Long, Long> model) {
    return model.keySet().stream().skip(ENTRIES / 2).findFirst().orElseThrow();
  }

  private static void check(VerbCounters verbs, long reads, long writes, long atomics, long trips) {
    assertThat(verbs.calls).as("calls").isZero();
    assertThat(verbs.reads).as("reads").isEqualTo(reads);
    assertThat(verbs.writes).as("writes").isEqualTo(writes);
    assertThat(verbs.atomics).as("atomics").isEqualTo(atomics);
    assertThat(verbs.roundTrips).as("round trips").isEqualTo(trips);
  }

  @ParameterizedTest
  @EnumSource(
      names = {"GET", "UPDATE", "PUT", "PUT_IF_ABSENT", "REMOVE"},
      value = Case.class)
  void shouldReadAKnownSynonymLeafInTheSameRoundTrip(Case operation) {
    try (Fabric fabric = Pools.open(2, 8 << 20, 1102);
        RolexIndex index = RolexIndex.create(fabric, OPTIONS);
        Session session = index.session()) {
      NavigableMap<Long, Long> model = fillLeaf(index, session, 3);
      long synonym = keyOfTheMiddle(model) + 2;
      VerbCounters verbs = Costs.of(index, () -> operation.run(session, synonym));
      System.out.println(operation + ": " + verbs);
      boolean writes = operation != Case.GET;
      int written = operation == Case.PUT_IF_ABSENT ? 0 : 1;
      check(verbs, 2, writes ? 1 + written : 0, writes ? 1 : 0, writes ? 2 : 1);
      long inserted = keyOfTheMiddle(model) + 9;
      check(Costs.of(index, () -> session.put(inserted, 1)), 2, 2, 1, 2);
      check(Costs.of(index, () -> session.get(inserted)), 2, 0, 0, 1);
      check(Costs.of(index, () -> session.get(inserted + 1)), 2, 0, 0, 1);
    }
  }

  /** Whoever does not know a synonym leaf reads it behind the leaf, once. */
  @Test
  void shouldReadAnUnknownSynonymLeafInTheNextRoundTrip() {
    try (Fabric fabric = Pools.open(2, 8 << 20, 1103);
        RolexIndex index = RolexIndex.create(fabric, OPTIONS);
        Session session = index.session();
        RolexIndex joined = OPTIONS.join(fabric, 0, 1);
        Session other = joined.session()) {
      NavigableMap<Long, Long> model = fillLeaf(index, session, 1);
      long middle = keyOfTheMiddle(model);
      other.get(model.higherKey(middle + 1));
      other.get(middle);
      check(Costs.of(joined, () -> assertThat(other.get(middle + 1)).isTrue()), 2, 0, 0, 2);
      check(Costs.of(joined, () -> assertThat(other.get(middle + 1)).isTrue()), 2, 0, 0, 1);
      check(Costs.of(joined, () -> assertThat(other.get(middle)).isTrue()), 2, 0, 0, 1);
    }
  }

  /** The leaf, the synonym leaf, the count of the run, and the unlock go out in one list. */
  @Test
  void shouldMakeASynonymLeafInNoMoreRoundTripsThanItTakesToAllocateIt() {
    try (Fabric fabric = Pools.open(2, 8 << 20, 1104);
        RolexIndex index = RolexIndex.create(fabric, OPTIONS);
        Session session = index.session()) {
      NavigableMap<Long, Long> model = fillLeaf(index, session, 1);
      long middle = keyOfTheMiddle(model);
      for (int i = 2; i <= DELTA; i++) {
        session.put(middle + i, i);
      }
      VerbCounters verbs = Costs.of(index, () -> session.put(middle + DELTA + 1, 1));
      System.out.println("second synonym leaf: " + verbs);
      assertThat(verbs.reads).isEqualTo(2);
      assertThat(verbs.writes).isEqualTo(3);
      assertThat(verbs.roundTrips - verbs.calls).isEqualTo(2);
      assertThat(verbs.roundTrips).isLessThanOrEqualTo(3);
      // The last entry of a synonym leaf goes with it.
      verbs = Costs.of(index, () -> assertThat(session.remove(middle + DELTA + 1)).isTrue());
      System.out.println("synonym leaf removed: " + verbs);
      assertThat(verbs.roundTrips).isLessThanOrEqualTo(3);
    }
  }

  @ParameterizedTest(name = "entries={0}")
  @CsvSource({"1, 1", "10, 2", "100, 2", "300, 3", "1000, 5"})
  void shouldScan(int entries, int roundTripsMax) {
    try (Fabric fabric = Pools.open(2, 8 << 20, 1105);
        RolexIndex index = RolexIndex.create(fabric, OPTIONS);
        Session session = index.session()) {
      NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(1105), ENTRIES);
      index.bulkLoad(Entries.of(model), 0.7);
      model.keySet().forEach(session::get);
      int number = 0;
      long most = 0;
      long bytes = 0;
      for (long key : model.headMap(keyOfTheMiddle(model)).keySet()) {
        if (number++ % SHARE == 0) {
          VerbCounters verbs =
              Costs.of(
                  index,
                  () -> assertThat(session.scan(key, entries, (k, v) -> true)).isEqualTo(entries));
          most = Math.max(most, verbs.roundTrips);
          bytes = Math.max(bytes, verbs.bytesIn);
        }
      }
      System.out.println("scan of " + entries + ": round trips=" + most + ", bytes=" + bytes);
      assertThat(most).isLessThanOrEqualTo(roundTripsMax);
    }
  }
}
