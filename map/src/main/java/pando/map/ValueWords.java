package pando.map;

import org.jspecify.annotations.Nullable;

/**
 * How values live in the 8 bytes of an entry, by words. One for each session, and no more
 * thread-safe than that.
 *
 * @param <V> values
 */
interface ValueWords<V> extends AutoCloseable {
  /** Returns whether a word is all there is of a value, and equal values have equal words. */
  boolean areInline();

  /** Returns the word of a value that may go into the entry of a key. */
  long store(long key, V value);

  /**
   * Loads the value of a word that the entry of a key had.
   *
   * @return {@code false} if the entry has been given another word meanwhile, and must be read
   *     again, or the value is damaged
   */
  boolean load(long key, long word);

  /** Returns the value that was loaded. */
  V value();

  /** Lets a reader have the bytes of the value that was loaded. */
  void read(ValueReader reader);

  /** Sets the value that {@link #isExpected} compares with. */
  void expect(V value);

  /** Returns whether the value that was loaded has the encoding of the one that is expected. */
  boolean isExpected();

  /** Receives what {@link #loadAll} finds. */
  interface Receiver<V> {
    /** Receives a value, {@code null} if it is there no more: then its entry must be read again. */
    void receive(int number, @Nullable V value);
  }

  /**
   * Loads the first of several values, at least one, until they have {@link Batch#BYTES_MAX}.
   *
   * @return how many
   */
  int loadAll(long[] keys, long[] words, int count, Receiver<V> receiver);

  /** Gives back a word that this session has taken out of its entry, or never put into one. */
  void free(long key, long word);

  @Override
  void close();
}
