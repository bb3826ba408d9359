package pando.journal;

import java.io.IOException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import pando.fabric.memory.Closing;

/**
 * Forces a log to the disk, by a thread of its own: again and again while somebody waits, and else
 * once a second, unless the policy is {@link SyncPolicy#NO}. All that wait share one force.
 *
 * <p>A force that fails is never repeated, as the kernel may have dropped what it did not write.
 * The log has failed then.
 */
final class Syncer {
  /*
   * After a force, all is on the disk that was appended before it began: the end of the log is read
   * first, and then each segment is forced that has something between the synced place and the end.
   */

  private static final long INTERVAL_NANOS = 1_000_000_000;

  private final Log log;
  private final SyncPolicy policy;
  private final Thread thread =
      Thread.ofPlatform().daemon().name("pando-log-syncer").unstarted(this::run);
  private final ReentrantLock lock = new ReentrantLock();

  /** Somebody waits for the disk, or all ends. */
  private final Condition wanted = lock.newCondition();

  /** A force has ended, or the log has failed. */
  private final Condition changed = lock.newCondition();

  private final SyncedPlace synced;
  private long syncs;

  /** When the last force that succeeded began. */
  private volatile long syncedMillis = System.currentTimeMillis();

  private long demanded;

  /** When the force that is under way began, an odd number; 0 if none is. */
  private volatile long forceBegan;

  private boolean closing;

  Syncer(Log log, SyncPolicy policy, long first) {
    this.log = log;
    this.policy = policy;
    this.synced = new SyncedPlace(log, first, this::demand);
  }

  void start() {
    thread.start();
  }

  /** Returns the place up to which all is on the disk. */
  SyncedPlace synced() {
    return synced;
  }

  long syncs() {
    lock.lock();
    try {
      return syncs;
    } finally {
      lock.unlock();
    }
  }

  long syncedMillis() {
    return syncedMillis;
  }

  private void demand(long lsn) {
    lock.lock();
    try {
      if (lsn > demanded) {
        demanded = lsn;
        wanted.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns at once, unless a force takes longer than a time: then once it has ended. */
  void awaitNoStall(long nanos) {
    long began = forceBegan;
    if (began == 0 || System.nanoTime() - began < nanos) {
      return;
    }
    lock.lock();
    try {
      while (forceBegan == began && !log.hasFailed()) {
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Has all that wait look whether the log has failed. */
  void wake() {
    lock.lock();
    try {
      wanted.signalAll();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    synced.wake();
  }

  private void run() {
    try {
      while (awaitDemand()) {
        sync();
      }
      if (!log.hasFailed()) {
        sync();
        log.mark(RecordFormat.CLOSED, synced.get());
        forceAll(synced.get(), Long.MAX_VALUE);
      }
    } catch (Throwable e) {
      log.fail(e);
    } finally {
      synced.wake();
    }
  }

  /** Waits until the log has to be on the disk; returns {@code false} where it ends. */
  private boolean awaitDemand() throws InterruptedException {
    lock.lock();
    try {
      long left = INTERVAL_NANOS;
      while (!closing && !log.hasFailed() && demanded <= synced.get()) {
        if (policy == SyncPolicy.NO) {
          wanted.await();
        } else if (left <= 0) {
          return true;
        } else {
          left = wanted.awaitNanos(left);
        }
      }
      return !closing && !log.hasFailed();
    } finally {
      lock.unlock();
    }
  }

  private void sync() throws IOException {
    long millis = System.currentTimeMillis();
    long target = log.end();
    if (target <= synced.get()) {
      return;
    }
    forceBegan = System.nanoTime() | 1;
    try {
      forceAll(synced.get(), target);
    } finally {
      endForce();
    }
    lock.lock();
    try {
      syncedMillis = millis;
      syncs++;
    } finally {
      lock.unlock();
    }
    synced.advance(target);
    log.mark(RecordFormat.SYNCED, target);
  }

  private void forceAll(long from, long to) throws IOException {
    for (LogSegment segment : log.segments(from, to)) {
      segment.force();
    }
  }

  private void endForce() {
    lock.lock();
    try {
      forceBegan = 0;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Forces all to the disk, and ends the thread. */
  void close() {
    lock.lock();
    try {
      closing = true;
      wanted.signalAll();
    } finally {
      lock.unlock();
    }
    Closing.join(thread);
  }
}
