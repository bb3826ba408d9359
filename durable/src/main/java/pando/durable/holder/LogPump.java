package pando.durable.holder;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.server.CallFailedException;
import pando.journal.LogFullException;

/** Sends a log to one holder, by a background task. Thread-safe. */
final class LogPump {
  private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** How often it tries again where the disk of the holder's data folder has no room. */
  private static final long FULL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** How often it asks whether a holder that does not answer is lost. */
  private static final long ASK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** In place of a head, before the holder knows one. */
  private static final long NOTHING = -1;

  private final HeldLog log;
  private final Fabric fabric;
  private final ComputeServer name;
  private final int holder;
  private final IntPredicate isLost;
  private final BackgroundTask task;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition answered = lock.newCondition();

  /** Up to where the holder has all. */
  private volatile long kept;

  /** The head that the holder knows. */
  private volatile long head = NOTHING;

  /** The holders in force that this one knows. */
  private volatile int force;

  /** What the holder answers if its disk has no room; {@code null} if it has. */
  private volatile @Nullable LogFullException full;

  // Of the task.

  private @Nullable RegisteredMemory memory;
  private @Nullable Worker worker;
  private long silentSince;
  private long asked;
  private long fullSince;
  private boolean silent;

  /**
   * Creates a pump that rests.
   *
   * @param isLost whether a memory server is known to be gone with its memory; asked where it does
   *     not answer
   */
  LogPump(HeldLog log, Fabric fabric, ComputeServer name, int holder, IntPredicate isLost) {
    this.isLost = isLost;
    this.log = log;
    this.fabric = fabric;
    this.name = name;
    this.holder = holder;
    this.task = fabric.sender("pando-log-pump-" + holder, this::step);
  }

  int holder() {
    return holder;
  }

  long kept() {
    return kept;
  }

  int force() {
    return force;
  }

  /** Returns whether the disk of the holder's data folder has no room. */
  boolean isFull() {
    return full != null;
  }

  void wake() {
    task.wake();
  }

  /** Has the holder know of the log, before anything is appended. */
  void begin() {
    RegisteredMemory its = fabric.register(Worker.CALL_BYTES_MAX);
    try (Worker own = fabric.worker(its)) {
      long start = 0;
      for (int attempt = 0; ; attempt++) {
        try {
          send(own, its.segment());
          return;
        } catch (LogFullException e) {
          full = e; // It knows of the log all the same.
          log.noteHolder(holder, e);
          task.wake();
          return;
        } catch (UnknownOutcomeException e) {
          String what = "a holder of logs does not answer: holder";
          start = WaitLimit.SHORT.pause(own.backoff(), attempt, start, what, holder);
        }
      }
    } finally {
      its.close();
    }
  }

  private boolean step() {
    if (log.hasFailed() || !log.isInForce(holder)) {
      return false;
    }
    try {
      boolean more = sendSome();
      if (silent || full != null) {
        silent = false;
        full = null;
        log.noteHolder(holder, null);
      }
      return more;
    } catch (LogFullException e) {
      waitForRoom(e);
      return false;
    } catch (FencedException | CallFailedException | IllegalStateException e) {
      // Others take over, or the fabric is closed.
      log.fail(e);
      return false;
    } catch (PandoException e) {
      waitForHolder(e);
      return false;
    } catch (Throwable e) {
      log.fail(e);
      throw e;
    }
  }

  /**
   * Returns whether the holder is known to be lost: not so where the coordinator does not answer.
   */
  private boolean isKnownAsLost() {
    try {
      return isLost.test(holder);
    } catch (PandoException e) {
      return false;
    }
  }

  /**
   * Tries again soon. If the holder takes nothing for too long of what is to be safe, the log
   * fails.
   */
  private void waitForRoom(LogFullException cause) {
    long now = Objects.requireNonNull(worker).nanoTime();
    fullSince = full == null || kept == log.end() ? now : fullSince;
    full = cause;
    log.noteHolder(holder, cause);
    wakeWaiting();
    if (WaitLimit.LONG.isOver(now - fullSince)) {
      log.fail(cause);
    }
    task.wakeAfter(FULL_NANOS);
  }

  /** Tries again soon. If the holder stays silent for too long, the log fails. */
  private void waitForHolder(PandoException cause) {
    Worker own = worker;
    if (own == null) {
      log.fail(cause);
      return;
    }
    long now = own.nanoTime();
    boolean asks = !silent || now - asked >= ASK_NANOS;
    silentSince = silent ? silentSince : now;
    silent = true;
    if (asks && isKnownAsLost()) {
      silent = false;
      log.lose(holder);
      return;
    }
    asked = asks ? now : asked;
    if (WaitLimit.LONG.isOver(now - silentSince)) {
      log.fail(cause);
    } else if (WaitLimit.SHORT.isOver(now - silentSince)) {
      log.noteHolder(holder, cause);
    }
    task.wakeAfter(AGAIN_NANOS);
  }

  private boolean sendSome() {
    if (memory == null) {
      memory = fabric.register(Worker.CALL_BYTES_MAX);
    }
    if (worker == null) {
      worker = fabric.worker(memory);
    }
    boolean isNew = kept < log.end() || head != headToTell() || force != log.force();
    return (isNew || isFull()) && send(worker, memory.segment());
  }

  /**
   * Returns the head that the holder is to know: all holders in force have all before it, so each
   * of them has what another one may lack.
   */
  private long headToTell() {
    long wanted = log.head();
    return wanted <= log.synced() ? wanted : Math.max(head, 0);
  }

  /** Returns whether the holder does not know the newest head yet. */
  boolean lacksHead() {
    return head != headToTell();
  }

  /** Sends what follows; returns whether there may be more. */
  private boolean send(Worker own, MemorySegment frame) {
    int forceNow = log.force();
    long headNow = headToTell();
    int bytes = log.copy(kept, frame, LogFrame.RECORDS, LogFrame.RECORDS_MAX);
    if (bytes < 0) {
      return false; // The holder is not in force any more.
    }
    LogFrame.set(frame, LogFrame.APPEND, name, kept, headNow, forceNow, bytes);
    int length = LogFrame.RECORDS + bytes;
    frame.set(LogFrame.INT, LogFrame.SUM, LogFrame.sum(frame, length));
    own.call(holder, LogService.FUNCTION, 0, length);
    long now = frame.get(LogFrame.LONG, LogFrame.KEPT);
    if (now < kept || now > log.end()) {
      throw new IllegalStateException(
          "a holder has another log: holder=%s, log=%s, kept=%s, before=%s, end=%s"
              .formatted(holder, name, now, kept, log.end()));
    }
    lock.lock();
    try {
      kept = now;
      head = headNow;
      force = forceNow;
      answered.signalAll();
    } finally {
      lock.unlock();
    }
    log.noteAnswer();
    LogFrame.checkDiskHasRoom(frame, holder);
    if (frame.get(LogFrame.LONG, LogFrame.FULL) == LogFrame.FULL_MEMORY) {
      throw new StalledException("a holder of logs has no room for more: holder=" + holder);
    }
    return true;
  }

  /**
   * Returns once the holder knows that head or a later one, or is not in force any more.
   *
   * @throws LogFullException if its disk has no room: it does not say that it has all before
   */
  void awaitHead(long wanted) {
    lock.lock();
    try {
      while (head < wanted && log.isInForce(holder)) {
        log.check();
        LogFullException cause = full;
        if (cause != null) {
          throw new LogFullException(String.valueOf(cause.getMessage()), cause);
        }
        answered.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Wakes those that wait for a head: the log has failed, or a holder is lost. */
  void wakeWaiting() {
    lock.lock();
    try {
      answered.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void close() {
    Closing.all(task::close, this::closeWorker);
  }

  private void closeWorker() {
    Worker own = worker;
    RegisteredMemory its = memory;
    Closing.all(own == null ? () -> {} : own::close, its == null ? () -> {} : its::close);
  }
}
