package pando.index.session;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.index.Unwritten;

/**
 * When a background task writes back what is changed in local memory alone. Thread-safe where a
 * method does not say that it is the task's.
 */
public final class WriteBack {
  /*
   * A change that is the first one since all was written wakes the task, which begins a sweep half
   * an interval later, and others half an interval after the one before began, as long as there are
   * changes. A sweep writes all that was changed when it began. So a change is in the pool within
   * an interval, if a sweep takes no longer than half of one. Where nothing is changed the task
   * rests, and a value that is changed again and again is written twice in an interval.
   *
   * A pool that ends with this process gets nothing by it: there the task rests for good, and
   * changes wait for what else writes them.
   *
   * What an operation holds is left out, and swept again soon; what fails waits for half an
   * interval, and so does a sweep that cannot begin.
   */

  /** What was left out is swept again after one of so many parts of half an interval. */
  private static final int SOON_PART = 8;

  private final boolean keepsPool;
  private final long halfNanos;
  private final Runnable wake;
  private final LongConsumer wakeAfter;
  private final Supplier<? extends Sweep> open;

  /** Held while something that was marked is written. */
  private final AtomicBoolean writing = new AtomicBoolean();

  /** Whether something was changed since the last sweep began, and the task knows. */
  private volatile boolean changed;

  private volatile boolean waits;

  /** The task's, once it is opened. */
  private volatile @Nullable Sweep sweep;

  /** Time before which no change was made that may be unwritten, if something waits. */
  private volatile long oldest;

  // Of the task.

  private long due;
  private volatile boolean sweeping;
  private long start;
  private boolean failed;

  /**
   * Creates a schedule.
   *
   * @param keepsPool whether the pool stays when this process ends
   * @param intervalNanos greatest age of a change that is not in the pool; 0: changes wait for what
   *     else writes them
   * @param wake wakes the task
   * @param wakeAfter has the task woken after some nanoseconds
   * @param open opens what the task sweeps by, in its first step
   */
  public WriteBack(
      boolean keepsPool,
      long intervalNanos,
      Runnable wake,
      LongConsumer wakeAfter,
      Supplier<? extends Sweep> open) {
    this.keepsPool = keepsPool;
    this.halfNanos = keepsPool ? Math.ceilDiv(intervalNanos, 2) : 0;
    this.wake = wake;
    this.wakeAfter = wakeAfter;
    this.open = open;
  }

  /** Notes that something was marked. */
  public void note() {
    if (!changed && halfNanos > 0) {
      changed = true;
      wake.run();
    }
  }

  /** Wakes the task if it has something to do: a wake during a pause had no effect. */
  public void resume() {
    if (changed || sweeping) {
      wake.run();
    }
  }

  /**
   * Returns what would be lost with this process, but not with the pool.
   *
   * @param bytes of what is changed in local memory alone
   */
  public Unwritten unwritten(long bytes) {
    return keepsPool && bytes > 0 ? new Unwritten(bytes, ageNanosMax()) : Unwritten.NONE;
  }

  private long ageNanosMax() {
    if (halfNanos == 0) {
      return Long.MAX_VALUE;
    }
    Sweep own = sweep;
    return own == null || !waits ? 0 : Math.max(own.nanoTime() - oldest, 0);
  }

  /**
   * Takes a step of the task. If it fails, the task is woken: at once to go on behind what has
   * failed, or later if nothing of the sweep was done.
   *
   * @return whether there may be more to do now
   */
  public boolean step() {
    Sweep own = opened();
    long now = own.nanoTime();
    if (!sweeping && !begins(own, now)) {
      return false;
    }
    if (!own.tryEnter()) {
      wakeAfter.accept(halfNanos / SOON_PART);
      return false;
    }
    try {
      boolean more = own.step();
      if (!more) {
        end(own, now);
      }
      return more;
    } catch (Throwable e) {
      failed = true;
      if (own.hasBegun()) {
        wake.run();
      } else {
        end(own, now);
      }
      throw e;
    }
  }

  private Sweep opened() {
    Sweep own = sweep;
    if (own == null) {
      try {
        own = open.get();
      } catch (Throwable e) {
        wakeAfter.accept(halfNanos);
        throw e;
      }
      sweep = own;
    }
    return own;
  }

  private boolean begins(Sweep own, long now) {
    if (rests(now)) {
      return false;
    }
    changed = false;
    sweeping = true;
    failed = false;
    start = now;
    own.begin();
    return true;
  }

  /** Returns whether no sweep is due yet; has the task woken when one is. */
  private boolean rests(long now) {
    if (!changed) {
      waits = false;
      return true;
    }
    if (!waits) {
      due = now + halfNanos;
      oldest = now;
      waits = true;
    }
    // A clock that goes back makes no change wait longer.
    due = Math.min(due, now + halfNanos);
    oldest = Math.min(oldest, now);
    if (now < due) {
      wakeAfter.accept(due - now);
      return true;
    }
    return false;
  }

  /** Ends a sweep. Between two sweeps the task rests, so that what holds something can go on. */
  private void end(Sweep own, long now) {
    sweeping = false;
    if (own.isComplete()) {
      due = start + halfNanos;
      oldest = start;
    } else {
      due = now + (failed ? halfNanos : halfNanos / SOON_PART);
      changed = true;
    }
    if (!rests(own.nanoTime())) {
      wakeAfter.accept(halfNanos / SOON_PART);
    }
  }

  // Of sweeps.

  void lock(Worker worker) {
    long start = 0;
    for (int attempt = 0; !writing.compareAndSet(false, true); attempt++) {
      String what = "another thread's write-back does not end";
      start = WaitLimit.LONG.pauseBriefly(worker.backoff(), attempt, start, what);
    }
  }

  void unlock() {
    writing.set(false);
  }
}
