package pando.baselines.blink;

/**
 * The children of an inner node, or of a part of one, in key order. Reused for one node after the
 * other. Not thread-safe.
 */
public final class Children {
  /** The least key that the node or part covers. */
  public long low;

  /** The greatest key that the last child covers. */
  public long high;

  /** Number of children. */
  public int count;

  /** The least key of each child. */
  public final long[] keys;

  /** The pointer to each child. */
  public final long[] pointers;

  /** Creates an object with room for {@code capacity} children. */
  public Children(int capacity) {
    this.keys = new long[capacity];
    this.pointers = new long[capacity];
  }

  /** Returns the greatest key that a child covers. */
  public long highOf(int child) {
    return child + 1 < count ? keys[child + 1] - 1 : high;
  }

  /** Makes the root the only child, with all keys. */
  public void becomeRoot(long root) {
    low = Long.MIN_VALUE;
    high = Long.MAX_VALUE;
    count = 1;
    keys[0] = low;
    pointers[0] = root;
  }

  /** Removes a child and closes the gap. */
  public void remove(int child) {
    count--;
    System.arraycopy(keys, child + 1, keys, child, count - child);
    System.arraycopy(pointers, child + 1, pointers, child, count - child);
  }

  /**
   * Returns the index of the child that covers a key: the last child that begins at or below the
   * key, else 0.
   */
  public int childOf(long key) {
    int child = count - 1;
    while (child > 0 && keys[child] > key) {
      child--;
    }
    return child;
  }
}
