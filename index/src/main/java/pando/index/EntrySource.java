package pando.index;

/** A cursor over entries: returns their keys and values one by one, without an object for each. */
public interface EntrySource {
  /** Moves to the next entry; returns {@code false} if there is none. */
  boolean next();

  /** Returns the key of the current entry. */
  long key();

  /** Returns the value of the current entry. */
  long value();
}
