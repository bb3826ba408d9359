package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.index.MovablePartitions;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;

/** Ranges that are cut inside a leaf. */
class OrcaCutTest {
  private static final int KEYS = 20_000;

  private static OrcaIndex index(Fabric fabric) {
    return OrcaIndex.create(
        fabric, OrcaOptions.defaults().withComputeServers(2).withCacheBytes(512 << 10));
  }

  private static void check(OrcaIndex index, Map<Long, Long> model) {
    TreeMap<Long, Long> found = new TreeMap<>();
    try (Session session = index.session()) {
      session.scan(
          Long.MIN_VALUE,
          Long.MAX_VALUE,
          Long.MAX_VALUE,
          (key, value) -> {
            found.put(key, value);
            return true;
          });
    }
    assertThat(found).isEqualTo(model);
    assertThat(index.audit()).isEmpty();
  }

  @Test
  void shouldMoveABoundaryToAnyKey() {
    SplittableRandom random = new SplittableRandom(Seeds.of(7301));
    TreeMap<Long, Long> model = new TreeMap<>();
    try (Fabric fabric = Pools.open(2, 32 << 20, 7302);
        OrcaIndex index = index(fabric)) {
      MovablePartitions partitions = index.partitions().orElseThrow();
      int upper = index.partitioning().ownerOfRange(1);
      for (int move = 0; move < Seeds.count(30, 300); move++) {
        try (Session session = index.session()) {
          for (int i = 0; i < 200; i++) {
            long key = random.nextInt(KEYS);
            if (random.nextInt(3) == 0) {
              session.discard(key);
              model.remove(key);
            } else {
              session.store(key, i);
              model.put(key, (long) i);
            }
          }
        }
        long low = random.nextInt(KEYS);
        long before = index.partitioning().lowOfServer(upper);
        long moved = partitions.moveBoundary(upper, low);
        // A leaf covers two keys or more.
        assertThat(moved).as("before=%s", before).isBetween(low - 1, low);
        check(index, model);
      }
    }
  }

  @Test
  void shouldCutAnEmptyLeafUnlessAPartWouldCoverOneKey() {
    try (Fabric fabric = Pools.open(1, 16 << 20, 7303);
        OrcaIndex index = index(fabric)) {
      MovablePartitions partitions = index.partitions().orElseThrow();
      int upper = index.partitioning().ownerOfRange(1);
      assertThat(partitions.moveBoundary(upper, 1_000)).isEqualTo(1_000);
      assertThat(partitions.moveBoundary(upper, 1_002)).isEqualTo(1_002);
      assertThat(partitions.moveBoundary(upper, 1_003)).isEqualTo(1_002);
      assertThat(partitions.moveBoundary(upper, Long.MAX_VALUE)).isEqualTo(1_002);
      assertThat(partitions.moveBoundary(upper, Long.MAX_VALUE - 1)).isEqualTo(Long.MAX_VALUE - 1);
      assertThat(index.audit()).isEmpty();
    }
  }
}
