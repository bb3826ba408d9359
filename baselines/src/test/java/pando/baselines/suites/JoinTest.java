package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.TreeCheck;

/** Processes that share an index agree on what its nodes and locks are, and on nothing else. */
@FewRows
@Timeout(300)
class JoinTest {
  private static final int OPERATIONS = 6_000;
  private static final int KEYS = 600;

  @ParameterizedTest
  @CsvSource({
    "dex, node-bytes=256",
    "orca, node-bytes=1024",
    "sherman, node-bytes=256",
    "sherman, local-locks=off on-chip-locks=off",
    "sherman, partitioned=on",
    "sherman, validation=versions",
    "p-sherman, partitioned=off",
    "fg, on-chip-locks=on",
    "deft, node-bytes=640",
    "deft, hash-leaves=off",
    "deft, sx-locks=off validation=checksum",
    "deft, validation=checksum",
    "rolex, node-bytes=512",
    "rolex, delta=5",
    "rolex, epsilon=5",
    "rolex, writes=call",
    "xstore-d, writes=one-sided",
    "emt-d, node-bytes=320",
    "smart, reserve=whole",
    "smart, partitioned=on",
  })
  void shouldRefuseOtherNodesAndLocks(String system, String settings) {
    Configuration made = SystemUnderTest.of(system).tiny(2);
    Configuration other = made.with("cache-bytes=1MiB").with(settings);
    try (Fabric fabric = Pools.open(2, 8 << 20, 931)) {
      made.create(fabric, 0, 1).close();
      assertThatIllegalStateException()
          .isThrownBy(() -> other.join(fabric, 1, 1))
          .withMessageContaining("the pool holds no such index");
      made.join(fabric, 1, 1).close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "dex, subtree-level=0 merge-share=0.2 caching=off offloading=off cooling-share=0.3 samples=5",
    "orca, leaf-share=1 page-children=60 merge-share=0.4 delta-share=0.5 delta-changes=3 twin=off",
    "sherman, local-locks=off handovers=0 combine=off entry-writes=off merge-share=0.5",
    "p-sherman, handovers=0 combine=off entry-writes=off merge-share=0.5 merged-share=1",
    "fg, entry-writes=on combine=on merge-share=0 merged-share=0.5",
    "deft, segments=off caching=off merge-share=0.5 merged-share=1",
    "rolex, leaves-max=63 retraining=off retrain-fill=1 synonym-share=5 handovers=0",
    "xstore-d, leaves-max=63 retrainers=1 retrain-fill=0.3 synonym-share=0 merge-share=0.5",
    "emt-d, kept-nodes=1 rows=250",
    "smart, fifo-parts=1 pinned-depth=2 merge-share=0.5",
    "p-smart, fifo-parts=1 pinned-depth=0 merge-share=0",
  })
  void shouldShareAnIndexWhereOtherSettingsDiffer(String system, String settings) {
    Configuration configuration = SystemUnderTest.of(system).tiny(2);
    Configuration other = configuration.with("cache-bytes=1MiB").with(settings);
    try (Fabric fabric = Pools.open(2, 16 << 20, 932)) {
      Map<Long, Long> model = new TreeMap<>();
      try (RangeIndex one = configuration.create(fabric, 0, 1);
          RangeIndex two = other.join(fabric, 1, 1)) {
        run(one, two, model);
      }
      assertThat(TreeCheck.walk(fabric, configuration).entries()).isEqualTo(model);
    }
  }

  /** Operates on one and on the other in turn: fills the index, and empties most of it. */
  private static void run(RangeIndex one, RangeIndex two, Map<Long, Long> model) {
    SplittableRandom random = new SplittableRandom(Seeds.of(933));
    try (Session first = one.session();
        Session second = two.session()) {
      for (int i = 0; i < OPERATIONS; i++) {
        long key = (random.nextInt(KEYS) - KEYS / 2) * 1_000L;
        boolean toFirst = one.serves(key) && (!two.serves(key) || random.nextBoolean());
        boolean removes = random.nextInt(4) < (i < OPERATIONS / 2 ? 1 : 3);
        operate(toFirst ? first : second, key, removes ? null : (Long) (long) i, model);
      }
    }
  }

  private static void operate(
      Session session, long key, @Nullable Long value, Map<Long, Long> model) {
    assertThat(session.get(key)).isEqualTo(model.containsKey(key));
    if (value == null) {
      assertThat(session.remove(key)).isEqualTo(model.remove(key) != null);
    } else {
      assertThat(session.put(key, value)).isEqualTo(model.put(key, value) != null);
    }
  }
}
