package pando.door.resp;

import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import pando.journal.Log;
import pando.journal.LogFailedException;

/**
 * What an event loop does once something is on the disk. All that comes in one turn of the event
 * loop waits together, so the log is asked once. Used by the event loop.
 */
final class DiskWaits {
  private static final System.Logger LOG = System.getLogger(DiskWaits.class.getName());

  private final Log log;
  private List<Runnable> waiting = new ArrayList<>();
  private long last;

  DiskWaits(Log log) {
    this.log = log;
  }

  /** Returns whether all before a place in the log is on the disk. */
  boolean isSafe(long place) {
    return place <= log.synced();
  }

  /** Returns what has become of the log, {@code null} if it has not failed. */
  @Nullable LogFailedException failure() {
    try {
      log.check();
      return null;
    } catch (LogFailedException e) {
      return e;
    }
  }

  /**
   * Runs a task, which throws nothing, once all before a place in the log is on the disk, or the
   * log has failed.
   */
  void add(EventExecutor loop, long place, Runnable task) {
    if (waiting.isEmpty()) {
      loop.execute(() -> ask(loop)); // behind the reads of this turn
    }
    last = Math.max(last, place);
    waiting.add(task);
  }

  private void ask(EventExecutor loop) {
    List<Runnable> those = waiting;
    waiting = new ArrayList<>();
    log.whenSynced(last, () -> run(loop, those));
  }

  /** In a thread of the log, or in the event loop. */
  private static void run(EventExecutor loop, List<Runnable> tasks) {
    try {
      loop.execute(() -> tasks.forEach(Runnable::run));
    } catch (RejectedExecutionException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "the door has closed before the disk had what clients were to be told",
          e);
    }
  }
}
