package pando.durable.holder;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import pando.fabric.server.CallHandler;
import pando.journal.LogOptions;

/**
 * Holds logs of compute servers at memory servers 0 and 1, see {@link HeldLog}. They are in the
 * memory of the memory server's process, and end with it. One with a data folder has there what was
 * logged, with all other entries of the cluster. {@code LogFrame} draws the requests.
 */
public final class LogService implements CallHandler, AutoCloseable {
  /** Behind those of DEX and ROLEX. */
  public static final int FUNCTION = FIRST_FUNCTION + 2;

  private static final long BYTES_MAX = 512L << 20;

  /** Logs take at most one of so many parts of the heap. */
  private static final int HEAP_PART = 2;

  private final long bytesMax;
  private final @Nullable HolderFolder folder;
  private final Map<Integer, HeldLogs> servers = new ConcurrentHashMap<>();

  /** Creates a service without logs, for the memory servers of one pool. */
  public LogService() {
    this(bytesMax(), null);
  }

  /**
   * Creates a service without logs, for one memory server.
   *
   * @param data its data folder, which is opened, and made if it is not there, when a compute
   *     server asks for it
   * @param onFailure run when its log has failed: the memory server must end then
   */
  public LogService(Path data, LogOptions options, Runnable onFailure) {
    this(bytesMax(), new HolderFolder(data, options, onFailure));
  }

  /**
   * Creates a service without logs.
   *
   * @param bytesMax of all logs of one memory server
   */
  LogService(long bytesMax) {
    this(bytesMax, null);
  }

  private LogService(long bytesMax, @Nullable HolderFolder folder) {
    this.bytesMax = bytesMax;
    this.folder = folder;
  }

  private static long bytesMax() {
    return Math.min(BYTES_MAX, Runtime.getRuntime().maxMemory() / HEAP_PART);
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
        : servers
            .computeIfAbsent(server, _ -> new HeldLogs(bytesMax, folder))
            .serve(message, requestBytes);
  }

  /** Closes the data folder, if it has one. Nothing may be served any more. */
  @Override
  public void close() {
    if (folder != null) {
      folder.close();
    }
  }
}
