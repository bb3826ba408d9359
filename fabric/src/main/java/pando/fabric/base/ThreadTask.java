package pando.fabric.base;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.memory.Closing;

/** A task whose steps run in a thread of the JVM, which is parked while the task rests. */
final class ThreadTask implements BackgroundTask {
  private static final int RESTING = 0;
  private static final int WORKING = 1;
  private static final int WOKEN = 2;

  private final FabricBase fabric;
  private final BooleanSupplier step;
  private final Thread thread;
  private final AtomicInteger state = new AtomicInteger(RESTING);
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean stopped;

  /** Whether the task is to be woken at {@link #alarm}. Both are the thread's own. */
  private boolean hasAlarm;

  private long alarm;

  ThreadTask(FabricBase fabric, String name, BooleanSupplier step) {
    this.fabric = fabric;
    this.step = step;
    this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
  }

  /** Starts the thread, which parks until the first wake. */
  void start() {
    thread.start();
  }

  @Override
  public void wake() {
    // Always writes, even the same value, so that the step sees what this thread did before.
    if (state.getAndSet(WOKEN) == RESTING) {
      LockSupport.unpark(thread);
    }
  }

  @Override
  public void wakeAfter(long nanos) {
    alarm = System.nanoTime() + nanos;
    hasAlarm = true;
  }

  /** Prevents further steps; does not wait for the one under way. */
  void stop() {
    stopped = true;
    LockSupport.unpark(thread);
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  public void close() {
    if (Thread.currentThread() == thread) {
      throw new IllegalStateException("a step ends its own task: name=" + thread.getName());
    }
    stop();
    Closing.join(thread);
    fabric.forget(this);
    Throwable thrown = failure.getAndSet(null);
    if (thrown instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (thrown instanceof Error error) {
      throw error;
    }
  }

  private void run() {
    try {
      while (!stopped) {
        if (state.compareAndSet(WOKEN, WORKING)) {
          work();
          // Fails if the task was woken meanwhile.
          state.compareAndSet(WORKING, RESTING);
        } else {
          rest();
        }
      }
    } catch (RuntimeException | Error e) {
      failure.set(e);
    }
  }

  private void rest() {
    if (!hasAlarm) {
      LockSupport.park(this);
      return;
    }
    long left = alarm - System.nanoTime();
    if (left > 0) {
      LockSupport.parkNanos(this, left);
    } else {
      hasAlarm = false;
      state.set(WOKEN);
    }
  }

  private void work() {
    boolean more = true;
    while (more && !stopped) {
      more = step.getAsBoolean();
    }
  }
}
