package pando.index.host;

/** An index that a bulk load replaces. */
public interface Replaced {
  /**
   * Checks that the index is empty, and records its nodes.
   *
   * @param root pointer to its root
   * @throws IllegalStateException if it has entries
   */
  void check(long root);

  /**
   * Frees the recorded nodes. Called after the root was replaced, when only old cached copies point
   * to them.
   */
  void free();
}
