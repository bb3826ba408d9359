package pando.index.orca.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.fabric.memory.Words;
import pando.index.Pools;
import pando.index.orca.parts.CacheParts;

@Timeout(300)
class RecordCacheTest {
  private static final Backoff BACKOFF = attempt -> Thread.onSpinWait();
  private static final long LOCK = 8;
  private static final int VERSION_SHIFT = 40;

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final CacheParts parts = CacheParts.of(fabric, 1, 2 * RecordCache.BUCKET_BYTES);
  private final RecordCache cache = new RecordCache(parts, 0, 1, true, RecordCache.COUNT_BITS);
  private final Probe probe = new Probe(BACKOFF);

  @AfterEach
  void close() {
    parts.close();
    fabric.close();
  }

  /** Returns the n-th key whose home is a bucket. */
  private long keyOf(long bucket, int n) {
    int left = n;
    for (long key = 1; ; key++) {
      if (cache.home(key) == bucket && left-- == 0) {
        return key;
      }
    }
  }

  private long word(long bucket) {
    return Words.get(parts.memory(), bucket + LOCK);
  }

  private void put(long bucket, int way, int kind, long key) {
    cache.setKey(bucket, way, key);
    cache.setValue(bucket, way, -key);
    cache.setState(bucket, way, kind, way);
    cache.setCount(bucket, way, 0);
  }

  /** Fills all ways of bucket 0 with records of one kind. */
  private void fill(int kind) {
    cache.lock(0, BACKOFF);
    for (int way = 0; way < RecordCache.WAYS; way++) {
      put(0, way, kind, keyOf(0, way));
    }
    cache.unlock(0);
  }

  @Test
  void shouldUsePairsOfBuckets() {
    try (CacheParts three = CacheParts.of(fabric, 1, 768)) {
      RecordCache odd = new RecordCache(three, 0, 1, false, RecordCache.COUNT_BITS);
      assertThat(odd.buckets()).isEqualTo(6);
      assertThat(odd.twins()).isFalse();
      for (long key = Long.MIN_VALUE; key < Long.MIN_VALUE + 100; key++) {
        assertThat(odd.home(key)).isBetween(0L, 640L);
        assertThat(odd.home(key) % RecordCache.BUCKET_BYTES).isZero();
      }
    }
    assertThat(RecordCache.twin(0)).isEqualTo(128);
    assertThat(RecordCache.twin(384)).isEqualTo(256);
    assertThatThrownBy(() -> CacheParts.of(fabric, 1, 255))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bytesOfPart=255");
  }

  @Test
  void shouldFindEveryWayOfEveryKind() {
    assertThat(cache.find(keyOf(0, 0), probe)).isFalse();
    cache.lock(0, BACKOFF);
    for (int way = 0; way < RecordCache.WAYS; way++) {
      put(0, way, way + 1, keyOf(0, way));
    }
    cache.unlock(0);
    for (int way = 0; way < RecordCache.WAYS; way++) {
      long key = keyOf(0, way);
      assertThat(cache.find(key, probe)).isTrue();
      assertThat(probe.bucket).isZero();
      assertThat(probe.way).isEqualTo(way);
      assertThat(probe.kind).isEqualTo(way + 1);
      assertThat(probe.slot).isEqualTo(way);
      assertThat(probe.value).isEqualTo(-key);
    }
    assertThat(cache.find(keyOf(RecordCache.twin(0), 0), probe)).isFalse();
    assertThat(probe.bucket).isEqualTo(RecordCache.twin(0));
    assertThat(probe.way).isEqualTo(RecordCache.NONE);
    assertThat(probe.kind).isEqualTo(RecordCache.FREE);
  }

  @Test
  void shouldNotFindTheOldKeyOfAFreeWay() {
    fill(RecordCache.CLEAN);
    cache.lock(0, BACKOFF);
    cache.setState(0, 2, RecordCache.FREE, 0);
    cache.unlock(0);
    assertThat(cache.find(keyOf(0, 2), probe)).isFalse();
    cache.lock(0, BACKOFF);
    assertThat(cache.find(0, keyOf(0, 2))).isEqualTo(RecordCache.NONE);
    assertThat(cache.free(0)).isEqualTo(2);
    assertThat(cache.victim(0)).isEqualTo(2);
    // The key comes back behind the way that still has its bytes.
    cache.setState(0, 5, RecordCache.FREE, 0);
    put(0, 5, RecordCache.DIRTY, keyOf(0, 2));
    cache.unlock(0);
    assertThat(cache.find(keyOf(0, 2), probe)).isTrue();
    assertThat(probe.way).isEqualTo(5);
  }

  @Test
  void shouldLookInTheTwinIfTheHomeSaysSo() {
    long twin = RecordCache.twin(0);
    long key = keyOf(0, 0);
    cache.lockBoth(twin, BACKOFF);
    cache.setTwinBit(0, true);
    put(twin, 3, RecordCache.CLEAN, key);
    cache.unlockBoth(0);
    assertThat(cache.find(key, probe)).isTrue();
    assertThat(probe.bucket).isEqualTo(twin);
    assertThat(probe.way).isEqualTo(3);
    assertThat(cache.find(keyOf(0, 1), probe)).isFalse();
    assertThat(probe.bucket).isZero();
    assertThat(cache.find(keyOf(twin, 1), probe)).isFalse();

    assertThat(cache.lockPair(key, BACKOFF)).isTrue();
    assertThat(cache.isLocked(0) && cache.isLocked(twin)).isTrue();
    cache.setState(twin, 3, RecordCache.FREE, 0);
    cache.setTwinBit(0, false);
    cache.unlockBoth(twin);
    assertThat(cache.find(key, probe)).isFalse();
    assertThat(cache.lockPair(key, BACKOFF)).isFalse();
    assertThat(cache.isLocked(0)).isTrue();
    assertThat(cache.isLocked(twin)).isFalse();
    cache.unlock(0);
  }

  @Test
  void shouldLockThePairOfAnOddHome() {
    long twin = RecordCache.twin(0);
    cache.lockBoth(0, BACKOFF);
    cache.setTwinBit(twin, true);
    cache.unlockBoth(0);
    cache.lock(0, BACKOFF);
    Backoff unlocking =
        attempt -> {
          assertThat(cache.isLocked(twin)).as("waits without the later lock").isFalse();
          cache.unlock(0);
        };
    assertThat(cache.lockPair(keyOf(twin, 0), unlocking)).isTrue();
    assertThat(cache.isLocked(0) && cache.isLocked(twin)).isTrue();
    cache.unlockBoth(twin);
  }

  /** With fewer bits, a count ends earlier; what was about to go is counted all the same. */
  @ParameterizedTest
  @CsvSource({"0, 0, 5", "1, 1, 1", "2, 3, 1"})
  void shouldUseTheBitsOfCountsThatItMay(int bits, int countMax, int tailHits) {
    RecordCache counting = new RecordCache(parts, 0, 1, false, bits);
    fill(RecordCache.CLEAN);
    for (int hit = 0; hit < 5; hit++) {
      assertThat(counting.find(keyOf(0, 2), probe)).isTrue();
    }
    assertThat(probe.tailHits).isEqualTo(tailHits);
    counting.lock(0, BACKOFF);
    assertThat(counting.count(0, 2)).isEqualTo(countMax);
    assertThat(counting.count(0, 1)).isZero();
    counting.unlock(0);
  }

  @Test
  void shouldSaturateCountsAndTouchNothingElse() {
    fill(RecordCache.CLEAN);
    long group = 0xabcdefL << 16;
    Words.set(parts.memory(), LOCK, word(0) | group);
    long before = word(0);
    for (int way = 0; way < RecordCache.WAYS; way++) {
      for (int hit = 0; hit < 6; hit++) {
        long counts = (1L << (2 * way)) - 1 + ((long) Math.min(hit, 3) << (2 * way));
        assertThat(word(0)).isEqualTo(before + counts);
        assertThat(cache.find(keyOf(0, way), probe)).isTrue();
      }
    }
    cache.lock(0, BACKOFF);
    for (int way = 0; way < RecordCache.WAYS; way++) {
      assertThat(cache.count(0, way)).isEqualTo(RecordCache.COUNT_MAX);
      cache.setCount(0, way, way & 3);
    }
    for (int way = 0; way < RecordCache.WAYS; way++) {
      assertThat(cache.count(0, way)).isEqualTo(way & 3);
    }
    cache.unlock(0);
    assertThat(word(0) & 0xffffffL << 16).isEqualTo(group);
  }

  @Test
  void shouldMoveTheVersionAndWrap() {
    long counts = 0x2fff;
    long group = 0x123456L << 16;
    Words.set(parts.memory(), LOCK, 0xfffffeL << VERSION_SHIFT | group | counts);
    assertThat(cache.isLocked(0)).isFalse();
    assertThat(cache.tryLock(0)).isTrue();
    assertThat(word(0)).isEqualTo(0xffffffL << VERSION_SHIFT | group | counts);
    assertThat(cache.isLocked(0)).isTrue();
    assertThat(cache.tryLock(0)).isFalse();
    cache.unlock(0);
    assertThat(word(0)).isEqualTo(group | counts);
    cache.lock(0, BACKOFF);
    cache.unlock(0);
    assertThat(word(0)).isEqualTo(2L << VERSION_SHIFT | group | counts);
    assertThat(cache.find(keyOf(0, 0), probe)).isFalse();
  }

  @Test
  void shouldEvictWhatIsColdInTheOrderOfTheHand() {
    fill(RecordCache.CLEAN);
    cache.lock(0, BACKOFF);
    assertThat(cache.hasColdWay(0)).isTrue();
    for (int way = 0; way < RecordCache.WAYS; way++) {
      cache.setCount(0, way, way == 3 ? 1 : 2);
    }
    assertThat(cache.hasColdWay(0)).isFalse();
    assertThat(cache.victim(0)).isEqualTo(3);
    assertThat(cache.count(0, 2)).isZero();
    assertThat(cache.count(0, 4)).isEqualTo(1);
    assertThat(cache.hasColdWay(0)).isTrue();
    // The hand has passed the victim, so 4 to 6 lose one before 0 goes.
    assertThat(cache.victim(0)).isZero();
    assertThat(cache.count(0, 6)).isZero();
    assertThat(cache.victim(0)).isEqualTo(1);
    cache.unlock(0);
  }

  @Test
  void shouldEvictOnlyWhatTheLeafOrTheDeltaHas() {
    for (int kind = RecordCache.CLEAN; kind <= RecordCache.BUSY; kind++) {
      fill(kind);
      cache.lock(0, BACKOFF);
      cache.setCount(0, 2, 3);
      boolean evicted =
          kind == RecordCache.CLEAN || kind == RecordCache.ABSENT || kind == RecordCache.DELTA;
      boolean newer = kind == RecordCache.DIRTY || kind == RecordCache.DELTA_NEWER;
      assertThat(cache.victim(0) != RecordCache.NONE).as("kind=" + kind).isEqualTo(evicted);
      if (!evicted) {
        assertThat(cache.hasColdWay(0)).as("kind=" + kind).isFalse();
        assertThat(cache.count(0, 2)).as("kind=" + kind).isEqualTo(newer ? 0 : 3);
      }
      cache.unlock(0);
    }
  }

  /** Pauses whose clock moves by a second each time that it is read. */
  private static Backoff inQuickTime(IntConsumer pause) {
    return new Backoff() {
      private long seconds;

      @Override
      public void pause(int attempt) {
        pause.accept(attempt);
      }

      @Override
      public long nanoTime() {
        return TimeUnit.SECONDS.toNanos(seconds++);
      }
    };
  }

  @Test
  void shouldWaitForALockedBucketWithALimit() {
    fill(RecordCache.CLEAN);
    cache.lock(0, BACKOFF);
    int[] pauses = {0};
    Backoff counting =
        inQuickTime(attempt -> {
          assertThat(attempt).isEqualTo(pauses[0]);
          pauses[0]++;
        });
    assertThatThrownBy(() -> cache.find(keyOf(0, 0), new Probe(counting)))
        .isInstanceOf(StalledException.class)
        .hasMessageContaining("bucket=0");
    assertThat(pauses[0]).isPositive();
    assertThatThrownBy(() -> cache.lock(0, inQuickTime(_ -> {})))
        .isInstanceOf(StalledException.class);

    Backoff unlocking = attempt -> cache.unlock(0);
    assertThat(cache.find(keyOf(0, 0), new Probe(unlocking))).isTrue();
  }

  @Test
  void shouldKeepNoLockOfAPairThatItCannotLock() {
    long twin = RecordCache.twin(0);
    cache.lock(twin, BACKOFF);
    assertThatThrownBy(() -> cache.lockBoth(twin, inQuickTime(_ -> {})))
        .isInstanceOf(StalledException.class);
    assertThat(cache.isLocked(0)).isFalse();
    cache.unlock(twin);
    cache.lockBoth(0, BACKOFF);
    cache.unlockBoth(0);
    assertThat(cache.isLocked(0) || cache.isLocked(twin)).isFalse();
  }

  @Test
  void shouldWaitForTheTwinThatTheHomeNames() {
    long twin = RecordCache.twin(0);
    cache.lockBoth(0, BACKOFF);
    cache.setTwinBit(0, true);
    put(twin, 0, RecordCache.CLEAN, keyOf(0, 0));
    cache.unlock(0);
    Backoff unlocking = attempt -> cache.unlock(twin);
    assertThat(cache.find(keyOf(0, 0), new Probe(unlocking))).isTrue();
  }

  /** Returns a probe during whose look number {@code turn} something happens. */
  private static Probe interrupted(int turn, Runnable change) {
    return new Probe(
        new Backoff() {
          private int turns;

          @Override
          public void pause(int attempt) {}

          @Override
          public void transition() {
            if (turns++ == turn) {
              change.run();
            }
          }
        });
  }

  @Test
  void shouldLookAgainIfTheRecordIsReplacedMeanwhile() {
    fill(RecordCache.CLEAN);
    Runnable replacing =
        () -> {
          cache.lock(0, BACKOFF);
          put(0, 3, RecordCache.DIRTY, keyOf(0, 7));
          put(0, 4, RecordCache.DIRTY, keyOf(0, 3));
          cache.unlock(0);
        };
    Probe racing = interrupted(0, replacing);
    assertThat(cache.find(keyOf(0, 3), racing)).isTrue();
    assertThat(racing.way).isEqualTo(4);
    assertThat(racing.kind).isEqualTo(RecordCache.DIRTY);
  }

  @Test
  void shouldLookAgainIfTheRecordComesMeanwhile() {
    Runnable coming =
        () -> {
          cache.lock(0, BACKOFF);
          put(0, 3, RecordCache.CLEAN, keyOf(0, 0));
          cache.unlock(0);
        };
    Probe racing = interrupted(0, coming);
    assertThat(cache.find(keyOf(0, 0), racing)).isTrue();
    assertThat(racing.way).isEqualTo(3);
  }

  @Test
  void shouldFindARecordThatMovesBetweenHomeAndTwin() {
    long twin = RecordCache.twin(0);
    for (int turn = 0; turn < 3; turn++) {
      for (long from = 0; from <= twin; from += twin) {
        moveTo(from);
        long to = RecordCache.twin(from);
        Probe racing = interrupted(turn, () -> moveTo(to));
        assertThat(cache.find(keyOf(0, 0), racing)).as("turn=" + turn + ", from=" + from).isTrue();
      }
    }
  }

  /** Makes the first key of bucket 0 the only record, in one of the pair. */
  private void moveTo(long bucket) {
    cache.lockBoth(bucket, BACKOFF);
    cache.setTwinBit(0, true);
    cache.setState(RecordCache.twin(bucket), 1, RecordCache.FREE, 0);
    put(bucket, 1, RecordCache.CLEAN, keyOf(0, 0));
    cache.unlockBoth(bucket);
  }

  @Test
  void shouldLookAgainIfTheTwinGetsTheRecordMeanwhile() {
    long twin = RecordCache.twin(0);
    for (int turn = 0; turn < 2; turn++) {
      cache.lockBoth(0, BACKOFF);
      cache.setTwinBit(0, true);
      cache.setState(twin, 1, RecordCache.FREE, 0);
      cache.unlockBoth(0);
      Runnable coming =
          () -> {
            cache.lock(twin, BACKOFF);
            put(twin, 1, RecordCache.CLEAN, keyOf(0, 0));
            cache.unlock(twin);
          };
      Probe racing = interrupted(turn, coming);
      assertThat(cache.find(keyOf(0, 0), racing)).as("turn=" + turn).isTrue();
      assertThat(racing.bucket).isEqualTo(twin);
    }
  }

  @Test
  void shouldNotRaiseCountsOfABucketThatIsLockedMeanwhile() {
    fill(RecordCache.CLEAN);
    Backoff holding =
        new Backoff() {
          private boolean held;

          @Override
          public void pause(int attempt) {
            assertThat(cache.count(0, 0)).isZero();
            cache.unlock(0);
          }

          @Override
          public void transition() {
            if (!held) {
              held = true;
              cache.lock(0, BACKOFF);
            }
          }
        };
    assertThat(cache.find(keyOf(0, 0), new Probe(holding))).isTrue();
    cache.lock(0, BACKOFF);
    assertThat(cache.count(0, 0)).isEqualTo(1);
    cache.unlock(0);
  }
}
