package pando.fabric.lane;

import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A virtual thread of a lane, and the scheduler of it alone, so that the lane knows which thread it
 * is that can go on.
 */
final class CarriedThread implements Executor {
  private final LaneLoop lane;
  private final Thread thread;
  private @Nullable Runnable continuation;
  private boolean sleeping;

  /** The next thread of its slot in the timer. */
  @Nullable CarriedThread next;

  CarriedThread(LaneLoop lane, String name, Runnable body) {
    this.lane = lane;
    this.thread = VirtualThreads.unstarted(name, this, body);
  }

  Thread thread() {
    return thread;
  }

  /** Accepts the thread's continuation from the JDK: the thread was started or woken. */
  @Override
  public void execute(Runnable task) {
    continuation = task;
    lane.accept(this);
  }

  /** Runs the thread until it waits. */
  void goOn() {
    Runnable task = continuation;
    continuation = null;
    if (task == null) {
      throw new IllegalStateException("not ready: thread=" + thread);
    }
    task.run();
  }

  /** Notes that the thread sleeps until {@link #endSleep}. */
  void beginSleep() {
    sleeping = true;
  }

  boolean isSleeping() {
    return sleeping;
  }

  /** Lets the thread go on. */
  void endSleep() {
    sleeping = false;
    LockSupport.unpark(thread);
  }

  /** Waits, in this thread, for the end of its sleep. An interrupted thread stays interrupted. */
  void awaitTimer() {
    boolean interrupted = false;
    while (sleeping) {
      LockSupport.park(this);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
