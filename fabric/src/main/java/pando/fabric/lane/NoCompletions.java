package pando.fabric.lane;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** For a fabric whose verbs are complete when they return. */
public final class NoCompletions implements Completions {
  private volatile boolean woken;
  private volatile @Nullable Thread waiter;

  /** Creates it. */
  public NoCompletions() {}

  @Override
  public boolean poll() {
    return false;
  }

  @Override
  public void await(long nanos) {
    waiter = Thread.currentThread();
    if (!woken) {
      LockSupport.parkNanos(this, nanos);
    }
    woken = false;
  }

  @Override
  public void wakeUp() {
    woken = true;
    LockSupport.unpark(waiter);
  }

  @Override
  public void close() {}
}
