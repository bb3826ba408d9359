package pando.map;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.blob.BlobSpace;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** An index of words: values that are longer lie beside it. */
final class WordMapIndex<K, V> implements MapIndex<K, V> {
  private final RangeIndex index;
  private final KeyBytes<K> keys;
  private final Words<K> keyWords;
  private final ValueCodec<V> values;

  private final @Nullable BlobSpace space;

  /**
   * Takes an index.
   *
   * @throws IllegalArgumentException if keys do not fit words
   */
  WordMapIndex(RangeIndex index, KeyCodec<K> keys, ValueCodec<V> values) {
    this.index = index;
    this.keyWords = Words.ofKeys(keys, index.name());
    this.keys = new KeyBytes<>(keys, keys.fixedBytes());
    this.values = values;
    this.space = Words.fit(values) ? null : new BlobSpace(index.fabric());
  }

  @Override
  public RangeIndex index() {
    return index;
  }

  @Override
  public @Nullable BlobSpace space() {
    return space;
  }

  @Override
  public KeyBytes<K> keys() {
    return keys;
  }

  @Override
  public Entries<K, V> session() {
    Session session = index.session();
    try {
      return new WordEntries<>(session, keyWords, valueWords());
    } catch (Throwable e) {
      session.close();
      throw e;
    }
  }

  private ValueWords<V> valueWords() {
    return space == null ? new InlineValues<>(Words.of(values)) : new BlobValues<>(space, values);
  }

  @Override
  public @Nullable MemorySegment middle(Bounds bounds) {
    Partitioning partitioning = index.partitioning();
    int below = partitioning.rangeOfKey(keyWords.first(bounds));
    int middle = (below + partitioning.rangeOfKey(keyWords.last(bounds)) + 1) >>> 1;
    boolean splits = middle > below && keyWords.has(partitioning.lowOfRange(middle));
    return splits ? keyWords.bytes(partitioning.lowOfRange(middle)) : null;
  }

  @Override
  public void close() {
    if (space != null) {
      space.close();
    }
  }
}
