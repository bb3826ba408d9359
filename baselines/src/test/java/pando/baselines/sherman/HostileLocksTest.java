package pando.baselines.sherman;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.baselines.lock.LockTables;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Threads;
import pando.index.Tree;

/** Locks whose holder never lets go. */
@Tag("campaign")
@Timeout(300)
class HostileLocksTest {
  private static final long HOLDER = (5L << LockTables.SESSION_BITS) | 7;
  private static final String NAME = "holder=computeServer 4 session 7";

  private final NavigableMap<Long, Long> model =
      Entries.random(new SplittableRandom(Seeds.of(831)), 1_000);
  private final long key = model.higherKey(0L);

  private static ShermanOptions options(String system, String validation) {
    return ShermanOptions.of(system)
        .withComputeServers(1)
        .with("node-bytes", "192")
        .with("validation", validation)
        .with("lock-wait-millis", "20");
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({"sherman, checksum", "sherman, versions", "fg, checksum", "fg, versions"})
  void shouldNameWhoHoldsALock(String system, String validation) {
    ShermanOptions options = options(system, validation);
    try (Fabric fabric = Pools.open(2, 8 << 20, 831);
        ShermanPokes pokes = new ShermanPokes(fabric, options)) {
      try (ShermanIndex index = ShermanIndex.create(fabric, options);
          Session session = index.session()) {
        index.bulkLoad(Entries.of(model), 0.7);
        long leaf = pokes.path(key)[0];
        pokes.setLock(leaf, HOLDER);
        List<Runnable> operations =
            List.of(
                () -> session.put(key, 1),
                () -> session.update(key, 1),
                () -> session.remove(key),
                () -> session.putIfAbsent(key, 1));
        for (Runnable operation : operations) {
          assertThatThrownBy(operation::run)
              .isInstanceOf(StalledException.class)
              .hasMessageContainingAll(
                  "node=" + GlobalAddress.toString(leaf),
                  "lock=" + GlobalAddress.toString(pokes.lockOf(leaf)),
                  NAME,
                  "waitedNanos=");
        }
        checkReads(session, validation);
        assertThat(options.walk(fabric).problems()).hasSize(1);
        pokes.setLock(leaf, 0);
        assertThat(session.put(key, 1)).isTrue();
        assertThat(session.value()).isEqualTo(model.get(key));
        model.put(key, 1L);
        model.forEach((each, value) -> assertThat(session.update(each, value)).isTrue());
      }
      Tree tree = options.walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
    }
  }

  /** Readers need no lock; where its word tells who writes, they wait for the writer. */
  private void checkReads(Session session, String validation) {
    if (validation.equals("versions")) {
      assertThatThrownBy(() -> session.get(key))
          .isInstanceOf(StalledException.class)
          .hasMessageContaining(NAME);
    } else {
      assertThat(session.get(key)).isTrue();
      assertThat(session.value()).isEqualTo(model.get(key));
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"sherman", "fg"})
  void shouldNotLookForANeighbourForever(String system) {
    ShermanOptions options = options(system, "checksum").with("merge-share", "0");
    try (Fabric fabric = Pools.open(2, 8 << 20, 832);
        ShermanPokes pokes = new ShermanPokes(fabric, options);
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      long leaf = pokes.path(key)[0];
      long high = pokes.high(leaf);
      for (long each : model.subMap(pokes.low(leaf), true, high, true).keySet()) {
        assertThat(session.remove(each)).isTrue();
      }
      assertThat(session.ceiling(key)).isTrue();
      pokes.setLock(leaf, HOLDER);
      assertThatThrownBy(() -> session.ceiling(key))
          .isInstanceOf(StalledException.class)
          .hasMessageContainingAll("node=" + GlobalAddress.toString(leaf), NAME);
      pokes.setLock(leaf, 0);
      assertThat(session.ceiling(key)).isTrue();
      assertThat(session.key()).isEqualTo(model.higherKey(high));
      assertThat(options.walk(fabric).problems()).isEmpty();
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"sherman", "fg"})
  void shouldTellEveryThreadThatWaits(String system) throws Exception {
    ShermanOptions options = options(system, "checksum");
    try (Fabric fabric = Pools.open(2, 8 << 20, 833);
        ShermanPokes pokes = new ShermanPokes(fabric, options);
        ShermanIndex index = ShermanIndex.create(fabric, options)) {
      index.bulkLoad(Entries.of(model), 0.7);
      long leaf = pokes.path(key)[0];
      pokes.setLock(leaf, HOLDER);
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        tasks.add(() -> {
          try (Session session = index.session()) {
            assertThatThrownBy(() -> session.put(key, 1))
                .isInstanceOf(StalledException.class)
                .hasMessageContaining("node=" + GlobalAddress.toString(leaf));
          }
          return null;
        });
      }
      Threads.run(tasks);
      pokes.setLock(leaf, 0);
      try (Session session = index.session()) {
        assertThat(session.put(key, 1)).isTrue();
      }
      assertThat(options.walk(fabric).problems()).isEmpty();
    }
  }
}
