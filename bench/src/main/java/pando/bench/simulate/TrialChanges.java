package pando.bench.simulate;

import java.util.random.RandomGenerator;
import pando.index.Partitioning;
import pando.index.dex.DexIndex;

/** Changes partitions at random, as far as they are this process's. */
final class TrialChanges {
  private static final int SERVERS_MAX = 6;

  private final DexIndex index;
  private final TrialKeys keys;
  private final RandomGenerator random;

  TrialChanges(DexIndex index, TrialKeys keys, RandomGenerator random) {
    this.index = index;
    this.keys = keys;
    this.random = random;
  }

  /** Makes one change; {@code false} where it was none of this process's. */
  boolean change() {
    Partitioning before = index.partitioning();
    int servers = before.servers();
    int range = random.nextInt(servers);
    int server = before.ownerOfRange(range);
    try {
      switch (random.nextInt(6)) {
        case 0 -> {
          if (servers < SERVERS_MAX) {
            index.addComputeServer(server);
          }
        }
        case 1 -> {
          if (servers < SERVERS_MAX) {
            index.split(server, keys.any(random));
          }
        }
        case 2 -> {
          if (servers > 1) {
            index.removeComputeServer(server);
          }
        }
        default -> {
          if (servers > 1 && range > 0) {
            index.moveBoundary(server, keys.any(random));
          }
        }
      }
      return true;
    } catch (IllegalArgumentException notHereOrOutOfRange) {
      return false;
    }
  }
}
