package pando.index.orca.records;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.orca.parts.CacheParts;

/** Random changes of a small cache, compared with a map of what is in it. */
@Timeout(300)
class RecordCacheModelTest {
  private static final Backoff BACKOFF = attempt -> Thread.onSpinWait();
  private static final int BUCKETS = 6;
  private static final long LOW = -45;
  private static final long HIGH = 45;
  private static final int STEPS = Seeds.count(50_000, 200_000);

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final Probe probe = new Probe(BACKOFF);
  private final Map<Long, Entry> model = new TreeMap<>();
  private int inTwins;

  private record Entry(int kind, int slot, long value) {
    static Entry random(Random random, int kind) {
      return new Entry(kind, random.nextInt(8), random.nextLong());
    }
  }

  @AfterEach
  void close() {
    fabric.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldHoldWhatTheModelHolds(boolean twins) {
    Random random = new Random(Seeds.of(twins ? 11 : 12));
    try (CacheParts parts = CacheParts.of(fabric, 1, BUCKETS * RecordCache.BUCKET_BYTES)) {
      RecordCache cache = new RecordCache(parts, 0, 1, twins, RecordCache.COUNT_BITS);
      for (int step = 0; step < STEPS; step++) {
        long key = random.nextLong(LOW, HIGH);
        checkFind(cache, key);
        if (random.nextInt(4) != 0) {
          change(cache, key, random);
        }
      }
      for (long key = LOW; key < HIGH; key++) {
        checkFind(cache, key);
      }
    }
    assertThat(inTwins > 1_000).isEqualTo(twins);
  }

  private void checkFind(RecordCache cache, long key) {
    Entry entry = model.get(key);
    assertThat(cache.find(key, probe)).isEqualTo(entry != null);
    if (entry != null) {
      assertThat(new Entry(probe.kind, probe.slot, probe.value)).isEqualTo(entry);
      inTwins += probe.bucket == cache.home(key) ? 0 : 1;
    }
  }

  private void change(RecordCache cache, long key, Random random) {
    long home = cache.home(key);
    cache.lockBoth(home, BACKOFF);
    long bucket = home;
    int way = cache.find(home, key);
    if (way == RecordCache.NONE && cache.twinBit(home)) {
      bucket = RecordCache.twin(home);
      way = cache.find(bucket, key);
    }
    assertThat(way != RecordCache.NONE).isEqualTo(model.containsKey(key));
    if (way == RecordCache.NONE) {
      claim(cache, key, random);
    } else {
      int kind = random.nextInt(8);
      if (kind == RecordCache.FREE) {
        drop(cache, bucket, way);
      } else {
        put(cache, bucket, way, key, Entry.random(random, kind));
      }
    }
    cache.unlockBoth(home);
  }

  private void claim(RecordCache cache, long key, Random random) {
    long bucket = cache.home(key);
    if (cache.twins() && !cache.hasColdWay(bucket)) {
      long twin = RecordCache.twin(bucket);
      bucket = cache.hasColdWay(twin) ? twin : bucket;
    }
    int way = cache.victim(bucket);
    if (way == RecordCache.NONE) {
      way = newerWay(cache, bucket);
    }
    if (way != RecordCache.NONE) {
      drop(cache, bucket, way);
      if (bucket != cache.home(key)) {
        cache.setTwinBit(cache.home(key), true);
      }
      put(cache, bucket, way, key, Entry.random(random, 1 + random.nextInt(7)));
      cache.setCount(bucket, way, 0);
    }
  }

  /** Returns a way whose record could be evicted once its value is written. */
  private static int newerWay(RecordCache cache, long bucket) {
    for (int way = 0; way < RecordCache.WAYS; way++) {
      int kind = cache.kind(bucket, way);
      if (cache.count(bucket, way) == 0
          && (kind == RecordCache.DIRTY || kind == RecordCache.DELTA_NEWER)) {
        return way;
      }
    }
    return RecordCache.NONE;
  }

  private void put(RecordCache cache, long bucket, int way, long key, Entry entry) {
    cache.setKey(bucket, way, key);
    cache.setValue(bucket, way, entry.value);
    cache.setState(bucket, way, entry.kind, entry.slot);
    model.put(key, entry);
  }

  private void drop(RecordCache cache, long bucket, int way) {
    if (cache.kind(bucket, way) == RecordCache.FREE) {
      return;
    }
    long key = cache.key(bucket, way);
    Entry entry = model.remove(key);
    assertThat(entry)
        .isEqualTo(
            new Entry(cache.kind(bucket, way), cache.slot(bucket, way), cache.value(bucket, way)));
    cache.setState(bucket, way, RecordCache.FREE, 0);
    cache.setTwinBit(cache.home(key), hasStrays(cache, cache.home(key)));
  }

  /** Returns whether a record of a home is in its twin. */
  private static boolean hasStrays(RecordCache cache, long home) {
    long twin = RecordCache.twin(home);
    for (int way = 0; way < RecordCache.WAYS; way++) {
      if (cache.kind(twin, way) != RecordCache.FREE && cache.home(cache.key(twin, way)) == home) {
        return true;
      }
    }
    return false;
  }
}
