package pando.bench.subject;

import pando.index.EntryVisitor;

/** One thread's access to a {@link Subject}. Not thread-safe. */
public interface Access extends AutoCloseable {
  /** Returns the value that the last lookup found, or the last update replaced. */
  long value();

  /** Returns whether a key is there; {@link #value()} is then its value. */
  boolean get(long key);

  /** Replaces the value of a key; returns whether the key was there. */
  boolean update(long key, long value);

  /** Stores a key that is not there; returns whether it was absent. */
  boolean insert(long key, long value);

  /** Stores a key that is not there; does not say whether it was. */
  default void store(long key, long value) {
    insert(key, value);
  }

  /**
   * Looks up several keys.
   *
   * @param from place of the first
   * @param values receives, at the same place as its key, each value that is there
   * @param found receives whether each key is there
   */
  default void getAll(long[] keys, int from, int count, long[] values, boolean[] found) {
    for (int i = from; i < from + count; i++) {
      found[i] = get(keys[i]);
      if (found[i]) {
        values[i] = value();
      }
    }
  }

  /**
   * Stores several keys that are not there.
   *
   * @param from place of the first
   * @param values each at the same place as its key
   */
  default void putAll(long[] keys, int from, int count, long[] values) {
    for (int i = from; i < from + count; i++) {
      store(keys[i], values[i]);
    }
  }

  /** Visits entries in ascending order, from and to inclusive; returns how many. */
  long scan(long from, long to, long limit, EntryVisitor visitor);

  /** Ends the access. */
  @Override
  void close();
}
