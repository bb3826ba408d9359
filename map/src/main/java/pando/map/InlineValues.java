package pando.map;

import java.lang.foreign.MemorySegment;

/** Values of 1 to 8 bytes, which are in the entry itself. */
final class InlineValues<V> extends ValueWords<V> {
  private final CodecWords<V> words;
  private final MemorySegment encoding = MemorySegment.ofArray(new long[1]);
  private long expected;

  InlineValues(CodecWords<V> words) {
    this.words = words;
  }

  @Override
  boolean areInline() {
    return true;
  }

  @Override
  long store(long key, V value) {
    return words.toWord(value);
  }

  @Override
  boolean load(long key, long word) {
    return true;
  }

  @Override
  V value(long word) {
    return words.fromWord(word);
  }

  @Override
  void read(long word, ValueReader reader) {
    reader.read(encoding, 0, words.encode(word, encoding));
  }

  @Override
  void expect(V value) {
    expected = words.toWord(value);
  }

  @Override
  boolean isExpected(long word) {
    return word == expected;
  }

  @Override
  int loadAll(long[] keys, long[] all, int count, Receiver<V> receiver) {
    for (int i = 0; i < count; i++) {
      receiver.receive(i, words.fromWord(all[i]));
    }
    return count;
  }

  /** Does nothing, as a word is all there is of a value. */
  @Override
  void free(long key, long word) {}

  /** Does nothing, as the words are the entries'. */
  @Override
  public void close() {}
}
