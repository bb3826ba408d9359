package pando.baselines.emt;

import java.util.Arrays;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.pool.NodePlaces;

/** Which tree has which keys. Immutable. */
final class Ranges {
  private final long[] lows;
  private final long[] trees;

  /** No tree. */
  static final Ranges NONE = new Ranges(new long[0], new long[0]);

  private Ranges(long[] lows, long[] trees) {
    this.lows = lows;
    this.trees = trees;
  }

  /**
   * READs the headers of all trees.
   *
   * @param first address of the header of the tree with the least keys
   * @param local local offset of {@link EmtHeader#BYTES}
   * @throws CorruptNodeException if the headers do not follow each other
   */
  static Ranges read(
      long first, NodePlaces places, int memoryServers, Worker worker, long local) {
    long[] lows = new long[memoryServers];
    long[] trees = new long[memoryServers];
    int count = 0;
    long low = Long.MIN_VALUE;
    long address = first;
    while (true) {
      if (count == memoryServers || !places.isNodeAddress(address)) {
        throw new CorruptNodeException(address, "is no header of a tree: number=" + count);
      }
      worker.read(address, local, EmtHeader.BYTES);
      if (!EmtHeader.isWhole(worker.memory(), local, address)
          || EmtHeader.get(worker.memory(), local, EmtHeader.LOW) != low) {
        throw new CorruptNodeException(
            address, "is not the header of the tree from a key on: low=" + low);
      }
      lows[count] = low;
      trees[count++] = address;
      long high = EmtHeader.get(worker.memory(), local, EmtHeader.HIGH);
      if (high == Long.MAX_VALUE) {
        return new Ranges(Arrays.copyOf(lows, count), Arrays.copyOf(trees, count));
      }
      low = high + 1;
      address = EmtHeader.get(worker.memory(), local, EmtHeader.NEXT);
    }
  }

  /** Returns the number of trees. */
  int count() {
    return lows.length;
  }

  /** Returns the number of the tree that has a key. */
  int find(long key) {
    int found = Arrays.binarySearch(lows, key);
    return found >= 0 ? found : -found - 2;
  }

  /** Returns the address of a tree's header. */
  long tree(int number) {
    return trees[number];
  }

  /** Returns the memory server of a tree. */
  int memoryServer(int number) {
    return GlobalAddress.server(trees[number]);
  }

  /** Returns the least key that a tree can have. */
  long low(int number) {
    return lows[number];
  }

  /** Returns the greatest key that a tree can have. */
  long high(int number) {
    return number + 1 < lows.length ? lows[number + 1] - 1 : Long.MAX_VALUE;
  }
}
