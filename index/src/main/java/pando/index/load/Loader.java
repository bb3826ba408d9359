package pando.index.load;

import pando.fabric.VerbCounters;

/** Makes an index out of entries in ascending order. */
public interface Loader extends AutoCloseable {
  /** Returns the entries that go into a leaf. */
  int perLeaf();

  /**
   * Starts a leaf that covers the keys from {@code low} on, or from the least key if it is the
   * first.
   */
  void startLeaf(long low);

  /** Adds an entry above all before it. */
  void add(long key, long value);

  /** Writes what is still open; returns the root pointer. */
  long finish();

  /**
   * Returns the fence below which about {@code part} of {@code parts} of all leaves lie. Different
   * for different parts where there are as many leaves.
   */
  long fence(int part, int parts);

  /** Gives every node back after a failure; the first that cannot be given back joins it. */
  void abandon(Throwable failure);

  /** Returns the verbs issued so far. */
  VerbCounters verbs();

  @Override
  void close();
}
