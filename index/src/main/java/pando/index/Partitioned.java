package pando.index;

import java.util.Optional;

/**
 * Ordered entries whose keys are divided among compute servers: an index of words, or byte strings,
 * of which a client is one kind. Thread-safe.
 */
public interface Partitioned extends Metered, AutoCloseable {
  /**
   * Returns how the keys are divided among compute servers, as this process knows it; the table in
   * the pool may be newer.
   */
  Partitioning partitioning();

  /**
   * Returns the changes of its ranges of keys, if they move between compute servers: those of ORCA,
   * DEX, P-Sherman and P-SMART, and those of an index of byte strings.
   */
  default Optional<MovablePartitions> partitions() {
    return Optional.empty();
  }

  /**
   * Writes the changes of this process to the pool, or, over a client, those of all compute
   * servers. On return the pool has every change that was acknowledged before the call, even if the
   * process is lost later, except for what other operations hold or merge during the call.
   * Operations go on meanwhile. Systems that write each change at once do nothing.
   *
   * @throws IllegalStateException if this is closed
   * @throws pando.fabric.PandoException if something could not be written, as a memory server is
   *     lost, has no room or does not answer, or an operation does not end; the rest was
   */
  void flush();

  /**
   * Returns the changes of this process that would be lost with it, but not with the pool. As a
   * rule they are written within {@code write-back-interval}, a setting of the systems that keep
   * changes; later if writing fails or does not keep up. A client has none, and neither has what is
   * closed, or has a pool that ends with this process.
   */
  Unwritten unwritten();

  /** Returns whether this is closed: its sessions throw, and it has no memory any more. */
  @Override
  boolean isClosed();

  /**
   * Waits until each running operation has ended, writes what is not in the pool yet, ends
   * background tasks, and frees the local memory of this process. Does not wait for a scan whose
   * visitor runs: that scan throws {@link IllegalStateException} when it needs its next entries,
   * and a visitor may close this. All entries stay in the pool, and no lock stays behind there.
   * From then on, sessions that are still open throw {@link IllegalStateException}. A second call
   * does nothing. Over a client, operations under way end as they do, and nothing is written.
   *
   * @throws pando.fabric.MemoryServerLostException if a memory server is lost: what it had is lost;
   *     everything else is written and given back, and this is closed
   * @throws IllegalStateException if the fabric is closed: nothing is written or given back any
   *     more, and this is closed
   * @throws pando.fabric.PandoException another one if an operation does not end, or a memory
   *     server refuses or does not answer: this stays open, has lost nothing, and can be closed
   *     again
   */
  @Override
  void close();
}
