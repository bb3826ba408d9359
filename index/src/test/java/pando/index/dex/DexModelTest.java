package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Session;

/** Random operations on one thread, each compared with a {@link TreeMap}. */
class DexModelTest {
  private static final int OPERATIONS = 60_000;

  @ParameterizedTest(
      name = "seed={0} memoryServers={1} computeServers={2} node-bytes={3} keys={4} set={5}")
  @CsvSource({
    "1,  1, 1, 192, 2000,  offloading=off",
    "2,  1, 1, 128, 500,   offloading=off",
    "3,  2, 2, 192, 2000,  offloading=off",
    "4,  4, 4, 192, 8000,  offloading=on",
    "5,  4, 4, 128, 8000,  contrary=0.5",
    "6,  3, 7, 256, 20000, contrary=0.5",
    "7, 16, 16, 192, 5000, contrary=0.3",
    "8,  1, 4, 1024, 30000, admission=1",
    "9,  2, 4, 192, 3000,  caching=off",
    "10, 4, 3, 192, 100,   subtree-level=0",
    "11, 4, 3, 192, 10000, subtree-level=4",
    "12, 2, 1, 192, 3000,  contrary=1",
  })
  void shouldBehaveLikeTreeMap(
      long seed, int memoryServers, int computeServers, int nodeBytes, int keys, String setting) {
    System.out.println("seed=" + seed);
    String[] parts = setting.split("=", 2);
    DexOptions options =
        Pools.tiny(computeServers)
            .with("cache-bytes", String.valueOf(64 * 1024))
            .with("node-bytes", String.valueOf(nodeBytes))
            .with("cache-bytes", String.valueOf(64 * nodeBytes))
            .with(parts[0], parts[1]);
    try (Fabric fabric = Pools.open(memoryServers, 8 << 20, seed)) {
      TreeMap<Long, Long> model = new TreeMap<>();
      try (DexIndex index = DexIndex.create(fabric, options);
          Session session = index.session()) {
        new Run(session, model, new SplittableRandom(seed), keys).operations(OPERATIONS);
      }
      TreeWalk.Tree tree = TreeCheck.walk(fabric, options);
      assertThat(tree.entries()).isEqualTo(model);
    }
  }

  /** One run of random operations. */
  static final class Run {
    private final Session session;
    private final NavigableMap<Long, Long> model;
    private final SplittableRandom random;
    private final int keys;

    Run(Session session, NavigableMap<Long, Long> model, SplittableRandom random, int keys) {
      this.session = session;
      this.model = model;
      this.random = random;
      this.keys = keys;
    }

    void operations(int count) {
      for (int i = 0; i < count; i++) {
        boolean shrinking = i / (count / 4) % 2 == 1;
        operation(i, shrinking ? random.nextInt(4, 20) : random.nextInt(16));
      }
    }

    private long key() {
      int key = random.nextInt(keys);
      return switch (key) {
        case 0 -> Long.MIN_VALUE;
        case 1 -> Long.MAX_VALUE;
        default -> (key - keys / 2) * (Long.MAX_VALUE / keys * 2);
      };
    }

    private void operation(int number, int kind) {
      long key = key();
      long value = random.nextInt(8) == 0 ? random.nextInt(-1, 1) : random.nextLong();
      String what = "operation=" + number + ", kind=" + kind + ", key=" + key;
      switch (kind) {
        case 0, 1, 2, 3 -> stored(what, session.put(key, value), model.put(key, value));
        case 4 -> {
          Long before = model.putIfAbsent(key, value);
          stored(what, !session.putIfAbsent(key, value), before);
        }
        case 5, 6 -> {
          Long before = model.containsKey(key) ? model.put(key, value) : null;
          stored(what, session.update(key, value), before);
        }
        case 7, 8 -> stored(what, session.get(key), model.get(key));
        case 9 -> found(what, session.floor(key), model.floorEntry(key));
        case 10 -> found(what, session.ceiling(key), model.ceilingEntry(key));
        case 11 -> scan(what, key, Math.max(key, key()), random.nextInt(100));
        default -> stored(what, session.remove(key), model.remove(key));
      }
    }

    private void stored(String what, boolean found, @Nullable Long before) {
      assertThat(found).as(what).isEqualTo(before != null);
      if (before != null) {
        assertThat(session.value()).as(what).isEqualTo(before);
      }
    }

    private void found(String what, boolean found, Map.@Nullable Entry<Long, Long> expected) {
      assertThat(found).as(what).isEqualTo(expected != null);
      if (expected != null) {
        assertThat(session.key()).as(what).isEqualTo(expected.getKey());
        assertThat(session.value()).as(what).isEqualTo(expected.getValue());
      }
    }

    private void scan(String what, long from, long to, int limit) {
      List<Map.Entry<Long, Long>> seen = new ArrayList<>();
      long visited =
          session.scan(
              from,
              to,
              limit,
              (key, value) -> {
                seen.add(Map.entry(key, value));
                return true;
              });
      List<Map.Entry<Long, Long>> expected =
          model.subMap(from, true, to, true).entrySet().stream()
              .limit(limit)
              .map(entry -> Map.entry(entry.getKey(), entry.getValue()))
              .toList();
      assertThat(seen).as(what).isEqualTo(expected);
      assertThat(visited).as(what).isEqualTo(expected.size());
    }
  }
}
