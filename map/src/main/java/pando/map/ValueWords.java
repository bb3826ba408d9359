package pando.map;

import org.jspecify.annotations.Nullable;

/**
 * How values live in the 8 bytes of an entry, by words. One for each session, and no more
 * thread-safe than that.
 *
 * @param <V> values
 */
abstract class ValueWords<V> implements AutoCloseable {
  /** Returns whether a word is all there is of a value, and equal values have equal words. */
  abstract boolean areInline();

  /** Returns the word of a value that may go into the entry of a key. */
  abstract long store(long key, V value);

  /**
   * As {@link #store}, to replace the value of a word; in a full pool, too, if both have the same
   * size. {@link #endReplacement} must follow in any case.
   */
  long storeInPlaceOf(long before, long key, V value) {
    return store(key, value);
  }

  /** Ends a replacement, once what is in no entry any more was {@linkplain #free given back}. */
  void endReplacement() {
    // Words need no room.
  }

  /**
   * Loads the value of a word that the entry of a key had.
   *
   * @return {@code false} if the entry has been given another word meanwhile, and must be read
   *     again, or the value is damaged
   */
  abstract boolean load(long key, long word);

  /** Returns the value of the word that was loaded. */
  abstract V value(long word);

  /** Lets a reader have the bytes of the value of the word that was loaded. */
  abstract void read(long word, ValueReader reader);

  /** Sets the value that {@link #isExpected} compares with. */
  abstract void expect(V value);

  /** Returns whether the word that was loaded has the encoding of the value that is expected. */
  abstract boolean isExpected(long word);

  /** Receives what {@link #loadAll} finds. */
  interface Receiver<V> {
    /** Receives a value, {@code null} if it is there no more: then its entry must be read again. */
    void receive(int number, @Nullable V value);
  }

  /**
   * Loads the first of several values, at least one, until they have {@link EntryBatch#BYTES_MAX}.
   *
   * @return how many
   */
  abstract int loadAll(long[] keys, long[] words, int count, Receiver<V> receiver);

  /** Gives back a word that this session has taken out of its entry, or never put into one. */
  abstract void free(long key, long word);

  @Override
  public abstract void close();
}
