package pando.baselines.blink;

/** Entries in key order: an array of keys and one of values. */
public final class SortedEntries {
  private SortedEntries() {}

  /**
   * Inserts an entry, unless its key is there.
   *
   * @param count number of entries
   * @return the number of entries afterwards
   */
  public static int insert(long[] keys, long[] values, int count, long key, long value) {
    int at = count;
    while (at > 0 && keys[at - 1] > key) {
      at--;
    }
    if (at > 0 && keys[at - 1] == key) {
      return count;
    }
    System.arraycopy(keys, at, keys, at + 1, count - at);
    System.arraycopy(values, at, values, at + 1, count - at);
    keys[at] = key;
    values[at] = value;
    return count + 1;
  }
}
