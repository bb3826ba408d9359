package pando.map;

import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import pando.client.DexPair;
import pando.index.Seeds;

/** Moves the boundary between two compute servers to and fro, among the keys of tests. */
final class MovingBoundary implements AutoCloseable {
  /** Many times what a move takes: an operation is sent again at most ten times. */
  private static final int PAUSE_MILLIS = 50;

  private static final long FEW_KEYS = 30;
  private static final long ALL_KEYS = 600;

  private final SplittableRandom random = new SplittableRandom(Seeds.of(851));
  private final CountDownLatch ended = new CountDownLatch(1);
  private final FutureTask<Void> moves;

  private MovingBoundary(LongConsumer servers) {
    this.moves = new FutureTask<>(() -> move(servers), null);
  }

  /** Moves until it is closed. */
  static MovingBoundary start(DexPair pair) {
    return start((LongConsumer) pair::move);
  }

  /**
   * Moves until it is closed.
   *
   * @param servers move a boundary to a key
   */
  static MovingBoundary start(LongConsumer servers) {
    MovingBoundary moving = new MovingBoundary(servers);
    Thread.ofPlatform().daemon().name("moving-boundary").start(moving.moves);
    return moving;
  }

  private void move(LongConsumer servers) {
    try {
      do {
        servers.accept(random.nextLong(random.nextBoolean() ? FEW_KEYS : ALL_KEYS) - FEW_KEYS / 2);
      } while (!ended.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Ends, and fails if a move has failed. */
  @Override
  public void close() {
    ended.countDown();
    try {
      moves.get();
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError("a boundary could not be moved", e);
    }
  }
}
