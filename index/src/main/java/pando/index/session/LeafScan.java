package pando.index.session;

import java.util.function.Consumer;
import pando.index.EntryVisitor;

/** Visits entries in key order. A system reads several leaves at a time. */
public abstract class LeafScan {
  private final Consumer<Throwable> abandon;
  private long[] keys = new long[0];
  private long[] values = new long[0];
  private int count;
  private boolean ended;

  /**
   * Creates a scan.
   *
   * @param abandon unlocks everything after {@link #readLeaves} has failed; another failure is
   *     added to the given one as suppressed
   */
  protected LeafScan(Consumer<Throwable> abandon) {
    this.abandon = abandon;
  }

  /**
   * Reads one or more neighbouring leaves, each a consistent snapshot. The first one covers {@code
   * from}.
   *
   * @param to greatest key that is needed
   * @param limit maximum number of entries that are needed
   * @return number of leaves read, at least 1
   */
  protected abstract int readLeaves(long from, long to, long limit);

  /** Returns the greatest key that leaf number {@code leaf} of those read covers. */
  protected abstract long high(int leaf);

  /** Returns an upper bound of the number of entries of leaf number {@code leaf} of those read. */
  protected abstract int entriesMax(int leaf);

  /**
   * Copies the entries of a leaf with keys from {@code from} to {@code to}, both inclusive, in key
   * order; returns their number.
   */
  protected abstract int copySorted(int leaf, long from, long to, long[] keys, long[] values);

  /**
   * Visits entries in key order; returns their number.
   *
   * @param pass the worker's pass; it is outside the gate while the visitor runs
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
      abandon.accept(e);
      throw e;
    } finally {
      pass.exit();
    }
  }

  /** Copies the entries of a leaf; returns the greatest key that the leaf covers. */
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
      // At least doubles the capacity, so that leaves that grow slowly cause few allocations.
      int capacity = Math.max(entries, 2 * keys.length);
      keys = new long[capacity];
      values = new long[capacity];
    }
  }

  /** Returns whether the visitor ended the last scan. */
  public final boolean wasEnded() {
    return ended;
  }
}
