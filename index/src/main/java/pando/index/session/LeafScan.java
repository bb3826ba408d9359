package pando.index.session;

import java.util.function.Consumer;
import pando.index.EntryVisitor;

/** Visits entries in key order, or against it. A system reads several leaves at a time. */
public abstract class LeafScan {
  private final Consumer<Throwable> abandon;
  private long[] keys = new long[0];
  private long[] values = new long[0];
  private int count;
  private boolean ended;

  /** The key from which the scan goes on. */
  private long next;

  /** Whether the scan is at its end. */
  private boolean done;

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
   * Reads one or more neighbouring leaves, each a consistent snapshot, in the order of the scan.
   * The first one covers {@code from}.
   *
   * @param to last key that is needed
   * @param down whether the scan goes against the order of keys
   * @param limit maximum number of entries that are needed
   * @return number of leaves read, at least 1
   */
  protected abstract int readLeaves(long from, long to, boolean down, long limit);

  /**
   * Returns the fence where the scan leaves leaf number {@code leaf} of those read: its greatest
   * key, or {@code down} its least.
   */
  protected abstract long fence(int leaf, boolean down);

  /** Returns an upper bound of the number of entries of leaf number {@code leaf} of those read. */
  protected abstract int entriesMax(int leaf);

  /**
   * Copies the entries of a leaf with keys from {@code least} to {@code greatest}, both inclusive,
   * always in key order; returns their number.
   */
  protected abstract int copySorted(
      int leaf, long least, long greatest, long[] keys, long[] values);

  /**
   * Visits entries from a key to another, as far as the compute server has the keys; returns their
   * number. Afterwards, {@link #isDone} says whether these were all; if not, and fewer than the
   * limit, the compute server that has {@link #next} goes on.
   *
   * @param pass the worker's pass; it is outside the gate while the visitor runs
   * @param range keys of the compute server, which may become others while the visitor runs
   * @param down whether to go against the order of keys
   */
  public final long scan(
      Gate.Pass pass,
      KeyRange range,
      long from,
      long to,
      boolean down,
      long limit,
      EntryVisitor visitor) {
    ended = false;
    done = false;
    next = from;
    long visited = 0;
    while (visited < limit) {
      int leaves = read(pass, range, to, down, limit - visited);
      if (leaves == 0) {
        return visited;
      }
      for (int leaf = 0; leaf < leaves && visited < limit; leaf++) {
        long fence = copy(pass, leaf, next, to, down);
        visited += visit(down, limit - visited, visitor);
        if (ended || (down ? fence <= to : fence >= to)) {
          done = true;
          return visited;
        }
        next = down ? fence - 1 : fence + 1;
      }
    }
    return visited;
  }

  /** Reads leaves; returns their number, 0 if the compute server does not have the next key. */
  private int read(Gate.Pass pass, KeyRange range, long to, boolean down, long limit) {
    pass.enter();
    try {
      if (!range.owns(next)) {
        return 0;
      }
      long end = down ? Math.max(to, range.low()) : Math.min(to, range.high());
      return readLeaves(next, end, down, limit);
    } catch (Throwable e) {
      abandon.accept(e);
      throw e;
    } finally {
      pass.exit();
    }
  }

  /** Copies the entries of a leaf; returns the fence where the scan leaves it. */
  private long copy(Gate.Pass pass, int leaf, long from, long to, boolean down) {
    pass.enter();
    try {
      grow(entriesMax(leaf));
      count = copySorted(leaf, down ? to : from, down ? from : to, keys, values);
      return fence(leaf, down);
    } finally {
      pass.exit();
    }
  }

  private int visit(boolean down, long limit, EntryVisitor visitor) {
    int wanted = (int) Math.min(count, limit);
    for (int i = 0; i < wanted; i++) {
      int entry = down ? count - 1 - i : i;
      if (!visitor.visit(keys[entry], values[entry])) {
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

  /**
   * Returns whether the last scan is at its end: all entries were visited, or the visitor said so.
   */
  public final boolean isDone() {
    return done;
  }

  /** Returns the key from which the last scan goes on. */
  public final long next() {
    return next;
  }
}
