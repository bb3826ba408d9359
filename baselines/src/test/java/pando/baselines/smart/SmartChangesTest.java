package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;

/** Changes of single keys, dense and sparse, compared with a {@link TreeMap}. */
@Timeout(300)
class SmartChangesTest {
  private static final int OPERATIONS = Seeds.count(20_000, 50_000, 500_000);

  @ParameterizedTest(name = "seed={0} {1} shift={2} keys={3} memory={4} loaded={5}")
  @CsvSource({
    "901, steps, 0,  3000, 1, true",
    "902, steps, 0,  300,  2, false",
    "903, steps, 51, 3000, 3, false",
    "904, steps, 27, 3000, 2, true",
    "905, whole, 0,  300,  1, false",
    "906, whole, 45, 3000, 2, true",
    "907, steps, 55, 500,  2, true",
  })
  void shouldBehaveAsAMap(
      long seed, String reserve, int shift, int keys, int memoryServers, boolean loaded) {
    SplittableRandom random = new SplittableRandom(Seeds.of(seed));
    SmartOptions options = SmartOptions.smart().withComputeServers(2).with("reserve", reserve);
    NavigableMap<Long, Long> model = new TreeMap<>();
    try (Fabric fabric = Pools.open(memoryServers, 64 << 20, seed);
        SmartIndex index = SmartIndex.create(fabric, options.withCacheBytes(64 << 10));
        Session one = index.session();
        Session other = index.session()) {
      if (loaded) {
        for (int i = 0; i < keys; i += 2) {
          model.put(key(i, shift), (long) i);
        }
        index.bulkLoad(Entries.of(model), 0.7);
      }
      for (int i = 0; i < OPERATIONS; i++) {
        // Grows and shrinks in turn.
        int bias = i * 8 / OPERATIONS % 2 == 0 ? 6 : 2;
        long key = key(random.nextInt(keys), shift);
        Session session = random.nextBoolean() ? one : other;
        Long before = model.get(key);
        String what = "operation=%d, key=%d".formatted(i, key);
        if (random.nextInt(3) == 0) {
          assertThat(session.get(key)).as(what).isEqualTo(before != null);
        } else if (random.nextInt(8) < bias) {
          assertThat(session.put(key, i)).as(what).isEqualTo(before != null);
          model.put(key, (long) i);
        } else {
          assertThat(session.remove(key)).as(what).isEqualTo(before != null);
          model.remove(key);
        }
        if (before != null) {
          assertThat(session.value()).as(what).isEqualTo(before);
        }
      }
      for (int i = 0; i < keys; i++) {
        Long before = model.get(key(i, shift));
        assertThat(one.get(key(i, shift))).isEqualTo(before != null);
      }
      Tree tree = options.walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
      assertThat(index.space().otherBytes()).isZero();
      System.out.println(tree.parts() + ", bytes to an entry=" + tree.bytes() / model.size());
    }
  }

  private static long key(long number, int shift) {
    return (number << shift) * (number % 2 == 0 ? 1 : -1);
  }
}
