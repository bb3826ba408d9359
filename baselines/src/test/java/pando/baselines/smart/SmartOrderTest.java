package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

/** Scans, neighbours and the size, over keys near to each other and far, as a {@link TreeMap}. */
@Timeout(300)
class SmartOrderTest {
  private static final int OPERATIONS = Seeds.count(4_000, 10_000, 100_000);

  private static SmartOptions options(String system, String reserve) {
    boolean partitioned = system.equals("p-smart");
    return (partitioned ? SmartOptions.partitionedSmart() : SmartOptions.smart())
        .withComputeServers(partitioned ? 3 : 2)
        .with("reserve", reserve)
        .withCacheBytes(64 << 10);
  }

  @ParameterizedTest(name = "seed={0} {1} {2} shift={3} keys={4}")
  @CsvSource({
    "921, smart, steps, 0,  3000",
    "922, smart, steps, 0,  200",
    "923, smart, whole, 4,  3000",
    "924, smart, steps, 28, 5000",
    "925, smart, steps, 47, 5000",
    "926, p-smart, steps, 0,  3000",
    "927, p-smart, whole, 4,  3000",
    "928, p-smart, steps, 47, 5000",
  })
  void shouldFindInOrder(long seed, String system, String reserve, int shift, int keys) {
    SplittableRandom random = new SplittableRandom(Seeds.of(seed));
    NavigableMap<Long, Long> model = new TreeMap<>();
    try (Fabric fabric = Pools.open(2, 64 << 20, seed);
        SmartIndex index = SmartIndex.create(fabric, options(system, reserve));
        Session one = index.session();
        Session other = index.session()) {
      for (int i = 0; i < keys; i += 2) {
        model.put((long) (i - keys / 3) << shift, (long) i);
      }
      index.bulkLoad(Entries.of(model), 0.7);
      for (int i = 0; i < OPERATIONS; i++) {
        long key = (long) (random.nextInt(keys) - keys / 3) << shift;
        String what = "operation=%d, key=%d".formatted(i, key);
        switch (random.nextInt(8)) {
          case 0, 1 -> {
            one.put(key, i);
            model.put(key, (long) i);
          }
          case 2, 3 -> {
            one.remove(key);
            model.remove(key);
          }
          case 4 -> check(what, other, other.floor(key + 1), model.floorEntry(key + 1));
          case 5 -> check(what, other, other.ceiling(key - 1), model.ceilingEntry(key - 1));
          default -> {
            long end = key + ((long) random.nextInt(1, 2_000) << shift);
            scan(what, other, key, end, random.nextInt(1, 1_000), random.nextBoolean(), model);
          }
        }
      }
      assertThat((double) one.sizeEstimate()).isCloseTo(model.size(), within(model.size() * 0.2));
    }
  }

  private static void check(
      String what, Session session, boolean found, Map.Entry<Long, Long> expected) {
    assertThat(found).as(what).isEqualTo(expected != null);
    if (expected != null) {
      assertThat(session.key()).as(what).isEqualTo(expected.getKey());
      assertThat(session.value()).as(what).isEqualTo(expected.getValue());
    }
  }

  private static void scan(
      String what,
      Session session,
      long from,
      long to,
      int limit,
      boolean down,
      NavigableMap<Long, Long> model) {
    NavigableMap<Long, Long> range = model.subMap(from, true, to, true);
    range = down ? range.descendingMap() : range;
    List<Map.Entry<Long, Long>> found = new ArrayList<>();
    if (down) {
      session.scanDown(to, from, limit, (key, value) -> found.add(Map.entry(key, value)));
    } else {
      session.scan(from, to, limit, (key, value) -> found.add(Map.entry(key, value)));
    }
    assertThat(found).as(what).isEqualTo(range.entrySet().stream().limit(limit).toList());
  }
}
