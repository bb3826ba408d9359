package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;

/** Nodes share the words of locks: here all of a memory server share one. */
@Tag("campaign")
@Timeout(300)
class SharedWordsTest {
  private static final long KEYS = 2_000;

  private static DeftOptions options(String settings) {
    DeftOptions options = DeftOptions.defaults().with("node-bytes", "448").withComputeServers(1);
    for (String setting : settings.split(" ", -1)) {
      String[] parts = setting.split("=", 2);
      options = options.with(parts[0], parts[1]);
    }
    return options;
  }

  private static HookedFabric fabric() {
    return new HookedFabric(Pools.open(1, 8 << 20, 970)).withOnChipBytes(Long.BYTES);
  }

  /** Whoever has an empty leaf locked reads the nodes above for the next one. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "validation=opdv",
        "validation=versions",
        "validation=checksum",
        "validation=opdv sx-locks=off",
        "validation=versions caching=off",
      })
  void shouldFindANeighbourBeyondALeafThatSharesTheLockOfTheNodesAbove(String settings) {
    DeftOptions options = options(settings).with("merge-share", "0");
    try (HookedFabric fabric = fabric();
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session()) {
      for (long key = 0; key < KEYS; key++) {
        session.put(key, -key);
      }
      for (long key = 1; key < KEYS - 1; key++) {
        session.remove(key);
      }
      assertThat(session.floor(KEYS - 2)).isTrue();
      assertThat(session.key()).isZero();
      assertThat(session.ceiling(1)).isTrue();
      assertThat(session.key()).isEqualTo(KEYS - 1);
      assertThat(options.walk(fabric).problems()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "validation=opdv",
        "validation=versions",
        "validation=checksum",
        "validation=versions caching=off",
        "validation=versions hash-leaves=off",
        "validation=opdv sx-locks=off",
      })
  void shouldDoAsAModelDoes(String settings) {
    DeftOptions options = options(settings);
    TreeMap<Long, Long> model = new TreeMap<>();
    Random random = new Random(Seeds.of(971));
    try (HookedFabric fabric = fabric();
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session()) {
      for (int i = 0; i < 20_000; i++) {
        long key = random.nextLong(KEYS);
        boolean grows = i % 8_000 < 4_000;
        if (random.nextInt(4) == 0) {
          Map.Entry<Long, Long> floor = model.floorEntry(key);
          assertThat(session.floor(key)).isEqualTo(floor != null);
          if (floor != null) {
            assertThat(session.key()).isEqualTo(floor.getKey());
            assertThat(session.value()).isEqualTo(floor.getValue());
          }
        } else if (random.nextInt(4) > 0 == grows) {
          assertThat(session.put(key, i)).isEqualTo(model.put(key, (long) i) != null);
        } else {
          assertThat(session.remove(key)).isEqualTo(model.remove(key) != null);
        }
      }
      assertThat(options.walk(fabric).entries()).isEqualTo(model);
      assertThat(options.walk(fabric).problems()).isEmpty();
    }
  }
}
