package pando.index.orca;

/**
 * What can have more or fewer parts of a compute server's memory: a cache, or the directory. For
 * the task that moves them.
 */
interface PartHolder {
  /** Returns whether it has a part. */
  boolean has(int part);

  /** Returns the part that is given away next. There is one. */
  int next();

  /** Empties a part as far as that is possible while operations go on. */
  default void empty(int part) {}

  /** Prepares to receive a part, as far as that is possible while operations go on. */
  default void expect(int part) {}

  /**
   * Gives a part away, while no operation is under way.
   *
   * @return {@code false} if it is still in use
   */
  boolean release(int part);

  /** Receives a part, while no operation is under way. */
  void receive(int part);

  /** Takes a part back that it does not have, as it was emptied, and did not go after all. */
  default void takeBack(int part) {}
}
