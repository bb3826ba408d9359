package pando.map;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.client.PandoClient;
import pando.durable.DurableIndex;
import pando.index.Metered;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.blob.BlobSpace;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** An index of words, in this process or behind a client: values that are longer lie beside it. */
final class WordMapIndex<K, V> implements MapIndex<K, V> {
  private static final String KEYS_OF_CLIENT =
      "a client has keys of 1 to 8 bytes, always the same number;"
          + " longer ones need compute servers of byte strings, and client.byteStrings()";

  private static final String VALUES_OF_CLIENT =
      "a client has values of 1 to 8 bytes, always the same number;"
          + " longer ones lie in the pool, so they need compute servers of byte strings, or a map"
          + " over the index itself, in a compute server's process";

  private final Metered index;
  private final Supplier<Session> sessions;
  private final Supplier<Partitioning> partitioning;
  private final Runnable flush;
  private final KeyBytes<K> keys;
  private final CodecWords<K> keyWords;
  private final ValueCodec<V> values;

  private final @Nullable BlobSpace space;

  private WordMapIndex(
      Metered index,
      Supplier<Session> sessions,
      Supplier<Partitioning> partitioning,
      Runnable flush,
      KeyCodec<K> keys,
      CodecWords<K> keyWords,
      ValueCodec<V> values,
      @Nullable BlobSpace space) {
    this.index = index;
    this.sessions = sessions;
    this.partitioning = partitioning;
    this.flush = flush;
    this.keys = new KeyBytes<>(keys, keys.fixedBytes(), KeySpace.WORDS);
    this.keyWords = keyWords;
    this.values = values;
    this.space = space;
  }

  /**
   * Takes an index of this process.
   *
   * @throws IllegalArgumentException if keys do not fit words, or a data folder would get addresses
   *     in place of values
   */
  static <K, V> WordMapIndex<K, V> of(RangeIndex index, KeyCodec<K> keys, ValueCodec<V> values) {
    CodecWords<K> keyWords = CodecWords.ofKeys(keys, index.name());
    if (index instanceof DurableIndex) {
      checkValuesOfFolder(values);
    }
    BlobSpace space = CodecWords.fit(values) ? null : BlobSpace.of(index);
    return new WordMapIndex<>(
        index, index::session, index::partitioning, index::flush, keys, keyWords, values, space);
  }

  /**
   * Checks that values are words: a data folder would not have others.
   *
   * @throws IllegalArgumentException if they are longer
   */
  static void checkValuesOfFolder(ValueCodec<?> values) {
    if (!CodecWords.fit(values)) {
      throw new IllegalArgumentException(
          "a data folder of words has values of 1 to 8 bytes, always the same number; byte strings"
              + " have others: codec="
              + values);
    }
  }

  /**
   * Takes an index that a client reaches, but not its pool.
   *
   * @throws IllegalArgumentException if keys or values do not fit words
   */
  static <K, V> WordMapIndex<K, V> of(PandoClient client, KeyCodec<K> keys, ValueCodec<V> values) {
    CodecWords<K> keyWords = CodecWords.of(keys, KEYS_OF_CLIENT);
    CodecWords.of(values, VALUES_OF_CLIENT);
    return new WordMapIndex<>(
        client.watched(),
        client::session,
        () -> client.routes().partitioning(),
        client::flush,
        keys,
        keyWords,
        values,
        null);
  }

  @Override
  public Metered index() {
    return index;
  }

  @Override
  public void flush() {
    flush.run();
  }

  @Override
  public long sizeEstimate() {
    try (Session session = sessions.get()) {
      return session.sizeEstimate();
    }
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
    Session session = sessions.get();
    try {
      return new WordEntries<>(session, keyWords, valueWords());
    } catch (Throwable e) {
      session.close();
      throw e;
    }
  }

  private ValueWords<V> valueWords() {
    return space == null
        ? new InlineValues<>(CodecWords.of(values))
        : new BlobValues<>(space, values);
  }

  @Override
  public @Nullable MemorySegment middle(Bounds bounds) {
    Partitioning known = partitioning.get();
    int below = known.rangeOfKey(keyWords.first(bounds));
    int middle = (below + known.rangeOfKey(keyWords.last(bounds)) + 1) >>> 1;
    boolean splits = middle > below && keyWords.has(known.lowOfRange(middle));
    return splits ? keyWords.bytes(known.lowOfRange(middle)) : null;
  }

  @Override
  public void close() {
    if (space != null) {
      space.close();
    }
  }
}
