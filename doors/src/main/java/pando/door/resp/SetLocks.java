package pando.door.resp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import pando.fabric.StalledException;

/**
 * A store's way to the locks of sets. An event loop does not wait for a request in the background
 * that has one: its own request goes there, too. All take several locks in the order of their
 * numbers, so that no two wait for each other.
 */
final class SetLocks {
  private static final long WAIT_MILLIS_MAX = 60_000;
  private static final long WAIT_MILLIS = 1;

  private final Store store;
  private final OwnKeyspace own;

  SetLocks(Store store, OwnKeyspace own) {
    this.store = store;
    this.own = own;
  }

  /**
   * Locks the set of a key, for a reader.
   *
   * @throws TooLong if a request in the background has it
   */
  Lock read(MemorySegment key) {
    return locked(own.lock(own.lockOf(key)).readLock());
  }

  /**
   * Locks the set of a key, for one that changes it.
   *
   * @throws TooLong if a request in the background has it
   */
  Lock change(MemorySegment key) {
    return locked(own.lock(own.lockOf(key)).writeLock());
  }

  /** Does something while no other one uses the sets of two keys. */
  boolean withBoth(MemorySegment one, MemorySegment other, BooleanSupplier action) {
    boolean inOrder = own.lockOf(one) <= own.lockOf(other);
    Lock first = change(inOrder ? one : other);
    try {
      Lock second = change(inOrder ? other : one);
      try {
        return action.getAsBoolean();
      } finally {
        second.unlock();
      }
    } finally {
      first.unlock();
    }
  }

  /** Does something while no other one uses any set. */
  void withAll(Runnable action) {
    List<Lock> taken = new ArrayList<>();
    try {
      for (int i = 0; i < OwnKeyspace.LOCKS; i++) {
        taken.add(locked(own.lock(i).writeLock()));
      }
      action.run();
    } finally {
      taken.reversed().forEach(Lock::unlock);
    }
  }

  private Lock locked(Lock lock) {
    long millis = store.isInBackground() ? WAIT_MILLIS_MAX : WAIT_MILLIS;
    try {
      if (lock.tryLock(millis, TimeUnit.MILLISECONDS)) {
        return lock;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the lock of a set", e);
    }
    store.requireBackground();
    throw new StalledException("a set stays locked: waitedMillis=" + millis);
  }
}
