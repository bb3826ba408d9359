package pando.cluster;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import pando.cluster.ComputeServerProcess.End;
import pando.fabric.FencedException;
import pando.fabric.PandoException;

/**
 * A thread that takes one step after the other until the compute server ends: at once while there
 * is more to do, when something changes in the cluster, and after a pause at the latest.
 */
final class StepThread implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(StepThread.class.getName());
  private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Duration pause;
  private final Host host;
  private final Membership membership;
  private final Duration coordinatorWait;
  private final CompletableFuture<End> end;
  private final BooleanSupplier step;
  private final Thread thread;
  private final Host.Signal changed;
  private final Host.Signal ended;
  private boolean started;

  /**
   * Creates the thread; it is not started.
   *
   * @param pause longest time between two steps
   * @param coordinatorWait how long the coordinator may not answer
   * @param end how the compute server ends; until then steps are taken
   * @param step returns whether there is more to do at once
   */
  StepThread(
      String name,
      Duration pause,
      Host host,
      Membership membership,
      Duration coordinatorWait,
      CompletableFuture<End> end,
      BooleanSupplier step) {
    this.pause = pause;
    this.host = host;
    this.membership = membership;
    this.coordinatorWait = coordinatorWait;
    this.end = end;
    this.step = step;
    this.changed = host.signal();
    this.ended = host.signal();
    this.thread = host.newThread(name, this::run);
  }

  void start() {
    started = true;
    thread.start();
  }

  private void run() {
    Runnable give = changed::give;
    membership.watch(give);
    try {
      long answered = host.nanoTime();
      while (!end.isDone()) {
        boolean more = take();
        if (membership.status() == Membership.Status.CONNECTED) {
          answered = host.nanoTime();
        } else if (host.nanoTime() - answered > coordinatorWait.toNanos()) {
          LOG.log(Level.ERROR, "the coordinator does not answer for " + coordinatorWait);
          end.complete(End.COORDINATOR_GONE);
        }
        if (!more && !end.isDone()) {
          changed.await(pause.toNanos());
        }
      }
    } catch (InterruptedException e) {
      end.complete(End.CLOSED);
    } finally {
      membership.unwatch(give);
      ended.give();
    }
  }

  /** Takes a step; returns whether there is more to do at once. */
  private boolean take() {
    try {
      return step.getAsBoolean();
    } catch (FencedException e) {
      LOG.log(Level.ERROR, "this compute server is lost to others: " + e.getMessage());
      end.complete(End.LOST);
    } catch (CoordinatorLostException | SessionLostException e) {
      LOG.log(Level.DEBUG, "a step will be taken again", e);
    } catch (PandoException e) {
      LOG.log(Level.WARNING, "a step will be taken again: " + e);
    } catch (RuntimeException | Error e) {
      // A bug: as this process may hold what others wait for, it ends.
      LOG.log(Level.ERROR, "a step failed", e);
      end.completeExceptionally(e);
    }
    return false;
  }

  /** Waits until the step under way is over; the compute server has ended. */
  @Override
  public void close() {
    changed.give();
    try {
      if (started) {
        ended.await(CLOSE_NANOS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
