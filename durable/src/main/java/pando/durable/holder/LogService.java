package pando.durable.holder;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import pando.fabric.server.CallHandler;

/**
 * Holds logs of compute servers at memory servers 0 and 1, see {@link HeldLog}. They are in the
 * memory of the memory server's process, and end with it. {@code LogFrame} draws the requests.
 */
public final class LogService implements CallHandler {
  /** Behind those of DEX and ROLEX. */
  static final int FUNCTION = FIRST_FUNCTION + 2;

  private static final long BYTES_MAX = 512L << 20;

  /** Logs take at most one of so many parts of the heap. */
  private static final int HEAP_PART = 2;

  private final long bytesMax;
  private final Map<Integer, HeldLogs> servers = new ConcurrentHashMap<>();

  /** Creates a service without logs, for the memory servers of one pool. */
  public LogService() {
    this(Math.min(BYTES_MAX, Runtime.getRuntime().maxMemory() / HEAP_PART));
  }

  /**
   * Creates a service without logs.
   *
   * @param bytesMax of all logs of one memory server
   */
  LogService(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  @Override
  public int function() {
    return FUNCTION;
  }

  /** Serves a request; one of no bytes finds out that the service is there. */
  @Override
  public int handle(int server, MemorySegment dram, MemorySegment message, int requestBytes) {
    return requestBytes == 0
        ? 0
        : servers.computeIfAbsent(server, _ -> new HeldLogs(bytesMax)).serve(message, requestBytes);
  }
}
