package pando.index;

import pando.fabric.Fabric;
import pando.fabric.memory.SystemMemory;

/**
 * The settings of an index, and the system that they are for. Immutable; the {@code with} methods
 * return changed copies. They check each value by itself, so their order does not matter. Limits
 * that depend on several settings are checked when an index is made, or by {@link #check}. A
 * system's options also have methods that switch its techniques; all else is set by name.
 */
public interface IndexOptions extends ServedOptions {
  /** Maximum number of compute servers of an index. */
  int COMPUTE_SERVERS_MAX = 64;

  /**
   * Returns the bytes of a cache for which nobody has named a size: 256 MiB, or a sixteenth of the
   * memory that this process may use, that of the machine or of its container, if that is less.
   */
  static long cacheBytesOfThisMachine() {
    return Math.min(256L << 20, SystemMemory.own().limitBytes() / 16);
  }

  /** Returns the size of a node in bytes. */
  int nodeBytes();

  /** Returns the length of a key in bytes: 8, but for DEX with {@code key-bytes}. */
  default int keyBytes() {
    return Long.BYTES;
  }

  /** Returns the number of compute servers, 1 to {@link #COMPUTE_SERVERS_MAX}. */
  int computeServers();

  /** Returns whether each key is served by one compute server alone. */
  boolean isPartitioned();

  @Override
  IndexOptions with(String name, String value);

  @Override
  IndexOptions withCacheBytes(long bytes);

  /**
   * Returns these options with another size of nodes, in bytes.
   *
   * @throws IllegalArgumentException if it is out of range
   */
  IndexOptions withNodeBytes(int bytes);

  /**
   * Returns these options with another number of compute servers.
   *
   * @throws IllegalArgumentException if it is out of range
   */
  IndexOptions withComputeServers(int servers);

  /**
   * Returns the minimum size of a cache in bytes, given the other settings.
   *
   * @throws IllegalArgumentException if the node size that is set is not legal
   */
  long cacheBytesMin();

  /**
   * Returns the most that a loaded record takes of the pool, in bytes, where that is more than in
   * the leaves of a B+-tree; else 0.
   */
  default int recordBytesMax() {
    return 0;
  }

  /**
   * Makes an empty index in a pool that has none, with all its compute servers in this process.
   *
   * @throws IllegalStateException if the pool holds an index already
   * @throws IllegalArgumentException if the fabric lacks what the system needs
   */
  default RangeIndex create(Fabric fabric) {
    return create(fabric, 0, computeServers());
  }

  /**
   * Makes an empty index in a pool that has none, with some of its compute servers in this process.
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @throws IllegalStateException if the pool holds an index already
   * @throws IllegalArgumentException if the fabric lacks what the system needs
   */
  RangeIndex create(Fabric fabric, int first, int count);

  /**
   * Joins an index that another process made in the same pool. The settings of its nodes and locks
   * must be the same in all processes:
   *
   * <ul>
   *   <li>in every system, {@code node-bytes};
   *   <li>in DEX, {@code key-bytes};
   *   <li>in Sherman, P-Sherman and FG+, {@code on-chip-locks}, {@code partitioned}, and {@code
   *       validation}, or what {@code auto} stands for;
   *   <li>in DEFT, {@code hash-leaves}, {@code sx-locks} and {@code validation}, likewise;
   *   <li>in ROLEX and XStore-D, {@code delta}, {@code epsilon} and {@code writes};
   *   <li>in SMART and P-SMART, {@code partitioned} and {@code reserve}.
   * </ul>
   *
   * <p>The pool keeps them, and an index that differs in one is refused. All other settings may
   * differ between processes, and affect only their speed. A compute server may live in one process
   * at a time; the caller must see to that, and that nothing of an earlier process takes effect any
   * more. Changes that an earlier one left half done are ended first, and its locks are released
   * ({@link RangeIndex#bury}).
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @throws IllegalStateException if the pool holds no index, or one of another system or with
   *     other nodes or locks
   * @throws IllegalArgumentException if the fabric lacks what the system needs, or the index has no
   *     such compute servers
   */
  RangeIndex join(Fabric fabric, int first, int count);

  /**
   * {@inheritDoc}
   *
   * <p>The empty index can be divided into {@link #computeServers()} ranges.
   */
  @Override
  default RangeIndex createAt(Fabric fabric, int number) {
    throw new UnsupportedOperationException(
        "ranges of this system do not move between processes: system=" + system());
  }

  /** {@inheritDoc} Ignores {@link #computeServers()}. */
  @Override
  default RangeIndex joinAt(Fabric fabric, int number) {
    throw new UnsupportedOperationException(
        "ranges of this system do not move between processes: system=" + system());
  }

  /**
   * Walks the whole tree of a pool, checks it, and keeps all entries. No session may change the
   * tree during the walk.
   *
   * @throws IllegalStateException as {@link #join}
   */
  default Tree walk(Fabric fabric) {
    return walk(fabric, true);
  }

  /**
   * Walks the whole tree of a pool, and checks it. No session may change the tree during the walk.
   *
   * @param entries whether to keep the entries: each takes about 100 bytes
   * @throws IllegalStateException as {@link #join}
   */
  Tree walk(Fabric fabric, boolean entries);

  /**
   * Returns where every byte of a pool is, as can be seen in the pool: READs the whole index, and
   * joins nothing. What compute servers keep for later is with others. Exact while no process
   * changes the index; where one has changed nodes that it has not written back, the index may look
   * damaged. {@link RangeIndex#space} knows more.
   *
   * @throws IllegalStateException as {@link #join}
   */
  default PoolSpace space(Fabric fabric) {
    return PoolSpace.of(fabric).with(walk(fabric, false));
  }
}
