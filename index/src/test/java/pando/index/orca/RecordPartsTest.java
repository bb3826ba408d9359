package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.orca.records.Probe;
import pando.index.orca.records.RecordCache;

/** Records move with the memory of their cache, as a whole or range by range. */
@Timeout(300)
class RecordPartsTest {
  private static final int KEYS = 4_000;
  private static final int REGION_BYTES = 16 << 10;
  private static final Backoff NO_WAIT = attempt -> {};

  private final OrcaOptions options =
      OrcaOptions.defaults()
          .withComputeServers(1)
          .withCacheBytes(256 << 10)
          .with("shares-move", "off");

  /**
   * @param bucketsMax buckets that are looked at in one step: none is one range
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 100, 1_000_000})
  void shouldFindWhatIsCachedWhereItsPartsComeAndGo(int bucketsMax) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2501));
    try (Fabric fabric = Pools.open(1, 1 << 20, 1);
        OrcaServer server = new OrcaServer(0, fabric, options, REGION_BYTES, new Random(1));
        OrcaContext context = new OrcaContext(server.store)) {
      RecordCache records = server.store.records;
      RecordParts parts =
          new RecordParts(context, PoolCosts.of(0), server::alone, 1, new LongAdder(), bucketsMax);
      boolean[] free = new boolean[Arrays.stream(records.homes().inUse()).max().orElseThrow() + 1];
      for (int step = 0; step < Seeds.count(20, 200); step++) {
        fill(records, random);
        int part = random.nextInt(free.length);
        if (!parts.has(part)) {
          parts.expect(part);
          parts.receive(part);
          assertThat(parts.has(part)).isTrue();
        } else if (parts.parts() > 1) {
          parts.empty(part);
          check(records);
          assertThat(parts.release(part)).isTrue();
          assertThat(parts.has(part)).isFalse();
          records.clear(part);
        }
        for (boolean more = true; more; ) {
          assertThat(check(records)).isPositive();
          more = random.nextInt(4) > 0 && parts.balance();
        }
      }
    }
  }

  @Test
  void shouldGiveNoPartAwayBeforeItsLastRangesGo() {
    try (Fabric fabric = Pools.open(1, 1 << 20, 1);
        OrcaServer server = new OrcaServer(0, fabric, options, REGION_BYTES, new Random(1));
        OrcaContext context = new OrcaContext(server.store)) {
      RecordParts parts =
          new RecordParts(context, PoolCosts.of(0), server::alone, 1, new LongAdder(), 0);
      int part = parts.next();
      assertThat(parts.release(part)).isFalse();
      assertThat(parts.has(part)).isTrue();
      parts.empty(part);
      assertThat(parts.has(part)).isTrue();
      assertThat(parts.release(part)).isTrue();
      assertThat(parts.has(part)).isFalse();
      assertThat(parts.balance()).isFalse();
      parts.receive(part);
      assertThat(server.store.records.homes().ranges(part)).isOne();
      assertThat(parts.balance()).isTrue();
      assertThat(server.store.records.homes().ranges(part)).isEqualTo(2);
    }
  }

  /** Caches keys that are not cached where there is room. */
  private static void fill(RecordCache records, SplittableRandom random) {
    for (int i = 0; i < KEYS / 4; i++) {
      long key = random.nextInt(KEYS);
      long home = records.home(key);
      assertThat(records.tryLock(home)).isTrue();
      int way = records.find(home, key) == RecordCache.NONE ? records.victim(home) : -1;
      if (way != RecordCache.NONE) {
        records.setKey(home, way, key);
        records.setValue(home, way, ~key);
        records.setCount(home, way, random.nextInt(RecordCache.COUNT_MAX + 1));
        records.setState(home, way, RecordCache.CLEAN, 1);
      }
      records.unlock(home);
    }
  }

  /** Returns the number of records; each is found where it is. */
  private static int check(RecordCache records) {
    Probe probe = new Probe(NO_WAIT);
    int[] found = new int[1];
    records.forEachBucket(bucket -> {
      assertThat(records.tryLock(bucket)).isTrue();
      for (int way = 0; way < RecordCache.WAYS; way++) {
        assertThat(records.isStray(bucket, way, records.homes())).isFalse();
        found[0] += records.kind(bucket, way) == RecordCache.FREE ? 0 : 1;
      }
      records.unlock(bucket);
    });
    int cached = 0;
    for (long key = 0; key < KEYS; key++) {
      if (records.find(key, probe)) {
        assertThat(probe.value).isEqualTo(~key);
        cached++;
      }
    }
    assertThat(cached).isEqualTo(found[0]);
    return cached;
  }
}
