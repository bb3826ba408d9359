package pando.map;

import org.jspecify.annotations.Nullable;
import pando.index.EntryVisitor;

/** Entries that a scan has copied: keys as words, and values if they are wanted. */
final class Batch<V> implements EntryVisitor {
  private static final int ENTRIES_MIN = 8;
  private static final int ENTRIES_MAX = 256;

  private final boolean withValues;
  private long[] keys = new long[ENTRIES_MIN];
  private long[] words = new long[ENTRIES_MIN];
  private @Nullable V[] values;
  private int size;

  Batch(boolean withValues) {
    this.withValues = withValues;
    this.values = newValues();
  }

  @SuppressWarnings("unchecked") // The array holds values only.
  private @Nullable V[] newValues() {
    return (V[]) new Object[withValues ? keys.length : 0];
  }

  /** Empties the batch. After a full one the next is greater, as a long iteration is likelier. */
  void clear() {
    if (size == keys.length && size < ENTRIES_MAX) {
      keys = new long[2 * size];
      words = new long[2 * size];
      values = newValues();
    }
    size = 0;
  }

  boolean withValues() {
    return withValues;
  }

  int size() {
    return size;
  }

  /** Returns how many entries there is room for. */
  int capacity() {
    return keys.length;
  }

  long key(int place) {
    return keys[place];
  }

  /** Returns the word of a value. */
  long word(int place) {
    return words[place];
  }

  /** Returns a value, {@code null} if the entry was removed before its value was loaded. */
  @Nullable V value(int place) {
    return values[place];
  }

  void setValue(int place, @Nullable V value) {
    values[place] = value;
  }

  @Override
  public boolean visit(long key, long word) {
    keys[size] = key;
    words[size] = word;
    size++;
    return true;
  }
}
