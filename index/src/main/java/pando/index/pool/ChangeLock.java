package pando.index.pool;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.index.session.Retry;

/**
 * The lock of the partition table, as one change of an index takes it: a word that names its
 * holder, so that it can be taken over from a process that is gone.
 *
 * <pre>
 *  63                     20 19             0
 * +-------------------------+----------------+
 * | process                 | its change     |    0: unlocked
 * +-------------------------+----------------+
 * </pre>
 *
 * <p>For one thread.
 */
final class ChangeLock {
  private static final int CHANGE_BITS = Long.SIZE - Fabric.PROCESS_BITS;
  private static final long CHANGE_MASK = (1L << CHANGE_BITS) - 1;

  /** Time that a change may take: enough for a bulk load of some hundred million entries. */
  private static final long WAIT_NANOS_MAX = 30_000_000_000L;

  /** Attempts that are made at least, even if the clock jumps. */
  private static final int ATTEMPTS_MIN = 1_000;

  /** Attempts between two checks whether the holder's process is gone. */
  private static final int LOOK_EVERY = 64;

  private static final AtomicLong CHANGES = new AtomicLong();

  /** Lock words of this process's changes that are under way. */
  private static final Set<Long> UNDER_WAY = ConcurrentHashMap.newKeySet();

  static {
    // Has its table made now: of two threads that make it one yields, as no simulated client may.
    UNDER_WAY.add(0L);
    UNDER_WAY.remove(0L);
  }

  private final Fabric fabric;
  private final Worker worker;
  private final long word;
  private boolean held;

  ChangeLock(Fabric fabric, Worker worker) {
    this.fabric = fabric;
    this.worker = worker;
    this.word = fabric.process() << CHANGE_BITS | (CHANGES.getAndIncrement() & CHANGE_MASK);
  }

  /**
   * Locks; waits if another change has the lock, and takes it over if the holder's process is gone.
   *
   * @throws StalledException if it stays locked
   */
  void lock() {
    UNDER_WAY.add(word);
    long start = worker.nanoTime();
    long expected = 0;
    for (int attempt = 0; ; attempt++) {
      long found = worker.cas(Catalogue.LOCK, expected, word);
      held = found == expected;
      if (held) {
        return;
      }
      boolean gone = found != 0 && attempt % LOOK_EVERY == 0 && isGone(found);
      expected = gone ? found : 0;
      if (!gone) {
        pause(found, attempt, start);
      }
    }
  }

  /** Locks if no other change has the lock, or a process that is gone; returns whether it did. */
  boolean tryLock() {
    UNDER_WAY.add(word);
    long found = worker.cas(Catalogue.LOCK, 0, word);
    if (found != 0 && found != word && isGone(found)) {
      found = worker.cas(Catalogue.LOCK, found, word) == found ? 0 : found;
    }
    // An attempt that was not answered may have locked.
    held |= found == 0 || found == word;
    return held;
  }

  private boolean isGone(long holder) {
    long process = holder >>> CHANGE_BITS;
    return process == fabric.process() ? !UNDER_WAY.contains(holder) : fabric.isGone(process);
  }

  /**
   * Waits. The limit is a time, not a number of attempts, as an interrupted thread does not sleep
   * between attempts.
   */
  private void pause(long holder, int attempt, long start) {
    long waited = worker.nanoTime() - start;
    if (waited > WAIT_NANOS_MAX && attempt >= ATTEMPTS_MIN) {
      throw new StalledException(
          ("the partition table stayed locked, by a process that still runs:"
                  + " holder=0x%s, process=0x%s, waitedNanos=%s, attempts=%s")
              .formatted(
                  Long.toHexString(holder),
                  Long.toHexString(holder >>> CHANGE_BITS),
                  waited,
                  attempt));
    }
    worker.backoff().pause(attempt);
  }

  /**
   * Unlocks; also after an attempt to lock that was not answered and may have succeeded.
   *
   * @throws StalledException if another change has the lock instead
   */
  void unlock() {
    try {
      long found = word;
      try {
        found = worker.cas(Catalogue.LOCK, word, 0);
      } catch (PandoException _) {
        unlockAgain();
      } catch (Throwable e) {
        // Other processes wait for it, whatever this one has met.
        Closing.after(e, this::unlockAgain);
        throw e;
      }
      if (held && found != word) {
        throw new StalledException(
            "the partition table's lock was lost: owner=0x%s, found=0x%s"
                .formatted(Long.toHexString(word), Long.toHexString(found)));
      }
    } finally {
      held = false;
      UNDER_WAY.remove(word);
    }
  }

  private void unlockAgain() {
    Retry.untilDone(worker, () -> worker.cas(Catalogue.LOCK, word, 0));
  }
}
