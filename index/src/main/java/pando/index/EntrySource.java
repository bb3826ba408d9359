package pando.index;

/** Entries one after the other, without an object for each. */
public interface EntrySource {
  /** Moves to the next entry; {@code false} when there is none. */
  boolean next();

  /** Returns the key of the present entry. */
  long key();

  /** Returns the value of the present entry. */
  long value();
}
