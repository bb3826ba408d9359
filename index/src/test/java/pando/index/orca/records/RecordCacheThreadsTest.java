package pando.index.orca.records;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.orca.parts.CacheParts;

/** Readers without locks beside writers with them; readers go on until the writers are done. */
@Timeout(300)
class RecordCacheThreadsTest {
  private static final int BUCKETS = 4;
  private static final int KEYS = 48;
  private static final int CHANGES = Seeds.count(50_000, 100_000, 5_000_000);

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final CacheParts parts = CacheParts.of(fabric, 1, BUCKETS * RecordCache.BUCKET_BYTES);
  private final RecordCache cache = new RecordCache(parts, 0, 1, true, RecordCache.COUNT_BITS);
  private final RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
  private final AtomicInteger changes = new AtomicInteger();
  private final AtomicInteger writers = new AtomicInteger();

  @AfterEach
  void close() {
    parts.close();
    memory.close();
    fabric.close();
  }

  private Backoff backoff() {
    return fabric.worker(memory).backoff();
  }

  /** A value that tells its key, and the state that goes with it. */
  private static long value(long key, int change) {
    return key << Integer.SIZE | change;
  }

  private static int kind(int change) {
    return 1 + change % 7;
  }

  private static int slot(int change) {
    return change >> 3 & 7;
  }

  private interface Change {
    void apply(Backoff backoff, Random random);
  }

  /** Returns a task that makes changes. */
  private Callable<Void> writer(long seed, Change change) {
    writers.incrementAndGet();
    return () -> {
      try {
        Backoff backoff = backoff();
        Random random = new Random(seed);
        for (int i = 0; i < CHANGES; i++) {
          change.apply(backoff, random);
        }
      } finally {
        writers.decrementAndGet();
      }
      return null;
    };
  }

  /** Returns a task that finds all keys below a number, and checks what is found. */
  private Callable<Void> reader(int keys, boolean areThere) {
    return () -> {
      Probe probe = new Probe(backoff());
      int[] newest = new int[keys];
      for (int i = 0; writers.get() > 0; i++) {
        int key = i % keys;
        if (cache.find(key, probe)) {
          check(key, probe, newest[key]);
          newest[key] = (int) probe.value;
        } else if (areThere) {
          throw new AssertionError("not found: key=" + key + ", newest=" + newest[key]);
        }
      }
      return null;
    };
  }

  private static void check(int key, Probe probe, int newest) {
    int change = (int) probe.value;
    if (probe.value >>> Integer.SIZE != key
        || probe.kind != kind(change)
        || probe.slot != slot(change)
        || change < newest) {
      throw new AssertionError(
          "torn or old: key=%d, newest=%d, value=%x, kind=%d, slot=%d"
              .formatted(key, newest, probe.value, probe.kind, probe.slot));
    }
  }

  private void put(long key, long bucket, int way) {
    int change = changes.incrementAndGet();
    cache.setKey(bucket, way, key);
    cache.setValue(bucket, way, value(key, change));
    cache.setState(bucket, way, kind(change), slot(change));
  }

  /** Puts a key into any way of its home. */
  private void putInHome(long key, Backoff backoff, Random random) {
    long home = cache.home(key);
    cache.lock(home, backoff);
    free(home, key);
    put(key, home, random.nextInt(RecordCache.WAYS));
    cache.unlock(home);
  }

  /** Puts a key into any way of its home or the twin. */
  private void putInPair(long key, Backoff backoff, Random random) {
    long home = cache.home(key);
    cache.lockBoth(home, backoff);
    cache.setTwinBit(home, true);
    free(home, key);
    free(RecordCache.twin(home), key);
    put(
        key,
        random.nextBoolean() ? home : RecordCache.twin(home),
        random.nextInt(RecordCache.WAYS));
    cache.unlockBoth(home);
  }

  private void free(long bucket, long key) {
    int way = cache.find(bucket, key);
    if (way != RecordCache.NONE) {
      cache.setState(bucket, way, RecordCache.FREE, 0);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReadRecordsWhole(boolean twins) throws Exception {
    long seed = Seeds.of(5);
    Change change =
        (backoff, random) -> {
          long key = random.nextInt(KEYS);
          if (twins) {
            putInPair(key, backoff, random);
          } else {
            putInHome(key, backoff, random);
          }
        };
    Threads.run(List.of(writer(seed, change), writer(seed + 1, change), reader(KEYS, false)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldFindARecordThatMoves(boolean twins) throws Exception {
    long seed = Seeds.of(6);
    Change change =
        (backoff, random) -> {
          if (twins) {
            putInPair(0, backoff, random);
          } else {
            putInHome(0, backoff, random);
          }
        };
    change.apply(backoff(), new Random(seed));
    Threads.run(List.of(writer(seed, change), reader(1, true)));
  }

  @Test
  void shouldExcludeOthersAndLeaveTheLockToReaders() throws Exception {
    long seed = Seeds.of(7);
    int[] turns = {0};
    Change change =
        (backoff, random) -> {
          long home = cache.home(0);
          cache.lock(home, backoff);
          turns[0]++;
          cache.setCount(home, random.nextInt(RecordCache.WAYS), 0);
          cache.unlock(home);
        };
    putInHome(0, backoff(), new Random(seed));
    Threads.run(List.of(writer(seed, change), writer(seed, change), reader(1, true)));
    assertThat(turns[0]).isEqualTo(2 * CHANGES);
    assertThat(cache.isLocked(cache.home(0))).isFalse();
  }
}
