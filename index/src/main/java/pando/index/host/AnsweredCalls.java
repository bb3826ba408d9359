package pando.index.host;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import pando.fabric.memory.Words;

/**
 * The last answer to each worker, at a memory server whose handler executes CALLs that change
 * something. A worker that got no answer asks again, and is answered without a second execution.
 * Thread-safe.
 *
 * <pre>
 *  name in a request   | process 8 | worker 8 | number 8 |
 *  worker              | number of its compute server 4 | number of its session 4 |
 * </pre>
 *
 * <p>The numbers of a worker's requests ascend. A worker has one request at a time, so a request
 * with a lower number is one that it has given up, and is not executed.
 *
 * <p>Two processes never have a compute server of the same number at the same time: the earlier one
 * has ended, has given the compute server away, or is fenced. So the workers that a process had for
 * a compute server are forgotten when another process comes with its number.
 */
public final class AnsweredCalls {
  /** Bytes of the name of a request. */
  public static final int NAME_BYTES = 24;

  private static final int WORKER = 8;
  private static final int NUMBER = 16;

  /** The numbers of a worker's requests ascend, also if its name was another's before. */
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final Map<Place, Workers> workers = new ConcurrentHashMap<>();

  /** Creates a table without callers. */
  public AnsweredCalls() {}

  /** Returns the number of a worker's next request. */
  public static long nextNumber() {
    return NUMBERS.incrementAndGet();
  }

  /** Returns the name of a session's worker. */
  public static long worker(int computeServer, int session) {
    return (long) computeServer << Integer.SIZE | session;
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
    long process = Words.get(message, at);
    long worker = Words.get(message, at + WORKER);
    Place place = new Place(server, (int) (worker >>> Integer.SIZE));
    Workers known = workers.get(place);
    if (known == null || known.process != process) {
      known =
          workers.compute(
              place,
              (_, last) -> last == null || last.process != process ? new Workers(process) : last);
    }
    return known.callers.computeIfAbsent(worker, _ -> new Caller());
  }

  /** A compute server, at one of the memory servers that a handler serves. */
  private record Place(int memoryServer, int computeServer) {}

  /** The workers of a compute server in the process that it was in last. */
  private static final class Workers {
    private final long process;
    private final Map<Long, Caller> callers = new ConcurrentHashMap<>();

    Workers(long process) {
      this.process = process;
    }
  }

  /** What a worker was answered last. Not thread-safe. */
  public static final class Caller {
    private static final int SHORT_WORDS = 4;

    private final MemorySegment shortAnswer = MemorySegment.ofArray(new long[SHORT_WORDS]);
    private MemorySegment answer = shortAnswer;
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
      answer = shortAnswer;
      answerBytes = 0;
      return true;
    }

    /** Keeps the answer to the request that came last; returns its length. */
    public int keep(MemorySegment message, int bytes) {
      if (bytes > answer.byteSize()) {
        answer = MemorySegment.ofArray(new byte[bytes]);
      }
      MemorySegment.copy(message, 0, answer, 0, bytes);
      answerBytes = bytes;
      return bytes;
    }

    /**
     * Repeats the answer to the request that came last, if this is the same.
     *
     * @param at where the name is in the message
     * @return its length, 0 if there is none: the request was not executed, and never will be, or
     *     its worker has given it up
     */
    public int repeat(MemorySegment message, long at) {
      if (Words.get(message, at + NUMBER) != number) {
        return 0;
      }
      MemorySegment.copy(answer, 0, message, 0, answerBytes);
      return answerBytes;
    }
  }
}
