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
  private static final int SHORT_PARKS = 500;
  private static final long SHORT_PARK_NANOS_MAX = 200_000;
  private static final long LONG_PARK_NANOS = 2_000_000;
  private static final int IDLE_MAX = SPINS + YIELDS + SHORT_PARKS;

  private final Mailbox mailbox;
  private final Services services;
  private final int firstWord;
  private volatile boolean stopped;

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
          idle = Math.min(idle + 1, IDLE_MAX);
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
  private static void pause(int idle) {
    if (idle < SPINS) {
      Thread.onSpinWait();
    } else if (idle < SPINS + YIELDS) {
      Thread.yield();
    } else if (idle < IDLE_MAX) {
      long parks = idle - (SPINS + YIELDS) + 1L;
      LockSupport.parkNanos(Math.min(parks * 1_000, SHORT_PARK_NANOS_MAX));
    } else {
      LockSupport.parkNanos(LONG_PARK_NANOS);
    }
  }
}
