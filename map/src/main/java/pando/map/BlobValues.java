package pando.map;

import org.jspecify.annotations.Nullable;
import pando.index.blob.BlobSpace;
import pando.index.blob.Blobs;
import pando.map.codec.ValueCodec;

/** Values of any length: up to 7 bytes in the entry itself, else as blobs beside the index. */
final class BlobValues<V> extends ValueWords<V> {
  private final ValueCodec<V> codec;
  private final Blobs blobs;
  private final Encoder<V> stored;
  private final Encoder<V> expected;
  private long bytesOfBatch;

  BlobValues(BlobSpace space, ValueCodec<V> codec) {
    this.codec = codec;
    this.blobs = new Blobs(space);
    this.stored = new Encoder<>(codec);
    this.expected = new Encoder<>(codec);
  }

  @Override
  boolean areInline() {
    return false;
  }

  @Override
  long store(long key, V value) {
    stored.encode(value);
    try {
      return blobs.store(key, stored.bytes(), 0, stored.length());
    } finally {
      stored.forget();
    }
  }

  @Override
  long storeInPlaceOf(long before, long key, V value) {
    stored.encode(value);
    try {
      return blobs.storeInPlaceOf(before, key, stored.bytes(), 0, stored.length());
    } finally {
      stored.forget();
    }
  }

  @Override
  void endReplacement() {
    blobs.endReplacement();
  }

  @Override
  boolean load(long key, long word) {
    return blobs.load(key, word);
  }

  @Override
  V value(long word) {
    return codec.decode(blobs.bytes(), blobs.offset(), blobs.length());
  }

  @Override
  void read(long word, ValueReader reader) {
    reader.read(blobs.bytes(), blobs.offset(), blobs.length());
  }

  @Override
  void expect(V value) {
    expected.encode(value);
  }

  @Override
  boolean isExpected(long word) {
    return expected.isAt(blobs.bytes(), blobs.offset(), blobs.length());
  }

  @Override
  int loadAll(long[] keys, long[] words, int count, Receiver<V> receiver) {
    bytesOfBatch = 0;
    int next = 0;
    while (next < count && bytesOfBatch < EntryBatch.BYTES_MAX) {
      next =
          blobs.loadSome(
              keys,
              words,
              next,
              count,
              (number, bytes, offset, length) -> {
                bytesOfBatch += Math.max(length, 0);
                @Nullable V value = length < 0 ? null : codec.decode(bytes, offset, length);
                receiver.receive(number, value);
              });
    }
    return next;
  }

  @Override
  void free(long key, long word) {
    blobs.free(key, word);
  }

  @Override
  public void close() {
    blobs.close();
  }
}
