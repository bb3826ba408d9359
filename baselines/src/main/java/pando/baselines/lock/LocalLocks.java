package pando.baselines.lock;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;
import pando.fabric.Backoff;
import pando.fabric.Worker;

/**
 * The local lock table of a compute server for one memory server (Sherman section 4.3): a queue in
 * front of each global lock, first come, first served, so that only one thread of a compute server
 * asks for the global lock at a time. A holder can hand the global lock over to the next waiter.
 *
 * <p>A queue is two numbers: the next ticket to hand out, and the ticket that holds the lock.
 * Thread-safe.
 */
public final class LocalLocks {
  /** Attempts in quick succession. The time limit counts only after them, as clocks may jump. */
  private static final int EAGER = 2_048;

  private static final int ATTEMPTS_TO_A_PAUSE = 16;

  /** Number of the longest pause that spins. */
  private static final int SPINNING = Backoff.SPINNING_ATTEMPTS - 1;

  /** Number of the longest pause; it gives the processor to other threads. */
  private static final int PATIENT = Backoff.SPINNING_ATTEMPTS + 8;

  private final AtomicIntegerArray next;
  private final AtomicIntegerArray serving;

  /** By lock, number of hand-overs in a row. Only the holder uses it. */
  private final byte[] handovers;

  /** By lock, whether the previous holder handed the global lock over. Only the holder uses it. */
  private final boolean[] handed;

  /** By lock, the word of the global lock, if that was handed over. */
  private final long[] words;

  /** Tickets of waiters that gave up, each with its lock: see {@link #key}. */
  private final Set<Long> abandoned = new HashSet<>();

  private volatile int abandonedCount;

  LocalLocks(int locks) {
    next = new AtomicIntegerArray(locks);
    serving = new AtomicIntegerArray(locks);
    handovers = new byte[locks];
    handed = new boolean[locks];
    words = new long[locks];
  }

  /**
   * Takes a lock. Waits until all earlier waiters have had it.
   *
   * @param waitNanos longest wait, in nanoseconds
   * @return whether it was taken
   */
  boolean lock(int lock, Worker worker, long waitNanos) {
    int ticket = next.getAndIncrement(lock);
    if (serving.get(lock) == ticket) {
      return true;
    }
    try {
      return await(lock, ticket, worker, waitNanos) || !abandon(lock, ticket);
    } catch (RuntimeException | Error e) {
      if (!abandon(lock, ticket)) {
        release(lock);
      }
      throw e;
    }
  }

  /** Waits for a ticket's turn; returns {@code false} after a timeout. */
  private boolean await(int lock, int ticket, Worker worker, long waitNanos) {
    Backoff backoff = worker.backoff();
    long start = worker.nanoTime();
    for (int attempt = 0; serving.get(lock) != ticket; attempt++) {
      int ahead = Math.min(ticket - serving.get(lock), PATIENT);
      backoff.pauseBriefly(attempt < EAGER ? eagerPause(attempt, ahead) : PATIENT);
      if (attempt > EAGER && worker.nanoTime() - start > waitNanos) {
        return false;
      }
    }
    return true;
  }

  /** Returns the number of a pause: waiters further back poll less often. */
  private static int eagerPause(int attempt, int ahead) {
    return Math.max(Math.min(attempt / ATTEMPTS_TO_A_PAUSE, SPINNING), ahead - 1);
  }

  /** Takes a lock if it is free. */
  boolean tryLock(int lock) {
    int ticket = serving.get(lock);
    return next.compareAndSet(lock, ticket, ticket + 1);
  }

  /** Returns whether the previous holder handed the global lock over. For the holder only. */
  boolean isHanded(int lock) {
    return handed[lock];
  }

  /** Returns the word of a global lock that was handed over. For the holder only. */
  long word(int lock) {
    return words[lock];
  }

  /**
   * Returns whether the holder should hand the global lock over: a waiter is in the queue, and the
   * limit is not reached.
   *
   * @param most maximum number of hand-overs in a row
   */
  boolean mayHandOver(int lock, int most) {
    return handovers[lock] < most && next.get(lock) - serving.get(lock) > 1;
  }

  /** Releases a lock whose global lock is not handed over. */
  void release(int lock) {
    handed[lock] = false;
    handovers[lock] = 0;
    serveNext(lock);
  }

  /**
   * Releases a lock and hands the global one to the next waiter.
   *
   * @return {@code true} if the next waiter took over; {@code false} if it had timed out, and the
   *     caller still holds both locks
   */
  boolean handOver(int lock, long word) {
    handed[lock] = true;
    handovers[lock]++;
    words[lock] = word;
    int ticket = serving.incrementAndGet(lock);
    return abandonedCount == 0 || !takePlaceOf(lock, ticket);
  }

  /** Returns a number that changes whenever the lock is taken, negative while it is held. */
  public long state(int lock) {
    int ticket = serving.get(lock);
    return next.get(lock) == ticket ? ticket & 0xFFFF_FFFFL : -1;
  }

  private void serveNext(int lock) {
    serving.incrementAndGet(lock);
    if (abandonedCount > 0) {
      skipAbandoned(lock);
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written under the monitor alone.
  private synchronized void skipAbandoned(int lock) {
    while (abandoned.remove(key(lock, serving.get(lock)))) {
      abandonedCount--;
      serving.incrementAndGet(lock);
    }
  }

  /** Takes over a ticket that has its turn, if its waiter timed out; returns whether it did. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // Written under the monitor alone.
  private synchronized boolean takePlaceOf(int lock, int ticket) {
    if (!abandoned.remove(key(lock, ticket))) {
      return false;
    }
    abandonedCount--;
    return true;
  }

  /**
   * Abandons a ticket; returns {@code false} if its turn has come, so that the caller holds the
   * lock.
   */
  @SuppressWarnings("NonAtomicVolatileUpdate") // Written under the monitor alone.
  private synchronized boolean abandon(int lock, int ticket) {
    abandoned.add(key(lock, ticket));
    abandonedCount++;
    if (serving.get(lock) == ticket) {
      abandoned.remove(key(lock, ticket));
      abandonedCount--;
      return false;
    }
    return true;
  }

  private static long key(int lock, int ticket) {
    return ((long) lock << 32) | (ticket & 0xFFFF_FFFFL);
  }
}
