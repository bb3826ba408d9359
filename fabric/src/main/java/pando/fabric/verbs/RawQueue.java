package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvQpEx;
import pando.fabric.verbs.Abi.Mlx5dvQpEx;

/**
 * Posts raw requests to a queue pair of an mlx5 card, one thread at a time. They take their places
 * among its other requests in the order of posting.
 *
 * <p>The library holds a lock of the queue pair from the start to the end of a posting, and waits
 * for it within calls during which the JVM cannot stop threads: a second thread that posted
 * meanwhile could stop the JVM for good.
 */
final class RawQueue {
  private static final int BYTES = IbvQpEx.WR_ABORT + Long.BYTES;

  private final long queue;
  private final long mlx5Queue;
  private final MemorySegment fields;
  private final MemorySegment startFunction;
  private final MemorySegment completeFunction;
  private final MemorySegment abortFunction;
  private final MemorySegment buildFunction;

  /**
   * Finds the functions.
   *
   * @param queue address of the queue pair as one to which requests are posted one by one
   * @param mlx5Queue the same of an mlx5 card
   */
  RawQueue(long queue, long mlx5Queue) {
    this.queue = queue;
    this.mlx5Queue = mlx5Queue;
    this.fields = NativeMemory.at(queue, BYTES);
    this.startFunction = function(fields, IbvQpEx.WR_START);
    this.completeFunction = function(fields, IbvQpEx.WR_COMPLETE);
    this.abortFunction = function(fields, IbvQpEx.WR_ABORT);
    this.buildFunction =
        function(
            NativeMemory.at(mlx5Queue, Mlx5dvQpEx.WR_RAW_WQE + Long.BYTES), Mlx5dvQpEx.WR_RAW_WQE);
  }

  private static MemorySegment function(MemorySegment fields, int offset) {
    return MemorySegment.ofAddress(fields.get(ValueLayout.JAVA_LONG, offset));
  }

  /**
   * Posts raw requests that stand behind each other, or none of them.
   *
   * @param end place behind the last
   * @return 0, or the number of an error
   */
  int post(WorkRequests requests, int start, int end) {
    call(startFunction);
    boolean built = false;
    try {
      for (int i = start; i < end; i++) {
        fields.set(ValueLayout.JAVA_LONG, IbvQpEx.WR_ID, requests.number(i));
        build(requests.rawAddress(i));
      }
      built = true;
    } finally {
      if (!built) {
        call(abortFunction);
      }
    }
    return call(completeFunction);
  }

  private int call(MemorySegment function) {
    return Libibverbs.call(function, queue, 0, 0);
  }

  private void build(long request) {
    Libibverbs.call(buildFunction, mlx5Queue, request, 0);
  }
}
