package pando.fabric;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import pando.fabric.memory.Words;
import pando.fabric.server.CallHandler;

/** Services for tests, also in other processes. */
public final class TestHandlers {
  /** Adds 1 to each byte of the request. */
  public static final int INCREMENT = 16;

  /** Throws. */
  public static final int THROW = 17;

  /** Returns a length that no message has. */
  public static final int OVERSIZED = 18;

  /** Never returns. Prints {@link #ENTERED} to standard output first. */
  public static final int HANG = 19;

  /** Adds the first word of the request to the word of DRAM at the offset in the second. */
  public static final int ADD = 20;

  /** Throws an error that is no exception. */
  public static final int OVERFLOW = 21;

  /**
   * Returns when the word of DRAM at the offset in the request is not 0. Adds 1 to the word behind
   * it first.
   */
  public static final int WAIT = 22;

  /** Not the number of a handler. */
  public static final int UNKNOWN = 99;

  public static final String ENTERED = "entered";

  private TestHandlers() {}

  public static List<CallHandler> all() {
    return List.of(
        handler(INCREMENT, TestHandlers::increment),
        handler(
            THROW,
            (server, dram, message, bytes) -> {
              throw new IllegalCallerException("secret");
            }),
        handler(OVERSIZED, (server, dram, message, bytes) -> Worker.CALL_BYTES_MAX + 1),
        handler(HANG, TestHandlers::hang),
        handler(ADD, TestHandlers::add),
        handler(WAIT, TestHandlers::await),
        handler(
            OVERFLOW,
            (server, dram, message, bytes) -> {
              throw new StackOverflowError();
            }));
  }

  private static int increment(int server, MemorySegment dram, MemorySegment message, int bytes) {
    for (int i = 0; i < bytes; i++) {
      byte value = message.get(ValueLayout.JAVA_BYTE, i);
      message.set(ValueLayout.JAVA_BYTE, i, (byte) (value + 1));
    }
    return bytes;
  }

  private static int hang(int server, MemorySegment dram, MemorySegment message, int bytes) {
    System.out.println(ENTERED);
    try {
      new CountDownLatch(1).await();
      return 0;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static int await(int server, MemorySegment dram, MemorySegment message, int bytes) {
    long offset = Words.get(message, 0);
    Words.getAndAdd(dram, offset + Long.BYTES, 1);
    while (Words.getAcquire(dram, offset) == 0) {
      LockSupport.parkNanos(10_000);
    }
    return 0;
  }

  private static int add(int server, MemorySegment dram, MemorySegment message, int bytes) {
    long before = Words.getAndAdd(dram, Words.get(message, 8), Words.get(message, 0));
    Words.set(message, 0, before);
    Words.set(message, 8, server);
    return 16;
  }

  private interface Service {
    int serve(int server, MemorySegment dram, MemorySegment message, int requestBytes);
  }

  private static CallHandler handler(int function, Service service) {
    return new CallHandler() {
      @Override
      public int function() {
        return function;
      }

      @Override
      public int handle(int server, MemorySegment dram, MemorySegment message, int requestBytes) {
        return service.serve(server, dram, message, requestBytes);
      }
    };
  }
}
