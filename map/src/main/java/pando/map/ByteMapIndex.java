package pando.map;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.index.blob.BlobSpace;
import pando.index.bytes.ByteIndex;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** An index of byte strings. */
final class ByteMapIndex<K, V> implements MapIndex<K, V> {
  private final ByteIndex index;
  private final KeyBytes<K> keys;
  private final ValueCodec<V> values;

  /**
   * Takes an index.
   *
   * @throws IllegalArgumentException if no key fits
   */
  ByteMapIndex(ByteIndex index, KeyCodec<K> keys, ValueCodec<V> values) {
    if (keys.fixedBytes() > ByteIndex.KEY_BYTES_MAX) {
      throw new IllegalArgumentException(
          "keys are too long: codec=%s, bytes=%s, maximum=%s"
              .formatted(keys, keys.fixedBytes(), ByteIndex.KEY_BYTES_MAX));
    }
    boolean fixed = keys.fixedBytes() != ValueCodec.VARIABLE;
    this.index = index;
    this.keys = new KeyBytes<>(keys, fixed ? keys.fixedBytes() : ByteIndex.KEY_BYTES_MAX);
    this.values = values;
  }

  @Override
  public ByteIndex index() {
    return index;
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
    return new ByteEntries<>(index.session(), keys, values);
  }

  /** Returns {@code null}, as there are no partitions. */
  @Override
  public @Nullable MemorySegment middle(Bounds bounds) {
    return null;
  }

  /** Does nothing, as all is in the index. */
  @Override
  public void close() {}
}
