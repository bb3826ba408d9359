package pando.bench.trial;

import java.util.random.RandomGenerator;
import pando.index.MovablePartitions;
import pando.index.Partitioning;
import pando.index.RangeIndex;

/** Changes partitions of this process at random. */
final class TrialChanges {
  private static final int SERVERS_MAX = 6;

  private final RangeIndex index;
  private final MovablePartitions partitions;
  private final TrialKeys keys;
  private final RandomGenerator random;

  /** Creates changes of an index whose ranges move. */
  TrialChanges(RangeIndex index, TrialKeys keys, RandomGenerator random) {
    this.index = index;
    this.partitions = index.partitions().orElseThrow();
    this.keys = keys;
    this.random = random;
  }

  /** Makes one change; returns {@code false} if it had no effect. */
  boolean change() {
    Partitioning before = index.partitioning();
    int range = random.nextInt(before.servers());
    int server = before.ownerOfRange(range);
    try {
      return switch (random.nextInt(6)) {
        case 0 -> before.servers() < SERVERS_MAX && partitions.addComputeServer(server) >= 0;
        case 1 -> before.servers() < SERVERS_MAX && partitions.split(server, keys.any(random)) >= 0;
        case 2 -> before.servers() > 1 && remove(server);
        default -> before.servers() > 1 && range > 0 && move(server, before.lowOfServer(server));
      };
    } catch (IllegalArgumentException notHereOrOutOfRange) {
      return false;
    }
  }

  private boolean remove(int server) {
    partitions.removeComputeServer(server);
    return true;
  }

  private boolean move(int server, long low) {
    return partitions.moveBoundary(server, keys.any(random)) != low;
  }
}
