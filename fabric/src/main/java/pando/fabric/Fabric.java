package pando.fabric;

import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Joins compute servers to memory servers.
 *
 * <p>What every fabric promises, and nothing more: aligned 8-byte accesses are atomic; a READ or
 * WRITE is atomic only per {@link Capabilities#atomicityBytes()} and its parts land in no fixed
 * order; verbs of one worker to one memory server take effect in posting order; nothing is ordered
 * between memory servers. A READ brings nothing that a WRITE or an atomic behind it made possible,
 * even where its answer was lost and it is served again: a network card has to be told to begin
 * that verb when the READs before it are answered, which costs a way there and back within the
 * list.
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

  /** Bits of the name of a process: its process id in the upper half, else what tells it apart. */
  int PROCESS_BITS = 44;

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

  /**
   * Makes a task that works beside the caller; it rests until it is woken.
   *
   * <p>A step uses workers of its own, in this fabric, and waits through them alone. It should not
   * throw: where it does, the task ends, and {@link BackgroundTask#close} throws the same; where
   * the fabric is simulated, the run ends. Closing the fabric ends the task, too, but waits for no
   * step.
   *
   * @param name of the thread that takes the steps
   * @param step does some work, and returns whether there may be more
   */
  BackgroundTask background(String name, BooleanSupplier step);

  /**
   * Returns the name of this process among all that use the memory servers, in {@value
   * #PROCESS_BITS} bits and not 0: for a lock in the pool, say, whose holder may die. Its upper 22
   * bits are the process id.
   */
  long process();

  /** Returns whether a process has ended, so that it issues no verb any more. */
  boolean isGone(long process);

  /** Returns each memory server's use of its pool, by asking it. */
  List<PoolUsage> usage();

  /** Detaches from the memory servers, and stops those inside this fabric. */
  @Override
  void close();
}
