package pando.index.host;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import pando.fabric.Worker;
import pando.fabric.memory.Words;

/**
 * The last answer to each worker, at a memory server whose handler executes CALLs that change
 * something. A worker that got no answer asks again, and is answered without a second execution.
 * Thread-safe.
 *
 * <pre>
 *  name in a request   | process 8 | worker 8 | number 8 |
 * </pre>
 *
 * <p>The numbers of a worker's requests ascend. A worker has one request at a time, so a request
 * with a lower number is one that it has given up, and is not executed.
 */
public final class AnsweredCalls {
  /** Bytes of the name of a request. */
  public static final int NAME_BYTES = 24;

  private static final int WORKER = 8;
  private static final int NUMBER = 16;

  /** The numbers of a worker's requests ascend, also if its name was another's before. */
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final Map<CallerName, Caller> callers = new ConcurrentHashMap<>();

  /** Creates a table without callers. */
  public AnsweredCalls() {}

  /** Returns the number of a worker's next request. */
  public static long nextNumber() {
    return NUMBERS.incrementAndGet();
  }

  /** Writes the name of a request to offset {@code at} of a message. */
  public static void setName(
      MemorySegment message, long at, long process, long worker, long number) {
    Words.set(message, at, process);
    Words.set(message, at + WORKER, worker);
    Words.set(message, at + NUMBER, number);
  }

  /**
   * Returns the worker that a request comes from. The handler holds its monitor from {@link
   * Caller#isNext} until it has the answer, so that a repeated request waits for the first one.
   *
   * @param server number of the memory server
   * @param at where the name is in the message
   */
  public Caller caller(int server, MemorySegment message, long at) {
    CallerName name =
        new CallerName(server, Words.get(message, at), Words.get(message, at + WORKER));
    return callers.computeIfAbsent(name, _ -> new Caller());
  }

  /** A worker of a process, at one of the memory servers that a handler serves. */
  private record CallerName(int memoryServer, long process, long worker) {}

  /** What a worker was answered last. Not thread-safe. */
  public static final class Caller {
    private MemorySegment answer = MemorySegment.ofArray(new long[4]);
    private int answerBytes;
    private long number;

    private Caller() {}

    /**
     * Returns whether no request with this number or a later one has come. From now on one has
     * come, and until its answer is {@linkplain #keep kept}, there is none.
     *
     * @param at where the name is in the message
     */
    public boolean isNext(MemorySegment message, long at) {
      long next = Words.get(message, at + NUMBER);
      if (next <= number) {
        return false;
      }
      number = next;
      answerBytes = 0;
      return true;
    }

    /** Keeps the answer to the request that came last; returns its length. */
    public int keep(MemorySegment message, int bytes) {
      if (bytes > answer.byteSize()) {
        answer = MemorySegment.ofArray(new long[Worker.CALL_BYTES_MAX / Long.BYTES]);
      }
      MemorySegment.copy(message, 0, answer, 0, bytes);
      answerBytes = bytes;
      return bytes;
    }

    /**
     * Repeats the last answer.
     *
     * @return its length, 0 if there is none: the request was not executed, and never will be
     */
    public int repeat(MemorySegment message) {
      MemorySegment.copy(answer, 0, message, 0, answerBytes);
      return answerBytes;
    }
  }
}
