package pando.door.resp;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes that unfinished requests and unsent replies of all connections take together, so that many
 * connections cannot take what each of them may. Thread-safe.
 */
final class MemoryBudget {
  private final long bytesMax;
  private final AtomicLong bytes = new AtomicLong();

  MemoryBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** Takes bytes; returns {@code false} if there are not as many. */
  boolean tryTake(long wanted) {
    if (bytes.addAndGet(wanted) <= bytesMax) {
      return true;
    }
    bytes.addAndGet(-wanted);
    return false;
  }

  /**
   * Takes bytes for one that has some already, if as many as it has then are left for all others;
   * returns {@code false} if they are not. So however many take what they can, one more finds some.
   */
  boolean tryTakeShare(long had, long wanted) {
    if (had + wanted <= bytesMax - bytes.addAndGet(wanted)) {
      return true;
    }
    bytes.addAndGet(-wanted);
    return false;
  }

  void giveBack(long taken) {
    bytes.addAndGet(-taken);
  }

  /** Returns the bytes that are taken. */
  long bytes() {
    return bytes.get();
  }
}
