package pando.baselines.smart;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The locks of places at a compute server of P-SMART, for what it alone changes: leaves of its
 * keys, and inner nodes whose paths lie within its range. Places share {@link #LOCKS} locks by
 * hash.
 *
 * <p>A lock is a number, even where it is free, which grows whenever it is taken and let go. A
 * session notes it, READs the place, and takes the lock only if the number is the same: so what it
 * READ is what is there, and a WRITE of a word does what a CAS does elsewhere. Nobody waits for a
 * lock with another one held. Thread-safe.
 */
final class PlaceLocks {
  /** In place of a number: of a lock that is held. */
  static final int HELD = -1;

  private static final int LOCKS = 1 << 16;
  private static final int HASH_SHIFT = 48;

  private final AtomicIntegerArray numbers;

  /** Creates free locks; without partitions, as few as can be. */
  PlaceLocks(boolean partitioned) {
    this.numbers = new AtomicIntegerArray(partitioned ? LOCKS : 1);
  }

  /** Returns which lock a place has. */
  int of(long address) {
    int hash = (int) ((address * 0x9E37_79B9_7F4A_7C15L) >>> HASH_SHIFT);
    return hash & (numbers.length() - 1);
  }

  /** Returns the number of a lock that is free, or {@link #HELD}. */
  int number(int lock) {
    int number = numbers.get(lock);
    return (number & 1) == 0 ? number : HELD;
  }

  /** Takes a lock if it still has a number; returns whether it had. */
  boolean tryLock(int lock, int number) {
    return number != HELD && numbers.compareAndSet(lock, number, number + 1);
  }

  /** Lets a lock go. */
  void unlock(int lock) {
    numbers.incrementAndGet(lock);
  }
}
