package pando.index;

import java.util.SplittableRandom;

/** Changes an index's partitions at random. The only one that does. */
public final class Repartitioner {
  private final RangeIndex index;
  private final MovablePartitions partitions;
  private final SplittableRandom random;
  private final int serversMax;
  private int changes;

  /**
   * Creates an object that changes nothing yet.
   *
   * @param index one whose partitions move
   * @param serversMax greatest number of compute servers that it makes
   */
  public Repartitioner(RangeIndex index, SplittableRandom random, int serversMax) {
    this.index = index;
    this.partitions = index.partitions().orElseThrow();
    this.random = random;
    this.serversMax = serversMax;
  }

  /** Returns how many changes were made, or tried. */
  public int changes() {
    return changes;
  }

  /** Makes one change. */
  public String change() {
    Partitioning before = index.partitioning();
    int range = random.nextInt(before.servers());
    int server = before.ownerOfRange(range);
    changes++;
    return switch (random.nextInt(8)) {
      case 0 -> before.servers() < serversMax ? add(server) : move(before);
      case 1 -> before.servers() < serversMax ? split(before, range) : move(before);
      case 2, 3 -> before.servers() > 1 ? remove(server) : add(server);
      default -> before.servers() > 1 ? move(before) : add(server);
    };
  }

  private String add(int server) {
    return "add from " + server + ": " + partitions.addComputeServer(server);
  }

  private String remove(int server) {
    partitions.removeComputeServer(server);
    return "remove " + server;
  }

  private String split(Partitioning before, int range) {
    if (before.lowOfRange(range) == before.highOfRange(range)) {
      return move(before);
    }
    long key = between(before.lowOfRange(range) + 1, before.highOfRange(range));
    int server = before.ownerOfRange(range);
    return "split " + server + " at " + key + ": " + partitions.split(server, key);
  }

  private String move(Partitioning before) {
    if (before.servers() == 1) {
      return add(before.ownerOfRange(0));
    }
    int range = random.nextInt(1, before.servers());
    long key = between(before.lowOfRange(range - 1) + 1, before.highOfRange(range));
    int server = before.ownerOfRange(range);
    return "move " + server + " to " + key + ": " + partitions.moveBoundary(server, key);
  }

  private long between(long low, long high) {
    return high == Long.MAX_VALUE ? random.nextLong(low, high) : random.nextLong(low, high + 1);
  }
}
