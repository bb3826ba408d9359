package pando.index.blink;

/**
 * The children of an inner node, or of a part of one, ascending: to be filled again and again. Not
 * thread-safe.
 */
public final class Children {
  /** The least key that any of them is asked for. */
  public long low;

  /** The greatest key that the last of them covers. */
  public long high;

  /** How many there are. */
  public int count;

  /** The least key of each. */
  public final long[] keys;

  /** The pointer to each. */
  public final long[] pointers;

  /** Makes room for so many. */
  public Children(int capacity) {
    this.keys = new long[capacity];
    this.pointers = new long[capacity];
  }

  /** Returns the greatest key that a child covers. */
  public long highOf(int child) {
    return child + 1 < count ? keys[child + 1] - 1 : high;
  }

  /** Removes a child and closes the gap. */
  public void remove(int child) {
    count--;
    System.arraycopy(keys, child + 1, keys, child, count - child);
    System.arraycopy(pointers, child + 1, pointers, child, count - child);
  }

  /** Returns the child that covers a key: the last that does not begin above it, else the first. */
  public int childOf(long key) {
    int child = count - 1;
    while (child > 0 && keys[child] > key) {
      child--;
    }
    return child;
  }
}
