package pando.map;

/** Values of up to 8 bytes, which are in the entry itself. Thread-safe. */
final class InlineValues<V> implements ValueWords<V> {
  private final Words<V> words;

  InlineValues(Words<V> words) {
    this.words = words;
  }

  @Override
  public long store(long key, V value) {
    return words.toWord(value);
  }

  @Override
  public V load(long key, long word) {
    return words.fromWord(word);
  }

  /** Does nothing, as a word is all there is of a value. */
  @Override
  public void free(long key, long word) {}
}
