package pando.index.host;

import java.util.function.IntPredicate;
import pando.index.BoundKey;
import pando.index.IndexOptions;
import pando.index.Partitioning;
import pando.index.Partitioning.Bound;

/**
 * One change of the partitions, from the table in the pool. Checks what is asked for, and makes the
 * table that comes after.
 */
final class Repartitioning {
  private static final int SERVERS_MAX = IndexOptions.COMPUTE_SERVERS_MAX;

  private final Partitioning before;

  /** Starts from the partition table that the pool has. The caller holds its lock. */
  Repartitioning(Partitioning before) {
    this.before = before;
  }

  Partitioning before() {
    return before;
  }

  /** Returns the range of a compute server. */
  int rangeOfServer(int server) {
    return before.rangeOfServer(server);
  }

  /** Returns the compute server that loses keys when the low bound of a range moves to a key. */
  int giver(int range, BoundKey low) {
    if (range == 0 || low.compareToBound(before, range - 1) <= 0 || isBeyond(range, low)) {
      throw new IllegalArgumentException(
          "boundary outside the two ranges: server=%s, low=%s, lowBelow=%s, lowAbove=%s"
              .formatted(
                  before.ownerOfRange(range),
                  low,
                  range == 0 ? "none" : bound(range - 1),
                  bound(range + 1)));
    }
    return before.ownerOfRange(low.compareToBound(before, range) < 0 ? range - 1 : range);
  }

  /** Returns whether a key is beyond a range. */
  private boolean isBeyond(int range, BoundKey key) {
    return range + 1 < before.servers() && key.compareToBound(before, range + 1) >= 0;
  }

  /** Returns where a range begins, as text; the one behind the last has no such key. */
  private String bound(int range) {
    return range == before.servers() ? "none" : BoundKey.of(before, range).toString();
  }

  /** Returns the partitions after the low bound of a range has moved. */
  Partitioning moved(int range, Bound bound) {
    return bound.low() <= before.lowOfRange(range - 1) || bound.low() == before.lowOfRange(range)
        ? before
        : before.withBoundOfRange(range, bound);
  }

  /** Checks that a key lies inside a range and is not its bound. */
  void checkSplit(int range, BoundKey key) {
    if (key.compareToBound(before, range) <= 0 || isBeyond(range, key)) {
      throw new IllegalArgumentException(
          "key does not split the range: server=%s, key=%s, low=%s, lowAbove=%s"
              .formatted(before.ownerOfRange(range), key, bound(range), bound(range + 1)));
    }
  }

  /** Returns the partitions after a range was split. */
  Partitioning split(int range, Bound bound, int server) {
    return bound.low() <= before.lowOfRange(range)
        ? before
        : before.withRangeSplit(range, bound, server);
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
