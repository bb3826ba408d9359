package pando.bench.trial;

import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread in real time, for what clients of a simulation must not do themselves, as it waits for
 * other threads in real time. It takes no virtual time. For one caller at a time.
 */
final class RealThread implements AutoCloseable {
  private final Thread thread = Thread.ofPlatform().daemon().name("trial-files").start(this::work);
  private volatile @Nullable Job<?> next;
  private volatile boolean closed;

  /** Something to do. */
  private static final class Job<T> {
    private final Supplier<T> body;
    private @Nullable T result;
    private @Nullable Throwable failure;
    private volatile boolean done;

    Job(Supplier<T> body) {
      this.body = body;
    }

    void run() {
      try {
        result = body.get();
      } catch (Throwable e) {
        failure = e;
      } finally {
        done = true;
      }
    }
  }

  private void work() {
    while (!closed) {
      Job<?> job = next;
      if (job == null) {
        LockSupport.park(this);
      } else {
        next = null;
        job.run();
      }
    }
  }

  /** Does something in the thread; returns what it returns, and throws what it throws. */
  <T> T call(Supplier<T> body) {
    Job<T> job = new Job<>(body);
    next = job;
    LockSupport.unpark(thread);
    while (!job.done) {
      // A client that parks or yields waits in virtual time.
      Thread.onSpinWait();
    }
    if (job.failure instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (job.failure instanceof Error error) {
      throw error;
    }
    return Objects.requireNonNull(job.result);
  }

  /** Does something in the thread, as {@link #call} does. */
  void run(Runnable body) {
    boolean done =
        call(() -> {
          body.run();
          return true;
        });
    assert done;
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
