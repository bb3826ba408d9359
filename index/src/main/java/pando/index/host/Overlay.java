package pando.index.host;

import java.util.function.LongFunction;
import java.util.function.Supplier;
import pando.index.BoundKey;
import pando.index.Partitioning;
import pando.index.pool.Catalogue;

/**
 * What lies over an index and moves with its ranges: it keeps something beside the partition table,
 * and takes steps of its own when keys leave a compute server. Threads that call its methods have
 * the lock of the partition table, except for {@link #read}.
 */
public interface Overlay {
  /** For an index with nothing over it. */
  Overlay NONE = new Overlay() {};

  /** Returns the partition table of an index that is made by one compute server. */
  default Partitioning undivided(int server) {
    return Partitioning.undivided(server);
  }

  /**
   * Reads the partition table.
   *
   * @throws IllegalStateException if the pool has another kind of index
   */
  default Partitioning read(Catalogue catalogue) {
    Partitioning table = catalogue.readPartitioning();
    if (catalogue.beside() != 0) {
      throw new IllegalStateException(
          "the pool holds an index of byte strings, not of words: open it as one"
              + " (ByteIndex.joinAt)");
    }
    return table;
  }

  /** Writes the partition table. */
  default void write(Catalogue catalogue, Partitioning table) {
    catalogue.writePartitioning(table, 0);
  }

  /**
   * Begins to take keys from a compute server of this process, beside operations.
   *
   * @param at where the range is cut
   * @param upper whether the keys from there on leave, or those below
   * @param cut takes the index's own keys, from a number on or below it
   */
  default Parting part(BoundKey at, boolean upper, LongFunction<Parting> cut) {
    return cut.apply(at.number());
  }

  /**
   * Begins to take about the upper half, as {@link #part}.
   *
   * @param half takes the upper half of the index's own keys
   * @param cut takes the index's own keys from a number on
   */
  default Parting partHalf(Supplier<Parting> half, LongFunction<Parting> cut) {
    return half.get();
  }

  /**
   * Begins to take all keys, as {@link #part}.
   *
   * @param whole takes all of the index's own keys
   */
  default Parting partWhole(Supplier<Parting> whole) {
    return whole.get();
  }

  /** Returns whether a compute server that has given its range stays in this process. */
  default boolean keepsServers() {
    return false;
  }
}
