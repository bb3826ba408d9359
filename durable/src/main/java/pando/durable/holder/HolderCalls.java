package pando.durable.holder;

import java.lang.foreign.MemorySegment;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;

/** Requests to holders that can be repeated. For one thread. */
final class HolderCalls implements AutoCloseable {
  private final Worker worker;
  private final MemorySegment frame;
  private final long nanosMax;
  private volatile boolean isStopped;

  /**
   * Creates what sends the requests in a frame.
   *
   * @param worker of the frame's memory, closed with this
   * @param nanosMax longest wait for a holder that does not answer
   */
  HolderCalls(Worker worker, MemorySegment frame, long nanosMax) {
    this.worker = worker;
    this.frame = frame;
    this.nanosMax = nanosMax;
  }

  /**
   * Sends the request that is in the frame, again where it is not known what became of it.
   *
   * @return the length of the response, which is in the frame
   */
  int call(int holder) {
    int length = LogFrame.RECORDS + frame.get(LogFrame.INT, LogFrame.BYTES);
    frame.set(LogFrame.INT, LogFrame.SUM, LogFrame.sum(frame, length));
    MemorySegment request = MemorySegment.ofArray(new byte[length]);
    MemorySegment.copy(frame, 0, request, 0, length);
    long start = worker.nanoTime();
    for (int attempt = 0; ; attempt++) {
      try {
        return worker.call(holder, LogService.FUNCTION, 0, length);
      } catch (UnknownOutcomeException | StalledException e) {
        // Stalled: the memory server is still busy with an earlier attempt.
        if (isStopped || worker.nanoTime() - start > nanosMax) {
          throw e;
        }
        worker.backoff().pause(attempt);
        MemorySegment.copy(request, 0, frame, 0, length);
      }
    }
  }

  /** Ends repeats of requests. Any thread may call it. */
  void stop() {
    isStopped = true;
  }

  @Override
  public void close() {
    worker.close();
  }
}
