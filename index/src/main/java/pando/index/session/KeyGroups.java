package pando.index.session;

/**
 * The keys of an operation on several, and the arrays beside them. Compute servers take those that
 * are theirs, a group after the other. Not thread-safe.
 */
public final class KeyGroups {
  /**
   * Keys at a time. While a compute server is at those it has taken, the index can neither close
   * nor be changed as a whole, which is why there are not more.
   */
  static final int KEYS_MAX = 256;

  private static final long[] NO_LONGS = {};
  static final boolean[] NO_BOOLEANS = {};

  /** Places in the arrays: of keys that are done, of the group, and of those left. */
  private final int[] places = new int[KEYS_MAX];

  private Operation operation = Operation.GET;
  private long[] keys = NO_LONGS;
  private long[] values = NO_LONGS;
  private boolean[] found = NO_BOOLEANS;
  private int count;
  private int groupStart;
  private int groupEnd;
  private int present;

  KeyGroups() {}

  /**
   * Begins with keys of which none has been taken. Those that are stored are taken in order, the
   * same key in the order of its values.
   *
   * @param ofOperation {@link Operation#GET} or {@link Operation#STORE}
   * @param ofFound empty if the values are stored
   */
  void begin(
      Operation ofOperation,
      long[] ofKeys,
      int from,
      int ofCount,
      long[] ofValues,
      boolean[] ofFound) {
    operation = ofOperation;
    keys = ofKeys;
    values = ofValues;
    found = ofFound;
    count = ofCount;
    groupStart = 0;
    groupEnd = 0;
    present = 0;
    for (int i = 0; i < count; i++) {
      places[i] = from + i;
    }
    if (operation == Operation.STORE) {
      sort();
    }
  }

  private void sort() {
    for (int gap = count / 2; gap > 0; gap /= 2) {
      for (int i = gap; i < count; i++) {
        insert(i, gap);
      }
    }
  }

  private void insert(int index, int gap) {
    int place = places[index];
    int to = index;
    while (to >= gap && isBefore(place, places[to - gap])) {
      places[to] = places[to - gap];
      to -= gap;
    }
    places[to] = place;
  }

  private boolean isBefore(int place, int other) {
    return keys[place] < keys[other] || (keys[place] == keys[other] && place < other);
  }

  /** Forgets the arrays. */
  void end() {
    begin(Operation.GET, NO_LONGS, 0, 0, NO_LONGS, NO_BOOLEANS);
  }

  /** Returns whether there are keys that have not been taken. */
  boolean areLeft() {
    return groupEnd < count;
  }

  /** Returns how many keys were found to be there. */
  int present() {
    return present;
  }

  /** Returns whether values are to be stored, not found. */
  public boolean areStored() {
    return operation == Operation.STORE;
  }

  /** Returns a key that has not been taken, the least one of those to store. Some are left. */
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

  /** Makes a request of a key of the group; returns the request. */
  public Request request(int number, Request target) {
    int place = places[groupStart + number];
    return target.set(operation, keys[place], areStored() ? values[place] : 0, 0);
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
