package pando.fabric.base;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import pando.fabric.Worker;
import pando.fabric.server.CallHandler;

/** What a worker checks of a CALL before it is sent. */
public final class CallRequest {
  private CallRequest() {}

  /** Checks what a caller passed to {@link Worker#call}. */
  public static void check(MemorySegment memory, int function, long message, int requestBytes) {
    if (function < 0 || function >= CallHandler.FUNCTIONS_MAX) {
      throw new IllegalArgumentException("no such function: function=" + function);
    }
    if (requestBytes < 0 || requestBytes > Worker.CALL_BYTES_MAX) {
      throw new IllegalArgumentException(
          "invalid request: requestBytes=" + requestBytes + ", maximum=" + Worker.CALL_BYTES_MAX);
    }
    Objects.checkFromIndexSize(message, Worker.CALL_BYTES_MAX, memory.byteSize());
  }
}
