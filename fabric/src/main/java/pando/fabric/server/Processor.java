package pando.fabric.server;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
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
  private final int firstWord;
  private volatile boolean stopped;

  /** When it first found no request after the last one. */
  private long idleSince;

  Processor(Mailbox mailbox, Services services, int number) {
    this.mailbox = mailbox;
    this.services = services;
    this.firstWord = number % MailboxLayout.PENDING_WORDS;
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
   * Waits longer the longer there was no request. A thread that was idle for a while uses hardly
   * any processor time, but serves the next CALL late.
   */
  @SuppressWarnings("ThreadPriorityCheck") // With few cores the client may wait for this one.
  private void pause(int idle) {
    if (idle == 0) {
      idleSince = System.nanoTime();
    }
    if (idle < SPINS) {
      Thread.onSpinWait();
    } else if (idle < SPINS + YIELDS) {
      Thread.yield();
    } else {
      long idleNanos = System.nanoTime() - idleSince;
      LockSupport.parkNanos(Math.clamp(idleNanos / SLEEP_PART, SLEEP_NANOS_MIN, SLEEP_NANOS_MAX));
    }
  }
}
