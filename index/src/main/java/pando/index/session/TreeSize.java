package pando.index.session;

import java.util.Arrays;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;

/**
 * Estimates how many entries a range of a tree has: by all nodes of the upper levels, as long as
 * there are few, and by leaves below them that are drawn at random. A system implements how nodes
 * are read. Takes no lock.
 */
public abstract class TreeSize {
  /** Result for a leaf that has moved, or is being written. */
  protected static final int MOVED = -1;

  /** Nodes of a level that are read all. */
  private static final int NODES_MAX = 128;

  /** Nodes of one level. */
  private static final class Level {
    private long[] keys = new long[NODES_MAX];
    private long[] pointers = new long[NODES_MAX];
    private int count;

    void add(long key, long pointer) {
      if (count == keys.length) {
        keys = Arrays.copyOf(keys, 2 * count);
        pointers = Arrays.copyOf(pointers, 2 * count);
      }
      keys[count] = key;
      pointers[count++] = pointer;
    }
  }

  private final Worker worker;
  private final SizeEstimate estimate = new SizeEstimate();

  /** The lowest level of which all nodes are known. */
  private Level known = new Level();

  private int level;

  /** What {@link #add} adds to. */
  private Level target = new Level();

  /** Creates an estimate that waits by a worker. */
  protected TreeSize(Worker worker) {
    this.worker = worker;
  }

  /** Adds the root; returns its level. */
  protected abstract int addRoot(long low);

  /**
   * Adds the children of a node that have keys of the range.
   *
   * @param key a key of the node that is in the range
   * @param pointer with which the node was added
   * @return {@code false} if the node has moved, or is being written
   */
  protected abstract boolean addChildren(int level, long key, long pointer, long low, long high);

  /** Returns the number of a leaf's entries, or {@link #MOVED}. */
  protected abstract int entries(long key, long pointer);

  /** Adds a node, with a key of it that is in the range, and what leads to it. */
  protected final void add(long key, long pointer) {
    target.add(key, pointer);
  }

  /** Returns about how many entries have a key from {@code low} to {@code high}, both inclusive. */
  public final double of(long low, long high) {
    long start = 0;
    for (int attempt = 0; !findNodes(low, high); attempt++) {
      start = pause(attempt, start);
    }
    estimate.clear();
    while (!estimate.isEnough()) {
      estimate.add(draw(low, high));
    }
    return estimate.mean();
  }

  /** Goes down level by level, while there are few nodes. */
  private boolean findNodes(long low, long high) {
    target.count = 0;
    level = addRoot(low);
    swap();
    while (level > 0 && known.count <= NODES_MAX) {
      target.count = 0;
      for (int i = 0; i < known.count; i++) {
        if (!addChildren(level, known.keys[i], known.pointers[i], low, high)) {
          return false;
        }
      }
      swap();
      level--;
    }
    return true;
  }

  private void swap() {
    Level found = target;
    target = known;
    known = found;
  }

  /** Draws a leaf; returns its entries, divided by the probability with which it was drawn. */
  private double draw(long low, long high) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      double size = tryToDraw(low, high);
      if (size >= 0) {
        return size;
      }
      start = pause(attempt, start);
    }
  }

  private double tryToDraw(long low, long high) {
    Level from = known;
    double size = 1;
    for (int at = level; ; at--) {
      int drawn = worker.random().nextInt(from.count);
      long key = from.keys[drawn];
      long pointer = from.pointers[drawn];
      size *= from.count;
      if (at == 0) {
        return size * entries(key, pointer);
      }
      target.count = 0;
      if (!addChildren(at, key, pointer, low, high)) {
        return MOVED;
      }
      from = target;
    }
  }

  private long pause(int attempt, long start) {
    String what = "nodes of a tree keep moving";
    return WaitLimit.SHORT.pauseBriefly(worker.backoff(), attempt, start, what);
  }
}
