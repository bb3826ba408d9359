package pando.index;

import java.util.Map;
import pando.fabric.Fabric;

/**
 * The settings of what compute servers serve: an index of words, or byte strings. Immutable; {@link
 * #with} returns a changed copy. It checks each value by itself, so the order does not matter.
 * Limits that depend on several settings are checked when an index is made, or by {@link #check}.
 */
public interface ServedOptions {
  /** Returns the system's name, such as {@code dex}. */
  String system();

  /** Returns the bytes that each compute server caches. */
  long cacheBytes();

  /**
   * Returns these options with one setting changed. Name and value are text, as on a command line:
   * {@code cache-bytes} and {@code 64MiB}.
   *
   * @throws IllegalArgumentException if no setting has this name, or the value is not legal for it
   */
  ServedOptions with(String name, String value);

  /**
   * Returns these options with another size of each compute server's cache, in bytes.
   *
   * @throws IllegalArgumentException if it is out of range
   */
  ServedOptions withCacheBytes(long bytes);

  /**
   * Checks the limits that depend on several settings. What makes or joins an index does it as
   * well.
   *
   * @throws IllegalArgumentException if a limit is broken; the message has the values of the
   *     settings concerned
   */
  void check();

  /** Returns a description of each setting by name, with its current value as the default. */
  Map<String, String> documentation();

  /** Returns whether indexes of this system have {@link MovablePartitions}. */
  default boolean hasMovablePartitions() {
    return false;
  }

  /**
   * Returns whether compute servers of a cluster log changes: they keep some in local memory, and
   * the pool is whole without them.
   */
  default boolean isLogged() {
    return false;
  }

  /**
   * Makes an empty index in a pool that has none, with one compute server, which has all keys and
   * lives in this process. Others get ranges later.
   *
   * @param number of the compute server, 0 to {@link IndexOptions#COMPUTE_SERVERS_MAX} - 1
   * @throws UnsupportedOperationException if this system has no {@link MovablePartitions}
   * @throws IllegalStateException if the pool holds an index already
   * @throws IllegalArgumentException if the fabric lacks what the system needs, or the number is
   *     out of range
   */
  Partitioned createAt(Fabric fabric, int number);

  /**
   * Joins an index that another process has made in the same pool, with one compute server, which
   * serves the range that the pool's table gives it; with none it waits for one. A compute server
   * may live in one process at a time; the caller must see to that.
   *
   * @param number of the compute server, 0 to {@link IndexOptions#COMPUTE_SERVERS_MAX} - 1
   * @throws UnsupportedOperationException if this system has no {@link MovablePartitions}
   * @throws IllegalStateException if the pool holds no index, or one of another system or with
   *     other nodes or locks
   * @throws IllegalArgumentException if the fabric lacks what the system needs, or the number is
   *     out of range
   */
  Partitioned joinAt(Fabric fabric, int number);
}
