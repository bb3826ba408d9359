package pando.index.session;

/** The keys that a compute server serves. They do not change while an operation is under way. */
public interface KeyRange {
  /** Returns the least key; above {@link #high} if there is none. */
  long low();

  /** Returns the greatest key. */
  long high();

  /** Returns whether a key is one of them. */
  default boolean owns(long key) {
    return low() <= key && key <= high();
  }
}
