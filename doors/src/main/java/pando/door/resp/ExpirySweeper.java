package pando.door.resp;

import java.lang.System.Logger.Level;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;

/**
 * Removes keys that have expired, also those that nobody asks for again: now and then, in the
 * {@link Background}, some at a time. When it comes makes no difference to clients, except for the
 * room that these keys take. Doors to the same keys may sweep them at the same time. Thread-safe.
 */
final class ExpirySweeper {
  private static final System.Logger LOG = System.getLogger(ExpirySweeper.class.getName());
  private static final long PERIOD_MILLIS = 300;

  /** How many keys are removed before others have a turn in the background. */
  private static final int AT_ONCE = 1000;

  private final Door door;
  private final AtomicBoolean runs = new AtomicBoolean();
  private @Nullable ScheduledFuture<?> turns;
  private boolean hasFailed;

  ExpirySweeper(Door door) {
    this.door = door;
  }

  /** Begins. */
  synchronized void start(ScheduledExecutorService timer) {
    turns =
        timer.scheduleWithFixedDelay(
            this::sweep, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Begins no more; what runs ends soon if the door closes. */
  synchronized void stop() {
    if (turns != null) {
      turns.cancel(false);
    }
  }

  /** Has the background sweep, unless it does already or there is nothing that could be due. */
  private void sweep() {
    if (door.keyspace().mayHaveTimes() && runs.compareAndSet(false, true)) {
      goOn();
    }
  }

  private void goOn() {
    boolean isTaken = false;
    try {
      door.background().run(lane -> sweep(lane.store));
      isTaken = true;
    } catch (RejectedExecutionException e) {
      // The door has closed.
    } finally {
      if (!isTaken) {
        runs.set(false);
      }
    }
  }

  private void sweep(Store store) {
    boolean mayHaveMore = false;
    try {
      store.begin();
      mayHaveMore = store.removeDue(AT_ONCE) == AT_ONCE;
      hasFailed = false;
    } catch (RuntimeException e) {
      fail(e);
    } finally {
      if (!mayHaveMore) {
        runs.set(false);
      }
    }
    if (mayHaveMore) {
      goOn();
    }
  }

  /** The next turn tries again. */
  private void fail(RuntimeException failure) {
    if (!hasFailed && !door.isClosing()) {
      boolean isOfDiskOrPool = failure instanceof PandoException; // a line says all of it
      LOG.log(
          Level.WARNING,
          "keys that have expired could not be removed, which is tried again: " + failure,
          isOfDiskOrPool ? null : failure);
    }
    hasFailed = true;
  }
}
