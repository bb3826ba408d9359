package pando.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import pando.map.codec.ValueCodec;
import pando.map.codec.WordCodec;

/**
 * Turns what a codec encodes in 1 to 8 bytes into the words of an index, and back: signed numbers
 * in the order of the encodings, and as close to each other. Thread-safe.
 */
final class Words<T> {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final ValueCodec<T> codec;
  private final @Nullable WordCodec<T> wordCodec;
  private final int bytes;
  private final int shift;

  private Words(ValueCodec<T> codec) {
    this.codec = codec;
    this.wordCodec = codec instanceof WordCodec<T> words ? words : null;
    this.bytes = codec.fixedBytes();
    this.shift = Long.SIZE - bytes * Byte.SIZE;
  }

  /**
   * Makes the words of a codec.
   *
   * @param system whose entries have 8 bytes for this
   * @param what this is, in plural
   * @throws IllegalArgumentException if encodings do not fit
   */
  static <T> Words<T> of(ValueCodec<T> codec, String system, String what) {
    int bytes = codec.fixedBytes();
    if (bytes == ValueCodec.VARIABLE) {
      throw new IllegalArgumentException(
          "%s has %s of 8 bytes: codec=%s".formatted(system, what, codec));
    }
    if (bytes < 1 || bytes > Long.BYTES) {
      throw new IllegalArgumentException(
          "%s has %s of 8 bytes: codec=%s, bytes=%s".formatted(system, what, codec, bytes));
    }
    return new Words<>(codec);
  }

  long toWord(T value) {
    return wordCodec != null ? wordCodec.toWord(value) : encode(value);
  }

  /**
   * Returns what a word stands for.
   *
   * @throws IllegalArgumentException if that is nothing, because the codec has not made it
   */
  T fromWord(long word) {
    return wordCodec != null ? wordCodec.fromWord(word) : decode(word);
  }

  private long encode(T value) {
    MemorySegment buffer = MemorySegment.ofArray(new byte[Long.BYTES]);
    int length = codec.encode(value, buffer, 0);
    if (length != bytes) {
      throw new IllegalArgumentException(
          "the codec has not kept its promise: codec=%s, bytes=%s, fixedBytes=%s"
              .formatted(codec, length, bytes));
    }
    return fromLeft(buffer);
  }

  private T decode(long word) {
    if ((word << shift) >> shift != word) {
      throw new IllegalArgumentException(
          "no encoding: codec=%s, word=%s, bytes=%s".formatted(codec, word, bytes));
    }
    MemorySegment buffer = MemorySegment.ofArray(new byte[Long.BYTES]);
    buffer.set(LONG, 0, (word << shift) ^ Long.MIN_VALUE);
    return codec.decode(buffer, 0, bytes);
  }

  /**
   * Returns the least word of all encodings that are at or above some bytes.
   *
   * @throws IllegalArgumentException if these are more than encodings have
   */
  long least(byte[] from) {
    if (from.length > bytes) {
      throw new IllegalArgumentException(
          "longer than a key: codec=%s, bytes=%s, keyBytes=%s"
              .formatted(codec, from.length, bytes));
    }
    MemorySegment buffer = MemorySegment.ofArray(new byte[Long.BYTES]);
    MemorySegment.copy(from, 0, buffer, ValueLayout.JAVA_BYTE, 0, from.length);
    return fromLeft(buffer);
  }

  private long fromLeft(MemorySegment buffer) {
    return (buffer.get(LONG, 0) ^ Long.MIN_VALUE) >> shift;
  }
}
