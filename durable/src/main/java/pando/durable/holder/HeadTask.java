package pando.durable.holder;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import pando.fabric.BackgroundTask;
import pando.fabric.Fabric;
import pando.fabric.PandoException;

/** Advances the head of a log by passes: some time after a change, and when much is behind it. */
public final class HeadTask implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(HeadTask.class.getName());
  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final HeldLog log;
  private final Runnable flush;
  private final long restNanos;
  private final BackgroundTask task;

  /** Whether the task is woken after a while. */
  private volatile boolean waits;

  /** Whether a pass was asked for. */
  private volatile boolean isWanted;

  private volatile boolean hasFailed;

  /**
   * Begins to look after a log.
   *
   * @param flush writes what is changed in local memory alone to the pool: all that was changed
   *     before the call, unless it throws a {@link PandoException}
   * @param rest longest time from a change to the pass that begins behind it
   */
  public HeadTask(Fabric fabric, HeldLog log, Runnable flush, Duration rest) {
    this.log = log;
    this.flush = flush;
    this.restNanos = rest.toNanos();
    this.task = fabric.sender("pando-log-head", this::step);
    log.setHeadTask(this);
  }

  /** Notes that something is behind the head, and that nothing was before. */
  void noteSome() {
    if (!waits) {
      task.wake();
    }
  }

  /** Notes that there is much behind the head. What has failed is not tried again at once. */
  void noteMuch() {
    if (!hasFailed && !isWanted) {
      isWanted = true;
      task.wake();
    }
  }

  private boolean step() {
    if (!waits && !isWanted && log.bytesBehind() < HeldLog.PASS_BYTES) {
      restIfBehind();
      return false;
    }
    isWanted = false;
    try {
      if (!log.hasFailed() && log.bytesBehind() > 0) {
        pass(log, flush);
      }
      if (hasFailed) {
        hasFailed = false;
        log.notePass(null);
      }
      waits = false;
      restIfBehind();
      return log.bytesBehind() >= HeldLog.PASS_BYTES && !log.hasFailed();
    } catch (PandoException e) {
      LOG.log(Level.DEBUG, "not all is in the pool yet, and is tried again", e);
      hasFailed = true;
      log.notePass(e);
      rest(AGAIN_NANOS);
      return false;
    } catch (IllegalStateException e) {
      // The index, or the fabric, is closed.
      log.fail(e);
      return false;
    } catch (Throwable e) {
      log.fail(e);
      throw e;
    }
  }

  private void restIfBehind() {
    if (log.bytesBehind() > 0 && !log.hasFailed()) {
      rest(restNanos);
    }
  }

  private void rest(long nanos) {
    waits = true;
    task.wakeAfter(nanos);
  }

  /** Writes all to the pool that is in the log by now. */
  private static void pass(HeldLog log, Runnable flush) {
    long end = log.end();
    if (!PlantedLogBug.HEAD_EARLY) {
      flush.run();
    }
    log.setHead(end);
  }

  /**
   * Makes a pass while nothing is changed, and returns once all holders know that nothing of the
   * log is needed any more.
   */
  public static void passSurely(HeldLog log, Runnable flush) {
    if (!PlantedLogBug.GIVEN_UNWRITTEN) {
      pass(log, flush);
      log.setHeadSurely(log.end());
    }
  }

  /** Waits for a pass that is under way. */
  @Override
  public void close() {
    task.close();
  }
}
