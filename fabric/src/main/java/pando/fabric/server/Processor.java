package pando.fabric.server;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import pando.fabric.Worker;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.memory.NativeMemory;

/** One thread of a memory server: takes requests from the mailbox and serves them. */
final class Processor implements Runnable {
  private static final int SPINS = 200;
  private static final int YIELDS = 200;

  /** A sleep is one of so many parts of the time without a request. */
  private static final int SLEEP_PART = 16;

  private static final long SLEEP_NANOS_MIN = 1_000;
  private static final long SLEEP_NANOS_MAX = 2_000_000;

  private final Mailbox mailbox;
  private final Services services;
  private final CallWaiters waiters;
  private final int firstWord;
  private volatile boolean stopped;

  /** The thread while it rests until it is woken; {@code null} while it looks for requests. */
  private final AtomicReference<@Nullable Thread> resting = new AtomicReference<>();

  /** Whether each CALL wakes the processors, so that they may rest. */
  private final boolean isWoken;

  /** When it first found no request after the last one. */
  private long idleSince;

  Processor(Mailbox mailbox, Services services, CallWaiters waiters, int number, boolean isWoken) {
    this.mailbox = mailbox;
    this.services = services;
    this.waiters = waiters;
    this.firstWord = number % MailboxLayout.PENDING_WORDS;
    this.isWoken = isWoken;
  }

  @Override
  public void run() {
    try (NativeMemory message = NativeMemory.allocate(Worker.CALL_BYTES_MAX)) {
      int idle = 0;
      while (!stopped) {
        int slot = mailbox.take(firstWord);
        if (slot == Mailbox.NONE) {
          pause(idle);
          idle = Math.min(idle + 1, SPINS + YIELDS);
        } else {
          serve(slot, message.segment());
          waiters.wake(slot);
          idle = 0;
        }
      }
    } catch (IllegalStateException memoryIsGone) {
      if (!stopped) {
        throw memoryIsGone;
      }
    }
  }

  /** Makes the thread end after its current request. */
  void stop() {
    stopped = true;
    wake();
  }

  /** Wakes the thread if it rests; returns whether it did. */
  boolean wake() {
    Thread thread = resting.get();
    if (thread == null || !resting.compareAndSet(thread, null)) {
      return false;
    }
    LockSupport.unpark(thread);
    return true;
  }

  private void serve(int slot, MemorySegment message) {
    long function = mailbox.function(slot);
    int requestBytes = mailbox.copyRequest(slot, message);
    try {
      int responseBytes = services.serve(function, message, requestBytes);
      mailbox.answer(slot, message, responseBytes);
    } catch (IllegalArgumentException refused) {
      mailbox.fail(slot, message, String.valueOf(refused.getMessage()));
    }
  }

  /**
   * Waits a little, and then until it is woken. Where nobody wakes it, it waits longer the longer
   * there was no request: a thread that was idle for a while uses little processor time, but serves
   * the next CALL late.
   */
  @SuppressWarnings("ThreadPriorityCheck") // With few cores the client may wait for this one.
  private void pause(int idle) {
    if (idle == 0) {
      idleSince = System.nanoTime();
    }
    if (idle < SPINS) {
      Thread.onSpinWait();
    } else if (isWoken) {
      rest();
    } else if (idle < SPINS + YIELDS) {
      Thread.yield();
    } else {
      long sleepNanos = (System.nanoTime() - idleSince) / SLEEP_PART;
      LockSupport.parkNanos(Math.clamp(sleepNanos, SLEEP_NANOS_MIN, SLEEP_NANOS_MAX));
    }
  }

  /**
   * Rests until it is woken. It says so before it looks for requests, and a client posts its CALL
   * before it looks who rests: so at least one of them sees the other.
   */
  private void rest() {
    resting.set(Thread.currentThread());
    VarHandle.fullFence();
    while (resting.get() != null) {
      if (stopped || mailbox.hasRequest()) {
        resting.set(null);
        return;
      }
      LockSupport.park(this);
    }
  }
}
