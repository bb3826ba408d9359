package pando.index.cache;

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

  /** Returns the child that covers a key: the last that does not begin above it, else the first. */
  public int childOf(long key) {
    int child = count - 1;
    while (child > 0 && keys[child] > key) {
      child--;
    }
    return child;
  }
}
