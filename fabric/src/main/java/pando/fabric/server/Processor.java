package pando.fabric.server;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import pando.fabric.Worker;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.memory.NativeMemory;

/** One thread of a memory server: takes requests out of the mailbox and serves them. */
final class Processor implements Runnable {
  private static final int SPINS = 200;
  private static final int YIELDS = 200;
  private static final int SHORT_PARKS = 500;
  private static final long SHORT_PARK_NANOS_MAX = 200_000;
  private static final long LONG_PARK_NANOS = 2_000_000;
  private static final int IDLE_MAX = SPINS + YIELDS + SHORT_PARKS;

  private final MemoryServer server;
  private final Mailbox mailbox;
  private final SpaceService space;
  private final @Nullable CallHandler[] handlers;
  private final int firstWord;
  private final LongAdder served;
  private final LongAdder failed;
  private volatile boolean stopped;

  Processor(MemoryServer server, Mailbox mailbox, SpaceService space, int number) {
    this.server = server;
    this.mailbox = mailbox;
    this.space = space;
    this.handlers = server.handlers();
    this.firstWord = number % MailboxLayout.PENDING_WORDS;
    this.served = server.served();
    this.failed = server.failed();
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

  /** Makes the thread end after the request it serves. */
  void stop() {
    stopped = true;
  }

  private void serve(int slot, MemorySegment message) {
    long function = mailbox.function(slot);
    int requestBytes = mailbox.copyRequest(slot, message);
    try {
      if (requestBytes < 0) {
        throw new IllegalArgumentException("invalid length of the request");
      }
      int responseBytes = dispatch(function, message, requestBytes);
      served.increment();
      mailbox.answer(slot, message, responseBytes);
    } catch (IllegalArgumentException refused) {
      failed.increment();
      mailbox.fail(slot, message, String.valueOf(refused.getMessage()));
    }
  }

  private int dispatch(long function, MemorySegment message, int requestBytes) {
    if (function >= 0 && function < CallHandler.FIRST_FUNCTION) {
      return space.handle((int) function, message, requestBytes);
    }
    CallHandler handler =
        function >= 0 && function < CallHandler.FUNCTIONS_MAX ? handlers[(int) function] : null;
    if (handler == null) {
      throw new IllegalArgumentException("unknown function");
    }
    return handle(handler, message, requestBytes);
  }

  /** Calls a handler. Whatever it does must not end this thread. */
  private int handle(CallHandler handler, MemorySegment message, int requestBytes) {
    int responseBytes;
    try {
      responseBytes = handler.handle(server.number(), server.dram(), message, requestBytes);
    } catch (Throwable e) {
      throw new IllegalArgumentException("the handler threw " + e.getClass().getName(), e);
    }
    if (responseBytes < 0 || responseBytes > Worker.CALL_BYTES_MAX) {
      throw new IllegalArgumentException(
          "the handler returned an impossible length: responseBytes=" + responseBytes);
    }
    return responseBytes;
  }

  /**
   * Waits longer the longer nothing came. A thread that has had nothing to do for a while hardly
   * takes time from others, at the price of a slow first CALL.
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
