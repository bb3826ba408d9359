package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.Costs;
import pando.index.Entries;
import pando.index.Session;
import pando.index.Systems;

/** What operations cost: the table of DEX in docs/systems.md. */
@Timeout(300)
class DexVerbsTest {
  private static final int ENTRIES = 10_000;
  private static final long STEP = 1_000;

  private final NavigableMap<Long, Long> model = Entries.spaced(ENTRIES, STEP);

  @SuppressWarnings("NullAway.Init") // Set by run.
  private Session session;

  @SuppressWarnings("NullAway.Init") // Set by run.
  private DexIndex index;

  /** Operations on keys that are there. */
  enum Case {
    GET,
    PUT,
    REMOVE_NOTHING
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    // admission, operation, verbs of each
    "1,           GET,            'reads=0, writes=0, atomics=0, calls=0, trips=0, in=0, out=0'",
    "1,           PUT,            'reads=0, writes=0, atomics=0, calls=0, trips=0, in=0, out=0'",
    "1,           REMOVE_NOTHING, 'reads=0, writes=0, atomics=0, calls=0, trips=0, in=0, out=0'",
    "0,           GET,            'reads=1, writes=0, atomics=0, calls=0, trips=1, in=1000, out=0'",
    "0,           PUT,            'reads=1, writes=1, atomics=0, calls=0, trips=2, in=1000,"
        + " out=1000'",
    "0,           REMOVE_NOTHING, 'reads=1, writes=0, atomics=0, calls=0, trips=1, in=1000, out=0'",
  })
  void shouldCost(String admission, Case operation, String verbs) {
    run(
        options().with("admission", admission),
        () -> {
          model.keySet().forEach(session::get);
          for (long key : model.keySet()) {
            assertThat(cost(operation(operation), key)).as("key %d", key).isEqualTo(verbs);
          }
        });
  }

  @Test
  void shouldOffloadByOneCall() {
    DexOptions options =
        options().with("offloading", "on").with("contrary", "1").with("path-cost", "0.01");
    run(
        options,
        () -> {
          session.get(0);
          assertThat(cost(session::get, ENTRIES * STEP / 2))
              .isEqualTo("reads=0, writes=0, atomics=0, calls=1, trips=1, in=32, out=72");
        });
  }

  @Test
  void shouldSplitBelowAPrivateParentInTwoTrips() {
    run(
        options().with("admission", "1"),
        () -> {
          model.keySet().forEach(session::get);
          assertThat(first(verbs -> verbs.writes > 0, key -> session.put(key, key), STEP * 90 + 1))
              .isEqualTo("reads=0, writes=2, atomics=0, calls=0, trips=2, in=0, out=2000");
        });
  }

  @Test
  void shouldSplitBelowASharedParentInFourTripsMore() {
    run(
        options().with("admission", "1"),
        () -> {
          model.keySet().forEach(session::get);
          assertThat(first(verbs -> verbs.atomics > 0, key -> session.put(key, key), STEP + 1))
              .isEqualTo("reads=1, writes=6, atomics=1, calls=0, trips=6, in=1008, out=5024");
        });
  }

  @Tag("campaign")
  @Test
  void shouldMergeBelowASharedParentInThreeTripsMore() {
    run(
        options().with("admission", "1"),
        () -> {
          model.keySet().forEach(session::get);
          assertThat(first(verbs -> verbs.atomics > 0, session::remove, 0))
              .isEqualTo("reads=1, writes=5, atomics=1, calls=0, trips=5, in=1008, out=4024");
        });
  }

  /** Returns what the first of many operations cost that needed such verbs. */
  private String first(Predicate<VerbCounters> needed, LongConsumer operation, long from) {
    for (long key = from; key < STEP * ENTRIES; key++) {
      VerbCounters verbs = verbs(operation, key);
      if (needed.test(verbs)) {
        return Costs.text(verbs);
      }
    }
    throw new AssertionError("no operation needed them");
  }

  private LongConsumer operation(Case operation) {
    return switch (operation) {
      case GET -> session::get;
      case PUT -> key -> session.put(key, ~key);
      case REMOVE_NOTHING -> key -> session.remove(key + 1);
    };
  }

  private String cost(LongConsumer operation, long key) {
    return Costs.text(verbs(operation, key));
  }

  private VerbCounters verbs(LongConsumer operation, long key) {
    return Costs.of(index, () -> operation.accept(key));
  }

  private static DexOptions options() {
    return DexOptions.defaults()
        .withComputeServers(1)
        .with("offloading", "off")
        .with("write-back-interval", "0");
  }

  private void run(DexOptions options, Runnable body) {
    PoolOptions pool =
        PoolOptions.defaults()
            .withMemoryServers(2)
            .withBytesPerServer(64 << 20)
            .withHandlers(Systems.handlers());
    try (Fabric fabric = LocalFabric.open(pool);
        DexIndex opened = DexIndex.create(fabric, options);
        Session first = opened.session()) {
      index = opened;
      session = first;
      index.bulkLoad(Entries.of(model), 0.7);
      body.run();
    }
  }
}
