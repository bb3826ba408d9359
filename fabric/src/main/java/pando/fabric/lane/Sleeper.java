package pando.fabric.lane;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A thread's place in the timer of its lane, used again for each sleep. */
final class Sleeper {
  private @Nullable Thread thread;
  private boolean sleeps;

  /** The next of its slot in the timer. */
  @Nullable Sleeper next;

  boolean sleeps() {
    return sleeps;
  }

  /** Notes that the current thread sleeps until {@link #wake}. */
  void begin() {
    thread = Thread.currentThread();
    sleeps = true;
  }

  /** Lets the thread go on. */
  void wake() {
    sleeps = false;
    LockSupport.unpark(thread);
  }

  /** Waits, in the thread that sleeps. An interrupted thread stays interrupted. */
  void await() {
    boolean interrupted = false;
    while (sleeps) {
      LockSupport.park(this);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
