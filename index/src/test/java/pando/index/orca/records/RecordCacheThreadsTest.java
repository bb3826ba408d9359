package pando.index.orca.records;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;

/** Readers without locks beside writers with them. */
@Timeout(60)
class RecordCacheThreadsTest {
  private static final int BUCKETS = 4;
  private static final int KEYS = 48;
  private static final int WRITERS = 2;
  private static final int READERS = 2;
  private static final int CHANGES = 200_000;
  private static final int FINDS = 400_000;
  private static final int TURNS = 100_000;

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final RecordCache cache =
      RecordCache.create(fabric, BUCKETS * RecordCache.BUCKET_BYTES, true);
  private final RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
  private final AtomicInteger changes = new AtomicInteger();

  @AfterEach
  void close() {
    cache.close();
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
    return 1 + Math.floorMod(change, 7);
  }

  private static int slot(int change) {
    return change >> 3 & 7;
  }

  private static int generation(int change) {
    return change >> 6 & 3;
  }

  @Test
  void shouldReadRecordsWhole() throws Exception {
    long seed = Seeds.of(5);
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      Random random = new Random(seed + i);
      tasks.add(() -> write(random));
    }
    for (int i = 0; i < READERS; i++) {
      Random random = new Random(seed - 1 - i);
      tasks.add(() -> read(random));
    }
    Threads.run(tasks);
  }

  private Void write(Random random) {
    Backoff backoff = backoff();
    for (int i = 0; i < CHANGES; i++) {
      long key = random.nextInt(KEYS);
      long home = cache.home(key);
      if (cache.lockPair(key, backoff)) {
        changeInPair(key, home, random);
        cache.unlockBoth(home);
      } else {
        changeInHome(key, home, random);
        cache.unlock(home);
      }
    }
    return null;
  }

  private void changeInHome(long key, long home, Random random) {
    int way = cache.find(home, key);
    way = way == RecordCache.NONE ? cache.free(home) : way;
    way = way == RecordCache.NONE ? random.nextInt(RecordCache.WAYS) : way;
    put(key, home, way);
    if (random.nextInt(8) == 0 && cache.tryLock(RecordCache.twin(home))) {
      cache.setTwinBit(home, true);
      cache.unlock(RecordCache.twin(home));
    }
  }

  /** Moves the key from its home to the twin, or back. */
  private void changeInPair(long key, long home, Random random) {
    long twin = RecordCache.twin(home);
    int way = cache.find(home, key);
    int wayInTwin = cache.find(twin, key);
    if (way != RecordCache.NONE) {
      cache.setState(home, way, RecordCache.FREE, 0, 0);
    }
    if (wayInTwin != RecordCache.NONE) {
      cache.setState(twin, wayInTwin, RecordCache.FREE, 0, 0);
    }
    put(key, wayInTwin == RecordCache.NONE ? twin : home, random.nextInt(RecordCache.WAYS));
  }

  private void put(long key, long bucket, int way) {
    int change = changes.incrementAndGet();
    cache.setKey(bucket, way, key);
    cache.setValue(bucket, way, value(key, change));
    cache.setState(bucket, way, kind(change), slot(change), generation(change));
  }

  private Void read(Random random) {
    Probe probe = new Probe(backoff());
    int[] newest = new int[KEYS];
    int found = 0;
    for (int i = 0; i < FINDS; i++) {
      int key = random.nextInt(KEYS);
      if (cache.find(key, probe)) {
        int change = (int) probe.value;
        if (probe.value >>> Integer.SIZE != key
            || probe.kind != kind(change)
            || probe.slot != slot(change)
            || probe.generation != generation(change)
            || change < newest[key]) {
          throw new AssertionError(
              "key="
                  + key
                  + ", value="
                  + Long.toHexString(probe.value)
                  + ", kind="
                  + probe.kind
                  + ", slot="
                  + probe.slot
                  + ", generation="
                  + probe.generation
                  + ", newest="
                  + newest[key]
                  + ", bucket="
                  + probe.bucket
                  + ", way="
                  + probe.way);
        }
        newest[key] = change;
        found++;
      }
    }
    assertThat(found).isPositive();
    return null;
  }

  /** A record that goes back and forth between home and twin is always found. */
  @Test
  void shouldFindARecordThatMoves() throws Exception {
    long seed = Seeds.of(6);
    long home = cache.home(1);
    cache.lockBoth(home, backoff());
    cache.setTwinBit(home, true);
    put(1, home, 0);
    cache.unlockBoth(home);
    Callable<Void> mover =
        () -> {
          Backoff backoff = backoff();
          Random random = new Random(seed);
          for (int i = 0; i < TURNS; i++) {
            cache.lockPair(1, backoff);
            changeInPair(1, home, random);
            cache.unlockBoth(home);
          }
          return null;
        };
    Callable<Void> finder =
        () -> {
          Probe probe = new Probe(backoff());
          for (int i = 0; i < FINDS; i++) {
            if (!cache.find(1, probe)) {
              throw new AssertionError("not found: i=" + i);
            }
          }
          return null;
        };
    Threads.run(List.of(mover, finder));
  }

  @Test
  void shouldExcludeOthersAndLeaveTheLockToReaders() throws Exception {
    long home = cache.home(1);
    cache.lock(home, backoff());
    put(1, home, 0);
    cache.unlock(home);
    int[] turns = {0};
    Callable<Void> locker =
        () -> {
          Backoff backoff = backoff();
          for (int i = 0; i < TURNS; i++) {
            cache.lock(home, backoff);
            turns[0]++;
            cache.setCount(home, 0, 0);
            cache.unlock(home);
          }
          return null;
        };
    Callable<Void> reader =
        () -> {
          Probe probe = new Probe(backoff());
          for (int i = 0; i < FINDS; i++) {
            assertThat(cache.find(1, probe)).isTrue();
          }
          return null;
        };
    Threads.run(List.of(locker, locker, reader));
    assertThat(turns[0]).isEqualTo(2 * TURNS);
    assertThat(cache.isLocked(home)).isFalse();
  }
}
