package pando.map;

import org.jspecify.annotations.Nullable;

/**
 * How values live in the 8 bytes of an entry: by words, which are equal for equal values. One for
 * each session, and no more thread-safe than that.
 *
 * @param <V> values
 */
interface ValueWords<V> {
  /** Returns the word of a value that may go into the entry of a key. */
  long store(long key, V value);

  /**
   * Returns the value of a word that the entry of a key had.
   *
   * @return {@code null} if the entry has been given another word meanwhile, and must be read again
   */
  @Nullable V load(long key, long word);

  /** Gives back a word that this session has taken out of its entry, or never put into one. */
  void free(long key, long word);
}
