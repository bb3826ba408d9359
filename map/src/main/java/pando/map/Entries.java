package pando.map;

import java.util.AbstractMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.index.Session;

/**
 * The entries of an index as one session finds and changes them: keys are words, values are
 * objects. For one thread at a time.
 */
final class Entries<K, V> implements AutoCloseable {
  private final Session session;
  private final Words<K> keys;
  private final ValueWords<V> values;

  Entries(Session session, Words<K> keys, ValueWords<V> values) {
    this.session = session;
    this.keys = keys;
    this.values = values;
  }

  @Nullable V get(long key) {
    V value = null;
    while (value == null && session.get(key)) {
      value = values.load(key, session.value());
    }
    return value;
  }

  boolean contains(long key) {
    return session.get(key);
  }

  boolean contains(long key, V value) {
    return session.get(key) && session.value() == values.store(key, value);
  }

  /** Returns the value replaced. */
  @Nullable V put(long key, V value) {
    return session.put(key, values.store(key, value)) ? taken(key) : null;
  }

  /** Returns the value that is there already. */
  @Nullable V putIfAbsent(long key, V value) {
    V present = null;
    while (present == null) {
      long word = values.store(key, value);
      if (session.putIfAbsent(key, word)) {
        return null;
      }
      values.free(key, word);
      present = values.load(key, session.value());
    }
    return present;
  }

  /** Returns the value replaced. */
  @Nullable V replace(long key, V value) {
    long word = values.store(key, value);
    if (session.update(key, word)) {
      return taken(key);
    }
    values.free(key, word);
    return null;
  }

  boolean replace(long key, V expected, V value) {
    return session.replace(key, values.store(key, expected), values.store(key, value));
  }

  /** Returns the value removed. */
  @Nullable V remove(long key) {
    return session.remove(key) ? taken(key) : null;
  }

  boolean remove(long key, V expected) {
    return session.remove(key, values.store(key, expected));
  }

  /** Removes an entry, if it is there, without a look at it. */
  void discard(long key) {
    session.discard(key);
  }

  /** Returns the value of the entry that this session has just changed or removed. */
  private V taken(long key) {
    long word = session.value();
    V value = Objects.requireNonNull(values.load(key, word), "nobody else frees it");
    values.free(key, word);
    return value;
  }

  /**
   * Returns the entry of a key within bounds, or that next to it.
   *
   * @param down whether the next one is below
   */
  Map.@Nullable Entry<K, V> near(long key, boolean down, Bounds bounds) {
    Map.Entry<K, V> entry = null;
    while (entry == null && find(key, down, bounds)) {
      entry = found();
    }
    return entry;
  }

  /** Returns the entry that the session has found, {@code null} if it must be read again. */
  private Map.@Nullable Entry<K, V> found() {
    V value = values.load(session.key(), session.value());
    return value == null
        ? null
        : new AbstractMap.SimpleImmutableEntry<>(keys.fromWord(session.key()), value);
  }

  /** As {@link #near}, but returns the key alone. */
  @Nullable K nearKey(long key, boolean down, Bounds bounds) {
    return find(key, down, bounds) ? keys.fromWord(session.key()) : null;
  }

  /** As {@link #near}, but removes the entry. */
  Map.@Nullable Entry<K, V> poll(long key, boolean down, Bounds bounds) {
    while (find(key, down, bounds)) {
      long foundKey = session.key();
      long word = session.value();
      Map.Entry<K, V> entry = found();
      if (entry != null && session.remove(foundKey, word)) {
        values.free(foundKey, word);
        return entry;
      }
    }
    return null;
  }

  private boolean find(long key, boolean down, Bounds bounds) {
    if (bounds.isEmpty()) {
      return false;
    }
    boolean found =
        down
            ? session.floor(Math.min(key, bounds.last()))
            : session.ceiling(Math.max(key, bounds.first()));
    return found && bounds.contains(session.key());
  }

  /** Fills a batch with entries from a key on, to another, which is below if it goes down. */
  void copy(long from, long to, boolean down, Batch<V> batch) {
    batch.clear();
    if (down) {
      session.scanDown(from, to, batch.capacity(), batch);
    } else {
      session.scan(from, to, batch.capacity(), batch);
    }
    for (int i = 0; batch.withValues() && i < batch.size(); i++) {
      V value = values.load(batch.key(i), batch.word(i));
      batch.setValue(i, value != null ? value : get(batch.key(i)));
    }
  }

  @Override
  public void close() {
    session.close();
  }
}
