package pando.index;

import java.util.Map;
import pando.fabric.Fabric;

/**
 * The settings of an index, which know the system that they are for. Immutable; the {@code with}
 * methods return changed copies. They check each value by itself, so that their order does not
 * matter; what must go together is checked when an index is made, or by {@link #check}.
 */
public interface IndexOptions {
  /** Compute servers that an index can have. */
  int COMPUTE_SERVERS_MAX = 64;

  /** Returns the system's name, such as {@code dex}. */
  String system();

  /** Returns the size of a node in bytes. */
  int nodeBytes();

  /** Returns the number of compute servers, 1 to {@link #COMPUTE_SERVERS_MAX}. */
  int computeServers();

  /** Returns the bytes that each compute server caches. */
  long cacheBytes();

  /** Tells whether each key is served by one compute server alone. */
  boolean isPartitioned();

  /**
   * Returns these options with one setting changed, as a command line has it: by its name, such as
   * {@code cache-bytes}, to a value such as {@code 64MiB}.
   *
   * @throws IllegalArgumentException where there is no such setting, or the value is not for it
   */
  IndexOptions with(String name, String value);

  /**
   * Returns these options with another size of nodes, in bytes.
   *
   * @throws IllegalArgumentException where it is out of range
   */
  IndexOptions withNodeBytes(int bytes);

  /**
   * Returns these options with another number of compute servers.
   *
   * @throws IllegalArgumentException where it is out of range
   */
  IndexOptions withComputeServers(int servers);

  /**
   * Returns these options with another size of each compute server's cache, in bytes.
   *
   * @throws IllegalArgumentException where it is out of range
   */
  IndexOptions withCacheBytes(long bytes);

  /**
   * Returns the least bytes that a cache must have, with the other settings as they are.
   *
   * @throws IllegalArgumentException where nodes cannot have the size that is set
   */
  long cacheBytesMin();

  /**
   * Checks that the settings go together. {@link #create} and {@link #join} do it as well.
   *
   * @throws IllegalArgumentException where they do not, with the values of those concerned
   */
  void check();

  /** Returns what each setting means, by its name, with the value that it has here. */
  Map<String, String> documentation();

  /**
   * Makes an empty index in a pool that has none, with all its compute servers in this process.
   *
   * @throws IllegalStateException where the pool holds an index already
   * @throws IllegalArgumentException where the fabric lacks what the system needs
   */
  default RangeIndex create(Fabric fabric) {
    return create(fabric, 0, computeServers());
  }

  /**
   * Makes an empty index in a pool that has none, with some of its compute servers in this process.
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @throws IllegalStateException where the pool holds an index already
   * @throws IllegalArgumentException where the fabric lacks what the system needs
   */
  RangeIndex create(Fabric fabric, int first, int count);

  /**
   * Joins an index that another process made in the same pool with the same options.
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @throws IllegalStateException where the pool holds no such index
   */
  RangeIndex join(Fabric fabric, int first, int count);

  /** Walks the whole tree of a pool that nobody changes meanwhile, and checks it. */
  Tree walk(Fabric fabric);
}
