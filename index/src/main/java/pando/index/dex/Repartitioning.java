package pando.index.dex;

import pando.index.Partitioning;

/**
 * One change of the partitions while operations run (DEX section 4): the compute servers concerned
 * write back their caches, and their gates stay shut until the new table is in the pool.
 *
 * <p>Bounds of ranges are fences of leaves, so they are chosen in the pool, once no session can
 * split or merge leaves there any more.
 */
final class Repartitioning {
  private final Topology topology;
  private final Partitioning before;

  /** Starts from the partition table in the pool; {@code topology} holds its lock. */
  Repartitioning(Topology topology) {
    this.topology = topology;
    this.before = topology.catalogue().readPartitioning();
  }

  Partitioning before() {
    return before;
  }

  /** Returns the range of a compute server. */
  int rangeOfServer(int server) {
    return before.rangeOfServer(server);
  }

  /** Returns the compute server that loses keys when the low bound of a range moves to a key. */
  int giver(int range, long low) {
    if (range == 0 || low <= before.lowOfRange(range - 1) || low > before.highOfRange(range)) {
      throw new IllegalArgumentException(
          "boundary outside the two ranges: server=%s, low=%s, lowBelow=%s, high=%s"
              .formatted(
                  before.ownerOfRange(range),
                  low,
                  range == 0 ? "none" : before.lowOfRange(range - 1),
                  before.highOfRange(range)));
    }
    return before.ownerOfRange(low < before.lowOfRange(range) ? range - 1 : range);
  }

  /** Returns the partitions after a boundary has moved to the fence at or below a key. */
  Partitioning moved(int range, long low) {
    long fence = topology.fence(low);
    return fence <= before.lowOfRange(range - 1) || fence == before.lowOfRange(range)
        ? before
        : before.withLowOfRange(range, fence);
  }

  /** Checks that a key lies inside a range and is not its bound. */
  void checkSplit(int range, long key) {
    if (key <= before.lowOfRange(range) || key > before.highOfRange(range)) {
      throw new IllegalArgumentException(
          "key does not split the range: server=%s, key=%s, low=%s, high=%s"
              .formatted(
                  before.ownerOfRange(range),
                  key,
                  before.lowOfRange(range),
                  before.highOfRange(range)));
    }
  }

  /** Returns the partitions after a range was split at the fence at or below a key. */
  Partitioning split(int range, long key, int server) {
    long fence = topology.fence(key);
    return fence <= before.lowOfRange(range) ? before : before.withRangeSplit(range, fence, server);
  }

  /** Returns the partitions after a range was split about half-way. */
  Partitioning halved(int range, int server) {
    long fence = topology.middleFence(before.lowOfRange(range), before.highOfRange(range));
    return fence <= before.lowOfRange(range) ? before : before.withRangeSplit(range, fence, server);
  }

  /** Returns the partitions without a compute server. */
  Partitioning withoutServer(int server) {
    if (before.servers() == 1) {
      throw new IllegalArgumentException("the last compute server stays: server=" + server);
    }
    return before.withoutRange(before.rangeOfServer(server));
  }

  /** Checks that a compute server has no range. */
  void checkFree(int server) {
    if (server < 0 || server >= DexOptions.COMPUTE_SERVERS_MAX || before.hasServer(server)) {
      throw new IllegalArgumentException(
          "not a compute server without a range: server=%s, maximum=%s"
              .formatted(server, DexOptions.COMPUTE_SERVERS_MAX - 1));
    }
  }

  /**
   * Returns the number of a compute server that has no range, and does not live here. Where others
   * without a range live elsewhere, they are not known here.
   */
  int freeNumber(Members members) {
    for (int number = 0; number < DexOptions.COMPUTE_SERVERS_MAX; number++) {
      if (!before.hasServer(number) && members.find(number) == null) {
        return number;
      }
    }
    throw new IllegalStateException(
        "too many compute servers: servers=%s, max=%s"
            .formatted(before.servers(), DexOptions.COMPUTE_SERVERS_MAX));
  }
}
