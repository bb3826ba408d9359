package pando.map;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Goes from entry to entry of a view, and copies them batch by batch: between batches it has no
 * session. What it shows was there when its batch was copied. For one thread.
 */
final class Cursor<K, V> {
  private final RangeMap<K, V> map;
  private final boolean down;
  private final EntryBatch<K, V> batch;

  /** Entries of the batch before this place have been looked at. */
  private int place;

  /** Where nothing has been copied yet; {@code null} at the end. */
  private @Nullable Bounds rest;

  private @Nullable K key;
  private @Nullable V value;
  private boolean removable;

  /**
   * Makes a cursor in front of an entry.
   *
   * @param content what of the entries is wanted
   * @param rest bounds of the entries
   */
  Cursor(RangeMap<K, V> map, boolean down, EntryBatch.Content content, Bounds rest) {
    this.map = map;
    this.down = down;
    this.batch = new EntryBatch<>(content);
    this.rest = rest;
  }

  /** Returns whether there is a next entry. */
  boolean hasNext() {
    map.checkOpen();
    while (fill()) {
      if (!batch.withValues() || batch.value(place) != null) {
        return true;
      }
      place++;
    }
    return false;
  }

  /** Copies a batch if the last one is used up; returns whether the batch has an entry left. */
  private boolean fill() {
    if (place == batch.size() && rest != null) {
      map.copy(rest, down, batch);
      place = 0;
      rest = rest.behind(batch.last(), down);
    }
    return place < batch.size();
  }

  /**
   * Goes to the next entry.
   *
   * @throws NoSuchElementException if there is none
   */
  void advance() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    key = batch.key(place);
    value = batch.withValues() ? batch.value(place) : null;
    place++;
    removable = true;
  }

  /** Returns the key of the entry that the cursor has gone to. */
  @SuppressWarnings("NullAway") // A cursor that has gone to an entry has its key.
  K key() {
    return key;
  }

  /** Returns the value of the entry that the cursor has gone to. */
  @SuppressWarnings("NullAway") // A cursor that has gone to an entry has its value.
  V value() {
    return value;
  }

  /** Returns the entry that the cursor has gone to; to set its value sets that of the map. */
  Map.Entry<K, V> entry() {
    return new WritableEntry<>(map, key(), value());
  }

  /**
   * Removes the entry that the cursor has gone to, whatever value it has now.
   *
   * @throws IllegalStateException if there is none, or it was removed here already
   */
  void remove() {
    map.checkOpen();
    if (!removable) {
      throw new IllegalStateException("no entry to remove");
    }
    removable = false;
    map.discard(key());
  }

  /** Returns how many entries the cursor goes to from here on. */
  long count() {
    long count = 0;
    while (fill()) {
      count += batch.size() - place;
      place = batch.size();
    }
    return count;
  }

  /**
   * Returns a cursor for what comes before a key, and begins with that key; {@code null} if this is
   * not possible any more.
   */
  @Nullable Cursor<K, V> split() {
    if (down || rest == null || rest.isEmpty() || place < batch.size()) {
      return null;
    }
    MemorySegment middle = map.middle(rest);
    if (middle == null) {
      return null;
    }
    Cursor<K, V> front = new Cursor<>(map, false, batch.content(), rest.to(middle, false));
    rest = rest.from(middle, true);
    return front;
  }
}
