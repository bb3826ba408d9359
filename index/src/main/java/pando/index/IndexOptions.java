package pando.index;

import java.util.Map;
import pando.fabric.Fabric;

/**
 * The settings of an index, which know the system that they are for. Immutable; the {@code with}
 * methods return changed copies.
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
   * Returns these options with one setting changed.
   *
   * @throws IllegalArgumentException where there is no such setting, or the value is not for it
   */
  IndexOptions with(String name, String value);

  /** Returns these options with another number of compute servers. */
  IndexOptions withComputeServers(int servers);

  /** Returns these options with another cache size per compute server. */
  IndexOptions withCacheBytes(long bytes);

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
