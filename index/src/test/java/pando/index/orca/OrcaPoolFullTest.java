package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.PoolFullException;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;

/**
 * Leaves that are large for the pool: what was stored can be removed where nothing can be added.
 */
@Timeout(300)
class OrcaPoolFullTest {
  private static final int ROUNDS = Seeds.count(1, 3, 8);
  private static final int REFUSED_BEFORE_FULL = 10;

  private final NavigableMap<Long, Long> model = new TreeMap<>();

  /**
   * A removal has room in a delta, and finds some gap when its leaf merges.
   *
   * @param refusedMax refusals allowed while all keys are removed: a removal is refused where its
   *     leaf's delta is full and the leaf fits no gap; it is repeated later
   */
  @Tag("campaign")
  @ParameterizedTest(name = "delta-changes={0} KiB={1}")
  @CsvSource({"8, 128, 0", "255, 128, 100"})
  void shouldRemoveWhereNothingCanBeAdded(int deltaChanges, int kibiBytes, int refusedMax) {
    fillAndRemove(deltaChanges, kibiBytes, refusedMax);
  }

  @Tag("campaign")
  @ParameterizedTest(name = "delta-changes={0} KiB={1}")
  @CsvSource({"2, 128, 0", "2, 256, 0", "255, 256, 100"})
  void shouldRemoveWhereNothingCanBeAddedAndDeltasAreSmallOrLeavesMany(
      int deltaChanges, int kibiBytes, int refusedMax) {
    fillAndRemove(deltaChanges, kibiBytes, refusedMax);
  }

  private void fillAndRemove(int deltaChanges, int kibiBytes, int refusedMax) {
    OrcaOptions options =
        OrcaOptions.defaults()
            .withComputeServers(1)
            .withCacheBytes(128 << 10)
            .with("delta-changes", String.valueOf(deltaChanges));
    for (int round = 0; round < ROUNDS; round++) {
      model.clear();
      SplittableRandom random = new SplittableRandom(Seeds.of(2801 + round));
      HookedFabric fabric = new HookedFabric(Pools.open(2, kibiBytes << 10, 1)).withTasksByHand();
      try (fabric;
          OrcaIndex index = OrcaIndex.create(fabric, options);
          Session session = index.session()) {
        fill(session, random);
        removeAll(session, random, refusedMax);
        assertThat(session.ceiling(Long.MIN_VALUE)).isFalse();
      }
    }
  }

  private void fill(Session session, SplittableRandom random) {
    for (int refused = 0; refused < REFUSED_BEFORE_FULL; ) {
      long key = random.nextLong();
      try {
        session.store(key, ~key);
        model.put(key, ~key);
      } catch (PoolFullException _) {
        refused++;
      }
    }
  }

  private void removeAll(Session session, SplittableRandom random, int refusedMax) {
    int refused = 0;
    while (!model.isEmpty()) {
      Long key = model.ceilingKey(random.nextLong());
      long removed = key == null ? model.firstKey() : key;
      try {
        session.discard(removed);
        model.remove(removed);
      } catch (PoolFullException _) {
        assertThat(++refused).isLessThanOrEqualTo(refusedMax);
      }
    }
  }
}
