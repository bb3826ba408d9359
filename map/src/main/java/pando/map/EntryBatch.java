package pando.map;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Entries that a scan has copied: their keys, or these and their values, or only how many; or
 * entries to store.
 */
final class EntryBatch<K, V> {
  /** What of the entries is copied. */
  enum Content {
    COUNT,
    KEYS,
    ENTRIES
  }

  /** A batch of values ends where they have so many bytes, so that long ones do not fill memory. */
  static final int BYTES_MAX = 1 << 20;

  private static final int ENTRIES_MIN = 8;

  /** A batch has so many entries at the most. */
  static final int ENTRIES_MAX = 256;

  private final Content content;
  private int capacity = ENTRIES_MIN;
  private @Nullable K[] keys;
  private @Nullable V[] values;
  private int size;
  private @Nullable MemorySegment last;

  EntryBatch(Content content) {
    this.content = content;
    this.keys = newArray(withKeys());
    this.values = newArray(withValues());
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // They hold what is added only.
  private <T> @Nullable T[] newArray(boolean needed) {
    return (T[]) new Object[needed ? capacity : 0];
  }

  /** Empties the batch. After a full one the next is greater, as a long iteration is likelier. */
  void clear() {
    if (size == capacity && size < ENTRIES_MAX) {
      capacity = 2 * size;
      keys = newArray(withKeys());
      values = newArray(withValues());
    }
    size = 0;
    last = null;
  }

  Content content() {
    return content;
  }

  boolean withKeys() {
    return content != Content.COUNT;
  }

  boolean withValues() {
    return content == Content.ENTRIES;
  }

  int size() {
    return size;
  }

  /** Returns how many entries there is room for. */
  int capacity() {
    return capacity;
  }

  /** Counts an entry. */
  void add() {
    size++;
  }

  /** Adds an entry, whose value can be set later. */
  void add(K key) {
    keys[size++] = key;
  }

  /** Sets a value, {@code null} if the entry was removed before its value was loaded. */
  void setValue(int place, @Nullable V value) {
    values[place] = value;
  }

  /** Says that entries may follow behind the encoding of the last key. */
  void endAt(MemorySegment key) {
    last = key;
  }

  /** Returns the encoding of the last key; {@code null} if no entry follows. */
  @Nullable MemorySegment last() {
    return last;
  }

  @SuppressWarnings("NullAway") // An entry that was added has a key.
  K key(int place) {
    return keys[place];
  }

  /** Returns a value that was set. */
  @SuppressWarnings("NullAway")
  V presentValue(int place) {
    return values[place];
  }

  /** Returns a value, {@code null} if the entry was removed before its value was loaded. */
  @Nullable V value(int place) {
    return values[place];
  }
}
