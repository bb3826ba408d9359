package pando.map;

import java.util.AbstractMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The entries of an index as one session finds and changes them: it encodes and decodes keys and
 * values. Operations without a key act on the one that {@link #seek} went to. For one thread at a
 * time.
 */
abstract class Entries<K, V> implements AutoCloseable {
  /** How many calls used this session of a {@link SessionPool}, which counts them. */
  long calls;

  /** Goes to a key. */
  abstract void seek(K key);

  /** Returns whether the key is within bounds. */
  abstract boolean isWithin(Bounds bounds);

  abstract @Nullable V get();

  /** Lets a reader have the bytes of the value; returns whether there is one. */
  abstract boolean get(ValueReader reader);

  abstract boolean contains();

  abstract boolean contains(V value);

  /** Returns the value replaced. */
  abstract @Nullable V put(V value);

  /** Returns the value that is there already. */
  abstract @Nullable V putIfAbsent(V value);

  /** Returns the value replaced. */
  abstract @Nullable V replace(V value);

  abstract boolean replace(V expected, V value);

  /** Returns the value removed. */
  abstract @Nullable V remove();

  abstract boolean remove(V expected);

  /** Removes the entry, if it is there, without a look at it. */
  abstract void discard();

  /**
   * Finds the entry next to a key, within bounds.
   *
   * @param key {@code null} for the end of the bounds at which the search begins
   * @param down whether the next one is below
   * @param included whether the entry of the key itself is looked for first
   */
  abstract boolean find(@Nullable K key, boolean down, boolean included, Bounds bounds);

  /** Returns the key that was found. */
  abstract K foundKey();

  /** Returns the value that was found; {@code null} if it is gone, and must be found again. */
  abstract @Nullable V foundValue();

  /** Removes the entry that was found if it has still the same value, and returns that. */
  abstract @Nullable V takeFound();

  /** Sets the values of a batch's keys, {@code null} for those that are absent. */
  abstract void getAll(EntryBatch<K, V> batch);

  /** Stores the entries of a batch, in any order. */
  abstract void putAll(EntryBatch<K, V> batch);

  /** Fills a batch with the first entries within bounds, or the last ones if it goes down. */
  abstract void copy(Bounds bounds, boolean down, EntryBatch<K, V> batch);

  /** Has operations not wait for the disk from now on: {@link #whenSafe} does. */
  void defer() {}

  /**
   * Runs a task once what operations have answered until now is as safe as it has to be, or cannot
   * be any more: then the task gets the failure. It must be short and throw nothing.
   */
  void whenSafe(Consumer<@Nullable RuntimeException> task) {
    task.accept(null);
  }

  /** Runs an action while no other thread operates on the index. */
  abstract void alone(Runnable action);

  /**
   * Copies the entries within bounds that are there at one moment, and at most a batch more than
   * are wanted; returns whether these are all.
   */
  final boolean snapshot(Bounds bounds, boolean down, int wanted, Map<K, V> into) {
    alone(() -> copyAll(bounds, down, wanted, into));
    return into.size() <= wanted;
  }

  private void copyAll(Bounds bounds, boolean down, int wanted, Map<K, V> into) {
    EntryBatch<K, V> batch = new EntryBatch<>(EntryBatch.Content.ENTRIES);
    Bounds rest = bounds;
    while (rest != null && into.size() <= wanted) {
      copy(rest, down, batch);
      for (int i = 0; i < batch.size(); i++) {
        V value = batch.value(i);
        if (value != null) {
          into.put(batch.key(i), value);
        }
      }
      rest = rest.behind(batch.last(), down);
    }
  }

  /** As {@link #find}, and returns the entry. */
  final Map.@Nullable Entry<K, V> near(
      @Nullable K key, boolean down, boolean included, Bounds bounds) {
    while (find(key, down, included, bounds)) {
      V value = foundValue();
      if (value != null) {
        return new AbstractMap.SimpleImmutableEntry<>(foundKey(), value);
      }
    }
    return null;
  }

  /** As {@link #find}, and returns the key alone. */
  final @Nullable K nearKey(@Nullable K key, boolean down, boolean included, Bounds bounds) {
    return find(key, down, included, bounds) ? foundKey() : null;
  }

  /** As {@link #find}, and removes the entry. */
  final Map.@Nullable Entry<K, V> poll(
      @Nullable K key, boolean down, boolean included, Bounds bounds) {
    while (find(key, down, included, bounds)) {
      K found = foundKey();
      V value = takeFound();
      if (value != null) {
        return new AbstractMap.SimpleImmutableEntry<>(found, value);
      }
    }
    return null;
  }

  @Override
  public abstract void close();
}
