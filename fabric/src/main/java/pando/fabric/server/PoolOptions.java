package pando.fabric.server;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import pando.fabric.memory.SystemMemory;

/**
 * The size of a pool, its processor threads and its services. Start from {@link #defaults()} and
 * change what differs.
 *
 * @param memoryServers number of memory servers, 1 to {@link #MEMORY_SERVERS_MAX}; ignored by a
 *     memory server in a process of its own
 * @param bytesPerServer bytes that each memory server can make chunks of; only whole chunks are
 *     used. Memory is committed when it is first accessed; shared memory is committed at the start
 * @param chunkBytes bytes that a compute server gets at a time, a multiple of 64
 * @param processorThreads threads of each memory server that serve CALLs
 * @param seed start of all randomness in the fabric
 * @param handlers services that each memory server offers by CALL
 */
public record PoolOptions(
    int memoryServers,
    long bytesPerServer,
    int chunkBytes,
    int processorThreads,
    long seed,
    List<CallHandler> handlers) {

  /** Maximum number of memory servers of one fabric. */
  public static final int MEMORY_SERVERS_MAX = 64;

  /** Maximum number of processor threads of one memory server. */
  public static final int PROCESSOR_THREADS_MAX = 64;

  private static final int CHUNK_BYTES_MIN = 1 << 10;
  private static final int CHUNK_BYTES_MAX = 1 << 30;
  private static final long BYTES_MAX = 1L << 46;
  private static final int CHUNK_ALIGNMENT = 64;

  private static final PoolOptions DEFAULTS =
      new PoolOptions(4, 4L << 30, 8 << 20, 1, 1, List.of());

  /**
   * Checks each range and copies the handlers. Limits that depend on several options are checked
   * when a pool is opened.
   */
  public PoolOptions {
    handlers = List.copyOf(handlers);
    checkRange("memoryServers", memoryServers, 1, MEMORY_SERVERS_MAX);
    checkRange("chunkBytes", chunkBytes, CHUNK_BYTES_MIN, CHUNK_BYTES_MAX);
    checkRange("bytesPerServer", bytesPerServer, CHUNK_BYTES_MIN, BYTES_MAX);
    checkRange("processorThreads", processorThreads, 1, PROCESSOR_THREADS_MAX);
    if (chunkBytes % CHUNK_ALIGNMENT != 0) {
      throw new IllegalArgumentException(
          "chunks are multiples of " + CHUNK_ALIGNMENT + " bytes: chunkBytes=" + chunkBytes);
    }
    checkFunctions(handlers);
  }

  /** Four memory servers of 4 GiB with one processor thread each and no handlers. */
  public static PoolOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Returns the bytes of a local pool for which nobody has named a size: half of the memory that
   * this process may use, that of the machine or of its container if that is less; those of the
   * defaults where the system does not say.
   */
  public static long bytesOfThisMachine() {
    long limit = SystemMemory.own().limitBytes();
    return limit == Long.MAX_VALUE ? DEFAULTS.memoryServers * DEFAULTS.bytesPerServer : limit / 2;
  }

  /**
   * Returns these options with another size of all memory servers together, of which each has an
   * equal part, a chunk at least.
   */
  public PoolOptions withBytes(long bytes) {
    return withBytesPerServer(Math.clamp(bytes / memoryServers, chunkBytes, BYTES_MAX));
  }

  /** Returns these options with another number of memory servers. */
  public PoolOptions withMemoryServers(int memoryServers) {
    return new PoolOptions(
        memoryServers, bytesPerServer, chunkBytes, processorThreads, seed, handlers);
  }

  /** Returns these options with another size of each memory server. */
  public PoolOptions withBytesPerServer(long bytesPerServer) {
    return new PoolOptions(
        memoryServers, bytesPerServer, chunkBytes, processorThreads, seed, handlers);
  }

  /** Returns these options with another chunk size. */
  public PoolOptions withChunkBytes(int chunkBytes) {
    return new PoolOptions(
        memoryServers, bytesPerServer, chunkBytes, processorThreads, seed, handlers);
  }

  /** Returns these options with another number of processor threads per memory server. */
  public PoolOptions withProcessorThreads(int processorThreads) {
    return new PoolOptions(
        memoryServers, bytesPerServer, chunkBytes, processorThreads, seed, handlers);
  }

  /** Returns these options with another seed. */
  public PoolOptions withSeed(long seed) {
    return new PoolOptions(
        memoryServers, bytesPerServer, chunkBytes, processorThreads, seed, handlers);
  }

  /** Returns these options with other handlers. */
  public PoolOptions withHandlers(List<CallHandler> handlers) {
    return new PoolOptions(
        memoryServers, bytesPerServer, chunkBytes, processorThreads, seed, handlers);
  }

  /** Checks the number of a memory server in its fabric. */
  public static void checkNumber(int number) {
    checkRange("number", number, 0, MEMORY_SERVERS_MAX - 1L);
  }

  private static void checkRange(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          "out of range: " + name + "=" + value + ", minimum=" + min + ", maximum=" + max);
    }
  }

  private static void checkFunctions(List<CallHandler> handlers) {
    Set<Integer> functions = new HashSet<>();
    for (CallHandler handler : handlers) {
      int function = handler.function();
      checkRange(
          "function of " + handler.getClass().getName(),
          function,
          CallHandler.FIRST_FUNCTION,
          CallHandler.FUNCTIONS_MAX - 1L);
      if (!functions.add(function)) {
        throw new IllegalArgumentException(
            "two handlers for one function: function="
                + function
                + ", second="
                + handler.getClass().getName());
      }
    }
  }
}
