package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.PoolFullException;
import pando.index.HookedFabric;
import pando.index.MovablePartitions;
import pando.index.Pools;
import pando.index.Session;

/** Operations that find the pool full, and wait for places that rest. */
@Timeout(300)
class SmartFullTest {
  /** More than have room in one chunk of places. */
  private static final int KEYS = 5_000;

  /** Keys that another compute server gets meanwhile: the last ones. */
  private static final int MOVED = 10;

  private static final long SECOND = 1_000_000_000;

  private final HookedFabric fabric =
      new HookedFabric(Pools.open(1, 8 << 20, 981)).withThreads().withTasksByHand();

  private static void letAPlaceRest(Session session) {
    session.put(-1, 1);
    session.remove(-1);
  }

  /** Has the next allocation that needs a chunk find the pool full. */
  private void failNextChunk(Runnable before) {
    fabric.hookNext(
        verbs -> verbs.size() == 0,
        _ -> {
          before.run();
          throw new PoolFullException("full by a test");
        });
  }

  @Test
  void shouldStoreNoMoreKeysOfAGroupWhereTheRangeHasMoved() {
    SmartOptions options = SmartOptions.partitionedSmart().withComputeServers(2);
    try (fabric;
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session()) {
      MovablePartitions partitions = index.partitions().orElseThrow();
      partitions.moveBoundary(1, KEYS);
      letAPlaceRest(session);
      failNextChunk(() ->
          fabric.hookPause(
              0,
              () -> {
                partitions.moveBoundary(1, KEYS - MOVED);
                fabric.letTimePass(SECOND);
              }));
      long[] keys = LongStream.range(0, KEYS).toArray();
      assertThatThrownBy(() -> session.putAll(keys, 0, KEYS, keys))
          .isInstanceOf(PoolFullException.class);
      assertThat(session.get(KEYS - 1)).isFalse();
      session.putAll(keys, 0, KEYS, keys);
      assertThat(session.get(KEYS - 1)).isTrue();
      assertThat(options.walk(fabric).problems()).isEmpty();
    }
  }

  /** Those that wait for it are inside the gate, and no place is free before they end. */
  @Test
  void shouldKeepNobodyWaitingWhileItWaits() {
    SmartOptions options = SmartOptions.smart().withComputeServers(1);
    try (fabric;
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      letAPlaceRest(session);
      long[] key = new long[1];
      CountDownLatch waits = new CountDownLatch(1);
      Thread follower = new Thread(() -> other.put(key[0], 2));
      boolean[] ended = new boolean[1];
      Runnable pauses =
          () -> {
            join(follower);
            ended[0] = !follower.isAlive();
            fabric.letTimePass(SECOND);
          };
      failNextChunk(() -> {
        fabric.hookPause(
            0,
            () -> {
              fabric.hookPause(0, pauses);
              waits.countDown();
            });
        follower.start();
        await(waits);
      });
      while (follower.getState() == Thread.State.NEW) {
        key[0]++;
        session.put(key[0], 1);
      }
      join(follower);
      assertThat(ended).as("while the first one waited").containsExactly(true);
      assertThat(session.get(key[0])).isTrue();
      assertThat(session.value()).isOne();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join(20_000);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
