package pando.index.orca;

/**
 * A cache that can have more or fewer parts of a compute server's memory. For the task that moves
 * them.
 */
interface PartHolder {
  /**
   * What a round trip costs a compute server beside the time of cards, in nanoseconds: 2 us of one
   * of its sessions, of which 32 run.
   */
  double TRIP_NANOS = 60;

  /** Returns the number of its parts. */
  int parts();

  /** Returns the number of parts that it keeps. */
  int partsMin();

  /** Looks at what has happened since the last call: the {@link #gain} and the {@link #cost}. */
  void measure();

  /**
   * Returns what a part more would have saved: time of a memory server's network card and of
   * waiting sessions, in nanoseconds.
   */
  double gain();

  /** Returns what a part less would have cost, in the same time. */
  default double cost() {
    return gain();
  }

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

  /**
   * Evens out what its last parts left uneven, as far as that is possible in one step; returns
   * whether there was anything.
   */
  default boolean balance() {
    return false;
  }

  /** Takes a part back that it does not have, as it was emptied, and did not go after all. */
  default void takeBack(int part) {}
}
