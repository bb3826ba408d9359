package pando.baselines.smart;

import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.index.session.Retry;

/** The places that a worker has locked by {@link PlaceLocks}, a few at a time. */
final class HeldPlaces {
  /** A leaf, a node and the node above it. */
  private static final int MOST = 3;

  private final PlaceLocks locks;
  private final Worker worker;
  private final long scratch;
  private final long[] addresses = new long[MOST];
  private final int[] held = new int[MOST];

  /** The numbers that the locks had when they were taken. */
  private final int[] numbers = new int[MOST];

  private int count;

  /**
   * Creates an object that holds none.
   *
   * @param scratch local offset of a word that is overwritten
   */
  HeldPlaces(PlaceLocks locks, Worker worker, long scratch) {
    this.locks = locks;
    this.worker = worker;
    this.scratch = scratch;
  }

  /** Returns a number to be noted before a place is READ. */
  int number(long address) {
    int lock = locks.of(address);
    for (int i = 0; i < count; i++) {
      if (held[i] == lock) {
        return numbers[i];
      }
    }
    return locks.number(lock);
  }

  /**
   * Locks a place if nobody has locked it since a number was noted, but this worker; returns
   * whether that is so.
   */
  boolean tryLock(long address, int number) {
    int lock = locks.of(address);
    for (int i = 0; i < count; i++) {
      if (held[i] == lock) {
        return numbers[i] == number;
      }
    }
    if (!locks.tryLock(lock, number)) {
      return false;
    }
    addresses[count] = address;
    held[count] = lock;
    numbers[count++] = number;
    return true;
  }

  /** Unlocks all. */
  void unlock() {
    while (count > 0) {
      locks.unlock(held[--count]);
    }
  }

  /**
   * Unlocks all after a failure, once no verb that was posted before can take effect any more: a
   * later verb to the same memory server has.
   */
  void abandon(Throwable failure) {
    for (int i = 0; i < count; i++) {
      long address = addresses[i];
      Closing.after(
          failure, () -> Retry.untilDone(worker, () -> worker.read(address, scratch, Long.BYTES)));
    }
    unlock();
  }
}
