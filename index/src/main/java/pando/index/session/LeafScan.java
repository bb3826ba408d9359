package pando.index.session;

import pando.index.EntryVisitor;

/** Visits entries in order, out of leaves that a system reads several at a time. */
public abstract class LeafScan {
  private long[] keys = new long[0];
  private long[] values = new long[0];
  private int count;
  private boolean ended;

  /** Creates a scan. */
  protected LeafScan() {}

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

  /** Returns a number of entries that a leaf does not exceed, of those that were read. */
  protected abstract int entriesMax(int leaf);

  /** Copies the entries of a leaf from one key to another, in order; returns their number. */
  protected abstract int copySorted(int leaf, long from, long to, long[] keys, long[] values);

  /** Unlocks everything after {@link #readLeaves} has failed; another failure joins the first. */
  protected abstract void abandon(Throwable failure);

  /**
   * Visits entries in order; returns their number.
   *
   * @param pass of the worker; is outside while the visitor has an entry
   */
  public final long scan(Gate.Pass pass, long from, long to, long limit, EntryVisitor visitor) {
    ended = false;
    long visited = 0;
    long next = from;
    while (visited < limit) {
      int leaves = read(pass, next, to, limit - visited);
      for (int leaf = 0; leaf < leaves && visited < limit; leaf++) {
        long high = copy(pass, leaf, next, to);
        visited += visit(limit - visited, visitor);
        if (ended || high >= to) {
          return visited;
        }
        next = high + 1;
      }
    }
    return visited;
  }

  private int read(Gate.Pass pass, long from, long to, long limit) {
    pass.enter();
    try {
      return readLeaves(from, to, limit);
    } catch (Throwable e) {
      abandon(e);
      throw e;
    } finally {
      pass.exit();
    }
  }

  /** Copies the entries of a leaf; returns the greatest key that it covers. */
  private long copy(Gate.Pass pass, int leaf, long from, long to) {
    pass.enter();
    try {
      grow(entriesMax(leaf));
      count = copySorted(leaf, from, to, keys, values);
      return high(leaf);
    } finally {
      pass.exit();
    }
  }

  private int visit(long limit, EntryVisitor visitor) {
    int wanted = (int) Math.min(count, limit);
    for (int i = 0; i < wanted; i++) {
      if (!visitor.visit(keys[i], values[i])) {
        ended = true;
        return i + 1;
      }
    }
    return wanted;
  }

  private void grow(int entries) {
    if (entries > keys.length) {
      // At least twice as many: leaves that grow by and by soon have room.
      int capacity = Math.max(entries, 2 * keys.length);
      keys = new long[capacity];
      values = new long[capacity];
    }
  }

  /** Tells whether the visitor ended the last scan. */
  public final boolean wasEnded() {
    return ended;
  }
}
