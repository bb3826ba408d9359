package pando.map;

import java.lang.foreign.MemorySegment;
import pando.map.codec.ValueCodec;

/**
 * The encoding of one key or value at a time, in memory of its own; a key's is behind the prefix of
 * its map. For one thread.
 */
final class Encoder<T> {
  private static final int KEPT_BYTES_MIN = 64;

  /** Memory for longer encodings is not kept, as each session of a map has encoders. */
  private static final int KEPT_BYTES_MAX = 64 << 10;

  private final ValueCodec<T> codec;
  private final KeySpace space;
  private final int prefixBytes;
  private MemorySegment kept;
  private MemorySegment bytes;
  private int length;

  /** Makes an encoder of values. */
  Encoder(ValueCodec<T> codec) {
    this(codec, KeySpace.WORDS);
  }

  /** Makes an encoder of the keys of a map. */
  Encoder(ValueCodec<T> codec, KeySpace space) {
    this.codec = codec;
    this.space = space;
    this.prefixBytes = space.prefixBytes();
    this.kept = newMemory(KEPT_BYTES_MIN);
    this.bytes = kept;
  }

  private MemorySegment newMemory(int size) {
    byte[] memory = new byte[size];
    space.writePrefix(memory);
    return MemorySegment.ofArray(memory);
  }

  /**
   * Encodes a key or a value.
   *
   * @throws IllegalArgumentException if it has no encoding
   */
  void encode(T value) {
    length = 0;
    bytes = memory(Math.addExact(prefixBytes, codec.maxBytes(value)));
    int encoded = codec.encode(value, bytes, prefixBytes);
    if (codec.fixedBytes() != ValueCodec.VARIABLE && encoded != codec.fixedBytes()) {
      throw CodecWords.brokenPromise(codec, encoded);
    }
    length = prefixBytes + encoded;
  }

  private MemorySegment memory(int size) {
    if (size <= kept.byteSize()) {
      return kept;
    }
    MemorySegment greater = newMemory(Math.max(size, KEPT_BYTES_MIN));
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

  /** Returns the last encoding with its prefix, which the next one may overwrite. */
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
