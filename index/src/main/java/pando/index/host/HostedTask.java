package pando.index.host;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.VerbCounters;
import pando.index.TaskCounts;
import pando.index.session.Failures;

/**
 * A background task of a compute server: takes steps by verbs of its own, and counts. Other threads
 * wake, pause and resume it. Sessions go on without it, should it fail.
 *
 * @param <C> its verbs and local memory
 * @param <T> what its steps use
 */
public abstract class HostedTask<C extends WorkerContext, T> {
  private final Supplier<C> contexts;
  private final BackgroundTask task;
  private volatile @Nullable C context;
  private @Nullable T opened;
  private volatile boolean busy;
  private volatile boolean paused;
  private volatile long done;
  private volatile long failed;
  private volatile @Nullable Throwable lastFailure;

  /**
   * Creates a task that rests, and has opened nothing yet.
   *
   * @param server whose task it is; pauses, resumes and ends it
   * @param name of its thread
   * @param contexts opens its verbs and local memory
   */
  @SuppressWarnings("this-escape") // It takes no step before it is woken.
  protected HostedTask(HostedServer server, Fabric fabric, String name, Supplier<C> contexts) {
    this.contexts = contexts;
    this.task = fabric.background(name, this::stepUnlessPaused);
    server.tasks.add(this);
  }

  // For other threads.

  /** Makes the task check for work soon. */
  public final void wake() {
    task.wake();
  }

  /** Makes the task check for work after some time. Called by a step. */
  protected final void wakeAfter(long nanos) {
    task.wakeAfter(nanos);
  }

  /** Waits until the current step has ended. No other one begins before {@link #resume}. */
  public final void pause(Backoff backoff) {
    paused = true;
    for (int attempt = 0; busy; attempt++) {
      backoff.pauseBriefly(attempt);
    }
  }

  /** Goes on. */
  public void resume() {
    paused = false;
  }

  /** Returns how it has gone so far. */
  public final TaskCounts counts() {
    return new TaskCounts(done, failed, lastFailure);
  }

  /** Returns the verbs issued so far. */
  final VerbCounters verbs() {
    C own = context;
    return own == null ? new VerbCounters() : own.worker.counters();
  }

  /** Called once, when the last step has ended. Default: does nothing. */
  protected void end() {}

  /** Ends the task. Called once. */
  final void close() {
    Failures failures = new Failures();
    failures.collect(task::close);
    failures.collect(this::end);
    C own = context;
    if (own != null) {
      failures.collect(own::close);
    }
    failures.rethrow();
  }

  // For the task itself.

  private boolean stepUnlessPaused() {
    busy = true;
    try {
      return !paused && step();
    } finally {
      busy = false;
    }
  }

  /** Takes a step if there is work; returns whether there may be more. */
  protected abstract boolean step();

  /**
   * Does a piece of work. If it fails, everything it has locked is unlocked, and the failure is
   * counted. A bug is thrown as well: it ends the task, and the index throws it when it closes.
   *
   * @return what the work returns; {@code false} if it fails
   */
  protected final boolean attempt(BooleanSupplier work) {
    try {
      return work.getAsBoolean();
    } catch (PandoException | VirtualMachineError e) {
      // Sessions meet the cause, too.
      fail(e);
      return false;
    } catch (Throwable e) {
      fail(e);
      throw e;
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by the task alone.
  private void fail(Throwable failure) {
    failed++;
    lastFailure = failure;
    C own = context;
    if (own != null) {
      own.abandon(failure);
    }
  }

  /** Counts what it is there for, and has done. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by the task alone.
  protected final void countDone() {
    done++;
  }

  /** Returns its verbs and local memory: opened by the task, as a worker belongs to one thread. */
  protected final C context() {
    C result = context;
    if (result == null) {
      result = contexts.get();
      context = result;
    }
    return result;
  }

  /** Returns what its steps use: opened when the first one needs it. */
  protected final T opened() {
    T result = opened;
    if (result == null) {
      result = open(context());
      opened = result;
    }
    return result;
  }

  /** Opens what its steps use. */
  protected abstract T open(C context);
}
