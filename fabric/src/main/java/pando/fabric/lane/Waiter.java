package pando.fabric.lane;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A thread that waits for one thing after the other; used again for each. */
public final class Waiter {
  private @Nullable Thread thread;
  private volatile boolean waits;

  /** Creates it; nothing is waited for yet. */
  public Waiter() {}

  /** Notes that the current thread will wait, until {@link #goOn} is called. */
  public void begin() {
    thread = Thread.currentThread();
    waits = true;
  }

  /** Returns whether {@link #goOn} was not called since the last {@link #begin}. */
  public boolean waits() {
    return waits;
  }

  /** Waits, in the thread that began. One that is interrupted waits on, and stays interrupted. */
  public void await() {
    boolean interrupted = false;
    while (waits) {
      LockSupport.park(this);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Notes that nothing is waited for any more. */
  public void end() {
    waits = false;
  }

  /** Lets the thread go on. What the caller did before, the thread sees. Any thread may call it. */
  public void goOn() {
    end();
    try {
      LockSupport.unpark(thread);
    } catch (RejectedExecutionException e) {
      // It was of a lane that is closed, so it does not wait.
    }
  }
}
