package pando.index.host;

/** An index that a bulk load replaces. */
public interface Replaced {
  /**
   * Looks at the index, and remembers its nodes.
   *
   * @param root pointer to its root
   * @throws IllegalStateException where it has entries
   */
  void check(long root);

  /** Frees the nodes that were remembered, to which only old copies point. */
  void free();
}
