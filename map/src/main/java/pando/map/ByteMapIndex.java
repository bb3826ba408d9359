package pando.map;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.index.Partitioning;
import pando.index.blob.BlobSpace;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.KeyBounds;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** What a map has of an index of byte strings, in this process or behind a client. */
final class ByteMapIndex<K, V> implements MapIndex<K, V> {
  private final ByteStrings strings;
  private final KeyBytes<K> keys;
  private final ValueCodec<V> values;

  /**
   * Takes a part of an index.
   *
   * @throws IllegalArgumentException if no key fits
   */
  ByteMapIndex(ByteStrings strings, KeySpace space, KeyCodec<K> keys, ValueCodec<V> values) {
    checkFits(strings, space, keys);
    boolean fixed = keys.fixedBytes() != ValueCodec.VARIABLE;
    int most = fixed ? keys.fixedBytes() : keyBytesMax(strings, space);
    this.strings = strings;
    this.keys = new KeyBytes<>(keys, most, space);
    this.values = values;
  }

  /**
   * Checks that a map can have the keys of a codec.
   *
   * @throws IllegalArgumentException if no key fits
   */
  static void checkFits(ByteStrings strings, KeySpace space, KeyCodec<?> keys) {
    int most = keyBytesMax(strings, space);
    if (keys.fixedBytes() > most) {
      throw new IllegalArgumentException(
          "keys are too long: codec=%s, bytes=%s, maximum=%s"
              .formatted(keys, keys.fixedBytes(), most));
    }
  }

  /** Returns the greatest length of a map's keys: the same for all maps with names. */
  static int keyBytesMax(ByteStrings strings, KeySpace space) {
    return strings.keyBytesMax() - (space.prefixBytes() == 0 ? 0 : KeySpace.PREFIX_BYTES_MAX);
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
    return strings.sizeEstimate(keys.space().prefix(), keys.space().end());
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

  /** Returns the encoding of a value, in memory of its own. */
  MemorySegment encoded(V value) {
    Encoder<V> encoder = new Encoder<>(values);
    encoder.encode(value);
    return encoder.encoding();
  }

  @Override
  public Entries<K, V> session() {
    return new ByteEntries<>(strings.session(), strings.isRemote(), keys, values);
  }

  /** Opens a session that uses that of another map of the index, while nobody else does. */
  Entries<K, V> sessionBy(Entries<?, ?> other) {
    ByteSession session = ((ByteEntries<?, ?>) other).session();
    return new ByteEntries<>(session, strings.isRemote(), keys, values);
  }

  @Override
  public @Nullable MemorySegment middle(Bounds bounds) {
    if (bounds.isEmpty()) {
      return null;
    }
    Partitioning known = strings.partitioning();
    int first = KeyBounds.rangeOfKey(known, bounds.first());
    int last = KeyBounds.rangeBelow(known, bounds.end());
    int middle = (first + last + 1) >>> 1;
    return middle > first ? known.fenceOfRange(middle) : null;
  }

  /** Does nothing, as all is in the index. */
  @Override
  public void close() {}
}
