package pando.fabric;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Connects compute servers to memory servers.
 *
 * <p>What every fabric promises, and nothing more: aligned 8-byte accesses are atomic; a READ or
 * WRITE is atomic only per {@link Capabilities#atomicityBytes()}, and its parts take effect in no
 * fixed order; verbs of one worker to one memory server take effect in posting order; verbs to
 * different memory servers are not ordered. A READ returns no effect of a WRITE or an atomic posted
 * behind it, or of what that verb made possible, even if the READ's answer is lost and it is served
 * again. A network card needs a fence for this: it sends such a verb only when the READs before it
 * are answered, which costs a round trip within the list.
 *
 * <p>Thread-safe. Closing a fabric that workers still use makes their next verb throw {@link
 * IllegalStateException}.
 */
public interface Fabric extends AutoCloseable {
  /**
   * Bytes at the start of every memory server's DRAM that belong to no chunk. Zero at first; an
   * index keeps its well-known words there (root pointer, partition table).
   */
  int CATALOGUE_BYTES = 16 << 10;

  /**
   * Bits of the name of a process: {@link ComputeServer#process}, or without a compute server the
   * process id in the upper half, a distinguishing number in the lower.
   */
  int PROCESS_BITS = 44;

  /** Returns a short name, such as {@code local} or {@code shm}. */
  String name();

  /** Returns what this fabric can do. */
  Capabilities capabilities();

  /**
   * Returns about how long a session waits for a verb, in nanoseconds: 0 where the pool's memory is
   * mapped, so that a verb takes no more than its accesses. Elsewhere the first call measures it,
   * and throws what a READ throws, but for memory servers that are lost while another one is not.
   */
  long tripNanos();

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
   * @param memory the local memory of all its verbs
   * @throws IllegalArgumentException if this fabric has not registered the memory
   */
  Worker worker(RegisteredMemory memory);

  /**
   * Makes a background task; it rests until it is woken.
   *
   * <p>A step uses its own workers of this fabric, and waits only through them. It should not
   * throw: an exception ends the task, and {@link BackgroundTask#close} throws it again; on a
   * simulated fabric it ends the run. Closing the fabric ends the task, too, but does not wait for
   * its step.
   *
   * @param name of the thread that takes the steps
   * @param step does some work, and returns whether there may be more
   */
  BackgroundTask background(String name, BooleanSupplier step);

  /** As {@link #background}, of a task that does little but issue verbs: simulated, it is quick. */
  default BackgroundTask sender(String name, BooleanSupplier step) {
    return background(name, step);
  }

  /**
   * Opens a lane, which keeps the operations of many sessions under way in one platform thread.
   * Closing the fabric does not end it.
   *
   * @param name of its threads
   * @throws IllegalStateException if this fabric is closed
   */
  Lane lane(String name);

  /**
   * Returns a name of this process that differs from those of all others at the memory servers:
   * {@value #PROCESS_BITS} bits, not 0. It names, for example, the holder of a lock in the pool,
   * whose process may die. A fabric that is opened under the name of a compute server has that
   * name; then all fabrics that lock anything in the pool must be.
   */
  long process();

  /**
   * Returns whether a process issues no more verbs. A fabric that is opened under a name knows that
   * of those that it has {@linkplain #fence fenced}, wherever they run; another one of processes of
   * this machine that have ended.
   */
  boolean isGone(long process);

  /**
   * Returns a memory server's use of its pool, by asking it. Waits as long as a CALL does.
   *
   * @throws IllegalArgumentException if there is no such memory server
   * @throws IllegalStateException if this fabric is closed
   * @throws PandoException if the memory server is lost or does not answer
   */
  PoolUsage usage(int server);

  /** Returns each memory server's use of its pool, by asking one after the other. */
  default List<PoolUsage> usage() {
    return IntStream.range(0, memoryServers()).mapToObj(this::usage).toList();
  }

  /**
   * Makes sure that what a compute server of earlier epochs does has no effect any more, though it
   * may run, or wake up later: raises the least epoch of its number at every memory server, and
   * waits until no verb or CALL of a lower epoch is being served. After that nothing of a lower
   * epoch takes effect, and none of its requests is answered: its verbs throw {@link
   * FencedException}. What it has read before it keeps, and may go on to answer from its caches.
   *
   * <p>Never lowers the least epoch; where that is as great already, still waits. Any thread may
   * call it. Longest wait for what is being served: five seconds at each memory server.
   *
   * @param computeServer number of the compute server, 0 to {@value ComputeServer#NUMBER_MAX}
   * @param leastEpoch the least epoch that is not refused, at least 1
   * @param isLost whether a memory server is gone with its memory, so that it needs no fence; asked
   *     where the fence did not come about
   * @throws IllegalArgumentException if a value is out of its range
   * @throws IllegalStateException if this fabric is closed
   * @throws UnsupportedOperationException if this fabric has no {@linkplain Capabilities#fences
   *     fences}
   * @throws FenceFailedException if another memory server does not answer, or does not come to the
   *     end of what it serves; it says at which ones the fence was made anyway
   */
  void fence(int computeServer, long leastEpoch, IntPredicate isLost);

  /** Returns whether this fabric has fenced a compute server, at least some of its epochs. */
  boolean hasFenced(int computeServer);

  /** Fences at every memory server; else as {@link #fence(int, long, IntPredicate)}. */
  default void fence(int computeServer, long leastEpoch) {
    fence(computeServer, leastEpoch, _ -> false);
  }

  /** Disconnects from the memory servers, and stops those that run inside this fabric. */
  @Override
  void close();
}
