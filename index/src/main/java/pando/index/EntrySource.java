package pando.index;

import java.util.List;

/** A cursor over entries: returns their keys and values one by one, without an object for each. */
public interface EntrySource {
  /** Moves to the next entry; returns {@code false} if there is none. */
  boolean next();

  /** Returns the key of the current entry. */
  long key();

  /** Returns the value of the current entry. */
  long value();

  /**
   * Divides the entries into parts that threads can read at the same time. Called once at most, and
   * before {@link #next}; then the parts are read, and not this source.
   *
   * <p>A part is read by one thread at a time, which need not be the caller's. What parts share
   * must be thread-safe. Some may be empty.
   *
   * @param threads how many threads are going to read: as many parts of about the same size are
   *     best; with more of them, a thread reads several, one after the other
   * @return the parts, so that all keys of one are above those of the parts before it. Default:
   *     this source alone
   */
  default List<? extends EntrySource> split(int threads) {
    return List.of(this);
  }
}
