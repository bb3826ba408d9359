package pando.index;

/** Entries one after the other, without an object for each. */
public interface EntrySource {
  /** Moves to the next entry; {@code false} when there is none. */
  boolean next();

  /** Returns the key of the present entry. */
  long key();

  /** Returns the value of the present entry. */
  long value();

  /**
   * Returns the number of entries if it is known, else -1. A hint: a wrong number costs balance
   * between partitions, not correctness.
   */
  default long sizeHint() {
    return -1;
  }
}
