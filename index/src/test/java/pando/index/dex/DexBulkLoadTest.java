package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.ModelRun;
import pando.index.Session;
import pando.index.Tree;

/** Bulk loads, checked against a {@link TreeMap} before and after random operations. */
@Timeout(120)
class DexBulkLoadTest {
  private static final int OPERATIONS = 15_000;

  @ParameterizedTest(name = "seed={0} entries={1} fill={2} memory={3} compute={4} set={5}")
  @CsvSource({
    "201, 0,     0.7,  1,  1,  offloading=off",
    "202, 0,     1,    2,  5,  contrary=0.5",
    "203, 1,     0.5,  1,  1,  offloading=off",
    "204, 1,     0.7,  3,  16, contrary=0.5",
    "205, 7,     1,    2,  4,  offloading=off",
    "206, 24,    0.7,  2,  4,  offloading=off",
    "207, 25,    0.7,  2,  4,  contrary=0.5",
    "208, 200,   0.5,  4,  16, contrary=0.5",
    "209, 5000,  0.5,  1,  1,  offloading=off",
    "210, 5000,  0.7,  4,  4,  contrary=0.5",
    "211, 5000,  1,    16, 16, contrary=0.3",
    "212, 20000, 0.7,  3,  7,  contrary=0.5",
    "213, 20000, 0.01, 2,  3,  offloading=off",
    "214, 20000, 0.7,  4,  4,  subtree-level=0",
    "215, 20000, 0.7,  4,  4,  subtree-level=1",
    "216, 20000, 1,    4,  2,  subtree-level=5",
  })
  void shouldHoldWhatWasLoaded(
      long seed, int entries, double fill, int memoryServers, int computeServers, String setting) {
    long start = Seeds.of(seed);
    SplittableRandom random = new SplittableRandom(start);
    String[] parts = setting.split("=", 2);
    DexOptions options = Pools.tiny(computeServers).with(parts[0], parts[1]);
    NavigableMap<Long, Long> model = Entries.random(random, entries);
    try (Fabric fabric = Pools.open(memoryServers, 16 << 20, start)) {
      DexIndex index = DexIndex.create(fabric, options);
      try (index) {
        assertThat(index.bulkLoad(Entries.of(model), fill)).isEqualTo(entries);
        Tree loaded = TreeCheck.walk(fabric, options);
        assertThat(loaded.entries()).isEqualTo(model);
        assertThat(loaded.strays()).isZero();
        assertThat((long) loaded.nodes() * options.nodeBytes()).isEqualTo(index.poolBytes());
        try (Session session = index.session()) {
          new ModelRun(session, model, random, 3_000).operations(OPERATIONS);
        }
      }
      Tree tree = TreeCheck.walk(fabric, options);
      assertThat(tree.entries()).isEqualTo(model);
      assertThat((long) tree.nodes() * options.nodeBytes()).isEqualTo(index.poolBytes());
    }
  }

  @ParameterizedTest(name = "seed={0} memory={1} compute={2} set={3}")
  @CsvSource({
    "221, 1, 1, offloading=off",
    "222, 2, 4, offloading=off",
    "223, 4, 16, contrary=0.5",
  })
  void shouldGiveBackNodesOfWhatIsDeleted(
      long seed, int memoryServers, int computeServers, String setting) {
    long start = Seeds.of(seed);
    SplittableRandom random = new SplittableRandom(start);
    String[] parts = setting.split("=", 2);
    DexOptions options = Pools.tiny(computeServers).with(parts[0], parts[1]);
    try (Fabric fabric = Pools.open(memoryServers, 16 << 20, start)) {
      DexIndex index = DexIndex.create(fabric, options);
      try (index;
          Session session = index.session()) {
        NavigableMap<Long, Long> model = Entries.random(random, 5_000);
        index.bulkLoad(Entries.of(model), 0.7);
        long loaded = index.poolBytes();
        long few = few(computeServers) * options.nodeBytes();
        for (int round = 0; round < 4; round++) {
          removeAll(session, model, random);
          assertThat(index.poolBytes()).as("round %d", round).isLessThan(few);
          model = Entries.random(random, 5_000);
          model.forEach(session::put);
          assertThat(index.poolBytes()).as("round %d", round).isLessThan(2 * loaded);
        }
        removeAll(session, model, random);
        assertThat(session.ceiling(Long.MIN_VALUE)).isFalse();
        assertThat(session.floor(Long.MAX_VALUE)).isFalse();
      }
      Tree tree = TreeCheck.walk(fabric, options);
      System.out.println("nodes left=" + tree.nodes());
      assertThat(tree.entries()).isEmpty();
      assertThat((long) tree.nodes() * options.nodeBytes()).isEqualTo(index.poolBytes());
      assertThat(tree.nodes()).isLessThanOrEqualTo((int) few(computeServers));
    }
  }

  /** What may be left of an empty tree: merges need neighbours, and stop at partitions. */
  private static long few(int computeServers) {
    return 24L * computeServers + 10;
  }

  private static void removeAll(
      Session session, NavigableMap<Long, Long> model, SplittableRandom random) {
    long[] keys = model.keySet().stream().mapToLong(Long::longValue).toArray();
    for (int i = keys.length - 1; i >= 0; i--) {
      int other = random.nextInt(i + 1);
      long key = keys[other];
      keys[other] = keys[i];
      assertThat(session.remove(key)).isTrue();
      assertThat(session.value()).isEqualTo(model.get(key));
    }
  }
}
