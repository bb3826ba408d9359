package pando.map;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.index.Partitioning;
import pando.index.blob.BlobSpace;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.KeyBounds;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** An index of byte strings, in this process or behind a client. */
final class ByteMapIndex<K, V> implements MapIndex<K, V> {
  private final ByteStrings strings;
  private final KeyBytes<K> keys;
  private final ValueCodec<V> values;

  /**
   * Takes an index.
   *
   * @throws IllegalArgumentException if no key fits
   */
  ByteMapIndex(ByteStrings strings, KeyCodec<K> keys, ValueCodec<V> values) {
    int keyBytesMax = strings.keyBytesMax();
    if (keys.fixedBytes() > keyBytesMax) {
      throw new IllegalArgumentException(
          "keys are too long: codec=%s, bytes=%s, maximum=%s"
              .formatted(keys, keys.fixedBytes(), keyBytesMax));
    }
    boolean fixed = keys.fixedBytes() != ValueCodec.VARIABLE;
    this.strings = strings;
    this.keys = new KeyBytes<>(keys, fixed ? keys.fixedBytes() : keyBytesMax);
    this.values = values;
  }

  @Override
  public ByteStrings index() {
    return strings;
  }

  @Override
  public void flush() {
    strings.flush();
  }

  @Override
  public long sizeEstimate() {
    return strings.sizeEstimate();
  }

  /** Returns {@code null}, as all is in the index. */
  @Override
  public @Nullable BlobSpace space() {
    return null;
  }

  @Override
  public KeyBytes<K> keys() {
    return keys;
  }

  @Override
  public Entries<K, V> session() {
    return new ByteEntries<>(strings.session(), strings.isRemote(), keys, values);
  }

  @Override
  public @Nullable MemorySegment middle(Bounds bounds) {
    if (bounds.isEmpty()) {
      return null;
    }
    Partitioning known = strings.partitioning();
    MemorySegment end = bounds.end();
    long last = end == null ? Long.MAX_VALUE : KeyBounds.partitionKeyBelow(end);
    int below = known.rangeOfKey(ByteStrings.partitionKey(bounds.first()));
    int middle = (below + known.rangeOfKey(last) + 1) >>> 1;
    return middle > below ? KeyBounds.first(known.lowOfRange(middle)) : null;
  }

  /** Does nothing, as all is in the index. */
  @Override
  public void close() {}
}
