package pando.map;

import java.lang.foreign.MemorySegment;
import pando.map.codec.ValueCodec;

/** The encoding of one key or value at a time, in memory of its own. For one thread. */
final class Encoder<T> {
  private static final int KEPT_BYTES_MIN = 64;

  /** Memory for longer encodings is not kept, as each session of a map has encoders. */
  private static final int KEPT_BYTES_MAX = 64 << 10;

  private final ValueCodec<T> codec;
  private MemorySegment kept = MemorySegment.ofArray(new byte[KEPT_BYTES_MIN]);
  private MemorySegment bytes = kept;
  private int length;

  Encoder(ValueCodec<T> codec) {
    this.codec = codec;
  }

  /**
   * Encodes a key or a value.
   *
   * @throws IllegalArgumentException if it has no encoding
   */
  void encode(T value) {
    length = 0;
    bytes = memory(codec.maxBytes(value));
    int encoded = codec.encode(value, bytes, 0);
    if (codec.fixedBytes() != ValueCodec.VARIABLE && encoded != codec.fixedBytes()) {
      throw CodecWords.brokenPromise(codec, encoded);
    }
    length = encoded;
  }

  private MemorySegment memory(int size) {
    if (size <= kept.byteSize()) {
      return kept;
    }
    MemorySegment greater = MemorySegment.ofArray(new byte[Math.max(size, KEPT_BYTES_MIN)]);
    if (size <= KEPT_BYTES_MAX) {
      kept = greater;
    }
    return greater;
  }

  /** Returns the memory that the last encoding begins. */
  MemorySegment bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  /** Returns the last encoding alone, which the next one may overwrite. */
  MemorySegment encoding() {
    return bytes.asSlice(0, length);
  }

  /** Drops the last encoding, and its memory if that is too long to be kept. */
  void forget() {
    bytes = kept;
    length = 0;
  }

  /** Returns whether the last encoding is in a place of other memory. */
  boolean isAt(MemorySegment other, long offset, int otherLength) {
    return length == otherLength
        && MemorySegment.mismatch(bytes, 0, length, other, offset, offset + length) < 0;
  }
}
