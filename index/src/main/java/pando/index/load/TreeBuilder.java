package pando.index.load;

/** Builds a tree from the leaves upwards, out of entries in ascending order. */
public interface TreeBuilder {
  /** Returns the entries that go into a leaf. */
  int perLeaf();

  /** Adds an entry above all before it. */
  void add(long key, long value);

  /**
   * Starts a leaf that covers the keys from {@code low} on, or from the least key if it is the
   * first.
   */
  void startLeaf(long low);

  /** Writes what is still open; returns the root pointer. */
  long finish();

  /** Returns the fence below which about {@code part} of {@code parts} of all leaves lie. */
  long fence(int part, int parts);
}
