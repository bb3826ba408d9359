package pando.baselines.sherman;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;

/** Splits and merges, and compute servers whose copies they make old. */
@Tag("campaign")
@Timeout(300)
class ShermanSplitsTest {
  private static final int KEYS = 3_000;

  private static ShermanOptions options(String system, int computeServers) {
    return ShermanOptions.of(system)
        .withComputeServers(computeServers)
        .with("node-bytes", "192")
        .with("cache-bytes", "1MiB");
  }

  private static Tree sound(Fabric fabric, ShermanOptions options) {
    Tree tree = options.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.strays()).isZero();
    return tree;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, -1})
  void shouldGrowAndShrinkInOrder(int step) {
    ShermanOptions options = options("sherman", 1);
    try (Fabric fabric = Pools.open(2, 8 << 20, 841);
        ShermanPokes pokes = new ShermanPokes(fabric, options);
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session()) {
      TreeMap<Long, Long> model = new TreeMap<>();
      assertThat(pokes.path(0)).hasSize(2);
      for (long i = 0; i < KEYS; i++) {
        assertThat(session.put(i * step, i)).isFalse();
        model.put(i * step, i);
      }
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
      assertThat(pokes.path(0)).hasSizeGreaterThan(4);
      for (long i = 0; i < KEYS; i++) {
        assertThat(session.remove(i * step)).isTrue();
      }
      Tree tree = sound(fabric, options);
      assertThat(tree.entries()).isEmpty();
      assertThat(tree.nodes()).isLessThan(KEYS / 30);
      assertThat(tree.bytes()).isEqualTo(index.poolBytes());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sherman", "fg"})
  void shouldFindTheWayByOldCopies(String system) {
    ShermanOptions options = options(system, 2);
    SplittableRandom random = new SplittableRandom(Seeds.of(842));
    NavigableMap<Long, Long> model = Entries.random(random, KEYS);
    try (Fabric fabric = Pools.open(2, 8 << 20, 842);
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session changing = index.session();
        Session old = index.session()) {
      index.bulkLoad(Entries.of(model), 1);
      check(old, model);
      for (int i = 0; i < 3 * KEYS; i++) {
        long key = random.nextLong();
        changing.put(key, i);
        model.put(key, (long) i);
      }
      check(old, model);
      check(changing, model);
      model.keySet().removeIf(key -> random.nextInt(20) > 0 && changing.remove(key));
      check(old, model);
      for (int i = 0; i < KEYS; i++) {
        long key = random.nextLong();
        assertThat(old.get(key)).isEqualTo(model.containsKey(key));
        assertThat(old.put(key, i)).isFalse();
        model.put(key, (long) i);
      }
      check(changing, model);
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  private static void check(Session session, NavigableMap<Long, Long> model) {
    model.forEach((key, value) -> {
      assertThat(session.get(key)).isTrue();
      assertThat(session.value()).isEqualTo(value);
    });
    TreeMap<Long, Long> seen = new TreeMap<>();
    session.scan(
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        (key, value) -> {
          seen.put(key, value);
          return true;
        });
    assertThat(seen).isEqualTo(model);
  }
}
