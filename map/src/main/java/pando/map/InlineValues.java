package pando.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Values of 1 to 8 bytes, which are in the entry itself. */
final class InlineValues<V> implements ValueWords<V> {
  private final Words<V> words;
  private final MemorySegment encoding = MemorySegment.ofArray(new long[1]);
  private long loaded;
  private long expected;

  InlineValues(Words<V> words) {
    this.words = words;
  }

  @Override
  public boolean areInline() {
    return true;
  }

  @Override
  public long store(long key, V value) {
    return words.toWord(value);
  }

  @Override
  public boolean load(long key, long word) {
    loaded = word;
    return true;
  }

  @Override
  public V value() {
    return words.fromWord(loaded);
  }

  @Override
  public void read(ValueReader reader) {
    encoding.set(ValueLayout.JAVA_LONG, 0, 0);
    reader.read(encoding, 0, words.encode(loaded, encoding));
  }

  @Override
  public void expect(V value) {
    expected = words.toWord(value);
  }

  @Override
  public boolean isExpected() {
    return loaded == expected;
  }

  @Override
  public int loadAll(long[] keys, long[] all, int count, Receiver<V> receiver) {
    for (int i = 0; i < count; i++) {
      receiver.receive(i, words.fromWord(all[i]));
    }
    return count;
  }

  /** Does nothing, as a word is all there is of a value. */
  @Override
  public void free(long key, long word) {}

  /** Does nothing, as the words are the entries'. */
  @Override
  public void close() {}
}
