package pando.index.blink;

import pando.index.EntryVisitor;

/** Visits entries in order, out of leaves that a system reads several at a time. */
public abstract class LeafScan {
  private final long[] keys;
  private final long[] values;
  private boolean ended;

  /**
   * Creates a scan.
   *
   * @param capacity entries of a full leaf
   */
  protected LeafScan(int capacity) {
    this.keys = new long[capacity];
    this.values = new long[capacity];
  }

  /**
   * Reads leaves side by side, each as it is at one moment, the first of which covers a key.
   *
   * @param to greatest key that is wanted
   * @param limit entries that are wanted at the most
   * @return the number of leaves, in a row, at least 1
   */
  protected abstract int readLeaves(long from, long to, long limit);

  /** Returns the greatest key that a leaf covers, of those that were read. */
  protected abstract long high(int leaf);

  /** Copies the entries of a leaf from one key to another, in order; returns their number. */
  protected abstract int copySorted(int leaf, long from, long to, long[] keys, long[] values);

  /** Visits entries in order; returns their number. */
  public final long scan(long from, long to, long limit, EntryVisitor visitor) {
    ended = false;
    long visited = 0;
    long next = from;
    while (visited < limit) {
      int count = readLeaves(next, to, limit - visited);
      for (int leaf = 0; leaf < count && visited < limit; leaf++) {
        long high = high(leaf);
        visited += visit(leaf, next, to, limit - visited, visitor);
        if (ended || high >= to) {
          return visited;
        }
        next = high + 1;
      }
    }
    return visited;
  }

  private int visit(int leaf, long from, long to, long limit, EntryVisitor visitor) {
    int count = copySorted(leaf, from, to, keys, values);
    int wanted = (int) Math.min(count, limit);
    for (int i = 0; i < wanted; i++) {
      if (!visitor.visit(keys[i], values[i])) {
        ended = true;
        return i + 1;
      }
    }
    return wanted;
  }

  /** Tells whether the visitor ended the last scan. */
  public final boolean wasEnded() {
    return ended;
  }
}
