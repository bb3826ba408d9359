package pando.journal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;

/** The place up to which all of a log is safe, and those that wait for it. Thread-safe. */
public final class SyncedPlace {
  private final RecordLog log;
  private final LongConsumer demand;
  private final ReentrantLock lock = new ReentrantLock();
  private final PriorityQueue<Waiting> waiting =
      new PriorityQueue<>(Comparator.comparingLong(Waiting::lsn));
  private volatile long synced;

  /** A task that waits. */
  private record Waiting(long lsn, Runnable task) {}

  /**
   * Creates the place of a log.
   *
   * @param first the place where it begins
   * @param demand called with each place that somebody begins to wait for
   */
  public SyncedPlace(RecordLog log, long first, LongConsumer demand) {
    this.log = log;
    this.synced = first;
    this.demand = demand;
  }

  /** Returns the place. */
  public long get() {
    return synced;
  }

  /**
   * Returns once all up to a place is safe.
   *
   * @throws LogFailedException if the log fails before
   */
  public void await(long lsn) {
    if (synced >= lsn) {
      return;
    }
    Thread waiter = Thread.currentThread();
    whenSynced(lsn, () -> LockSupport.unpark(waiter));
    boolean interrupted = false;
    try {
      while (synced < lsn) {
        log.check();
        LockSupport.park(this);
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        waiter.interrupt();
      }
    }
  }

  /** Runs a task once all up to a place is safe, or the log has failed. */
  public void whenSynced(long lsn, Runnable task) {
    boolean waits = false;
    lock.lock();
    try {
      if (synced < lsn && !hasFailed()) {
        waiting.add(new Waiting(lsn, task));
        waits = true;
      }
    } finally {
      lock.unlock();
    }
    if (waits) {
      demand.accept(lsn);
    } else {
      task.run();
    }
  }

  private boolean hasFailed() {
    try {
      log.check();
      return false;
    } catch (LogFailedException e) {
      return true;
    }
  }

  /** Advances the place, unless it is further already, and wakes those that waited for it. */
  public void advance(long to) {
    lock.lock();
    try {
      synced = Math.max(synced, to);
    } finally {
      lock.unlock();
    }
    runTasks();
  }

  /** Has all that wait look whether the log has failed. */
  public void wake() {
    runTasks();
  }

  /** Runs the tasks that need not wait any more. */
  private void runTasks() {
    List<Runnable> due = new ArrayList<>();
    lock.lock();
    try {
      boolean all = hasFailed();
      for (Waiting next = waiting.peek();
          next != null && (all || next.lsn() <= synced);
          next = waiting.peek()) {
        due.add(waiting.remove().task());
      }
    } finally {
      lock.unlock();
    }
    for (Runnable task : due) {
      try {
        task.run();
      } catch (Throwable e) {
        log.fail(e); // Those behind it are told all the same.
      }
    }
  }
}
