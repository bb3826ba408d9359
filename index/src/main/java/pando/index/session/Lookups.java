package pando.index.session;

/**
 * Keys to find, and the arrays that receive what is found. Compute servers take those that are
 * theirs, a group after the other. Not thread-safe.
 */
public final class Lookups {
  /**
   * Keys at a time. While a compute server finds those it has taken, the index can neither close
   * nor be changed as a whole, which is why there are not more.
   */
  static final int KEYS_MAX = 256;

  private static final long[] NO_LONGS = {};
  private static final boolean[] NO_BOOLEANS = {};

  /** Places in the arrays: of keys that were found before, of the group, and of those left. */
  private final int[] places = new int[KEYS_MAX];

  private long[] keys = NO_LONGS;
  private long[] values = NO_LONGS;
  private boolean[] found = NO_BOOLEANS;
  private int count;
  private int groupStart;
  private int groupEnd;
  private int present;

  Lookups() {}

  /** Begins with keys of which none has been taken. */
  void begin(long[] ofKeys, int from, int ofCount, long[] toValues, boolean[] toFound) {
    keys = ofKeys;
    values = toValues;
    found = toFound;
    count = ofCount;
    groupStart = 0;
    groupEnd = 0;
    present = 0;
    for (int i = 0; i < count; i++) {
      places[i] = from + i;
    }
  }

  /** Forgets the arrays. */
  void end() {
    begin(NO_LONGS, 0, 0, NO_LONGS, NO_BOOLEANS);
  }

  /** Returns whether there are keys that have not been taken. */
  boolean areLeft() {
    return groupEnd < count;
  }

  /** Returns how many keys were found to be there. */
  int present() {
    return present;
  }

  /** Returns a key that has not been taken. Some are left. */
  public long next() {
    return keys[places[groupEnd]];
  }

  /** Takes the keys from {@code low} to {@code high} inclusive as the next group. */
  public void take(long low, long high) {
    groupStart = groupEnd;
    for (int i = groupStart; i < count; i++) {
      int place = places[i];
      if (low <= keys[place] && keys[place] <= high) {
        places[i] = places[groupEnd];
        places[groupEnd] = place;
        groupEnd++;
      }
    }
  }

  /** Returns the number of keys of the group. */
  public int size() {
    return groupEnd - groupStart;
  }

  /** Returns a key of the group. */
  public long key(int number) {
    return keys[places[groupStart + number]];
  }

  /**
   * Sets what was found for a key of the group, once for each.
   *
   * @param value ignored if the key is not there
   */
  public void set(int number, boolean isThere, long value) {
    int place = places[groupStart + number];
    found[place] = isThere;
    if (isThere) {
      values[place] = value;
      present++;
    }
  }
}
