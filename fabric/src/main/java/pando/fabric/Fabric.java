package pando.fabric;

import java.util.List;

/**
 * Joins compute servers to memory servers.
 *
 * <p>What every fabric promises, and nothing more: aligned 8-byte accesses are atomic; a READ or
 * WRITE is atomic only per {@link Capabilities#atomicityBytes()} and its parts land in no fixed
 * order; verbs of one worker to one memory server take effect in posting order; nothing is ordered
 * between memory servers.
 *
 * <p>Thread-safe. Closing a fabric that workers still use makes their next verb throw {@link
 * IllegalStateException}.
 */
public interface Fabric extends AutoCloseable {
  /**
   * Bytes at the start of every memory server's DRAM that belong to no chunk: zero at first, and an
   * index's well-known words from then on (its root pointer, its partition table).
   */
  int CATALOGUE_BYTES = 16 << 10;

  /** Returns a short name, such as {@code local} or {@code shm}. */
  String name();

  /** Returns what this fabric can do. */
  Capabilities capabilities();

  /** Returns the number of memory servers, numbered from 0. */
  int memoryServers();

  /** Returns the bytes of DRAM of a memory server, catalogue included. */
  long dramBytes(int server);

  /**
   * Registers zeroed local memory that verbs read into and write from. Workers may share it.
   *
   * @param bytes at least 1
   */
  RegisteredMemory register(long bytes);

  /**
   * Opens a worker for one thread.
   *
   * @param memory the local side of all its verbs
   */
  Worker worker(RegisteredMemory memory);

  /** Returns each memory server's use of its pool, by asking it. */
  List<PoolUsage> usage();

  /** Lets go of the memory servers, and stops those that live inside this fabric. */
  @Override
  void close();
}
