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

  /** Visits entries in ascending order, from and to inclusive; returns how many. */
  long scan(long from, long to, long limit, EntryVisitor visitor);

  /** Ends the access. */
  @Override
  void close();
}
