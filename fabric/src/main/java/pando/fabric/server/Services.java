package pando.fabric.server;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.fabric.Worker;

/** Serves the CALLs of a memory server: those about space, and those of handlers. Thread-safe. */
final class Services {
  private final int server;
  private final MemorySegment dram;
  private final SpaceService space;
  private final @Nullable CallHandler[] handlers = new CallHandler[CallHandler.FUNCTIONS_MAX];
  private final LongAdder served = new LongAdder();
  private final LongAdder failed = new LongAdder();

  Services(int server, MemorySegment dram, SpaceService space, List<CallHandler> handlers) {
    this.server = server;
    this.dram = dram;
    this.space = space;
    for (CallHandler handler : handlers) {
      this.handlers[handler.function()] = handler;
    }
  }

  /**
   * Serves one CALL; returns the length of the response, which replaces the request.
   *
   * @throws IllegalArgumentException if the request is refused, or its handler threw
   */
  int serve(long function, MemorySegment message, int requestBytes) {
    boolean done = false;
    try {
      int responseBytes = dispatch(function, message, requestBytes);
      done = true;
      return responseBytes;
    } catch (Error e) {
      // An error must not end the processor thread.
      throw new IllegalArgumentException("the memory server threw " + e.getClass().getName(), e);
    } finally {
      (done ? served : failed).increment();
    }
  }

  /** Returns how much work a CALL was that was served, as its handler has it. */
  int workUnits(int function, int requestBytes, int responseBytes) {
    CallHandler handler = function < CallHandler.FIRST_FUNCTION ? null : handlers[function];
    return handler == null ? 0 : handler.workUnits(requestBytes, responseBytes);
  }

  List<CallHandler> handlers() {
    return Stream.of(handlers).filter(Objects::nonNull).toList();
  }

  long served() {
    return served.sum();
  }

  long failed() {
    return failed.sum();
  }

  private int dispatch(long function, MemorySegment message, int requestBytes) {
    if (requestBytes < 0) {
      throw new IllegalArgumentException("invalid length of the request");
    }
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

  /** Calls a handler. No failure of the handler may end the processor thread. */
  private int handle(CallHandler handler, MemorySegment message, int requestBytes) {
    int responseBytes;
    try {
      responseBytes = handler.handle(server, dram, message, requestBytes);
    } catch (Throwable e) {
      throw new IllegalArgumentException("the handler threw " + e.getClass().getName(), e);
    }
    if (responseBytes < 0 || responseBytes > Worker.CALL_BYTES_MAX) {
      throw new IllegalArgumentException(
          "the handler returned an impossible length: responseBytes=" + responseBytes);
    }
    return responseBytes;
  }
}
