package pando.index.host;

import java.util.function.IntPredicate;
import pando.index.IndexOptions;
import pando.index.Partitioning;
import pando.index.pool.PoolChange;

/**
 * One change of the partitions, from the table in the pool. Checks what is asked for, and makes the
 * table that comes after.
 */
final class Repartitioning {
  private static final int SERVERS_MAX = IndexOptions.COMPUTE_SERVERS_MAX;

  private final Partitioning before;

  /** Starts from the partition table in the pool; {@code change} holds its lock. */
  Repartitioning(PoolChange change) {
    this.before = change.catalogue().readPartitioning();
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

  /** Returns the partitions after the low bound of a range has moved to a fence. */
  Partitioning moved(int range, long fence) {
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

  /** Returns the partitions after a range was split at a fence. */
  Partitioning split(int range, long fence, int server) {
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
    if (server < 0 || server >= SERVERS_MAX || before.hasServer(server)) {
      throw new IllegalArgumentException(
          "not a compute server without a range: server=%s, maximum=%s"
              .formatted(server, SERVERS_MAX - 1));
    }
  }

  /**
   * Returns the number of a compute server that has no range, and does not live here. Where others
   * without a range live elsewhere, they are not known here.
   *
   * @param livesHere returns whether the compute server of a number lives here
   */
  int freeNumber(IntPredicate livesHere) {
    for (int number = 0; number < SERVERS_MAX; number++) {
      if (!before.hasServer(number) && !livesHere.test(number)) {
        return number;
      }
    }
    throw new IllegalStateException(
        "too many compute servers: servers=%s, max=%s".formatted(before.servers(), SERVERS_MAX));
  }
}
