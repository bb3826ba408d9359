package pando.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;
import pando.map.codec.WordCodec;

/**
 * Turns what a codec encodes in 1 to 8 bytes into the words of an index, and back: signed numbers
 * in the order of the encodings, and as close to each other. Thread-safe.
 */
final class CodecWords<T> {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final ValueCodec<T> codec;
  private final @Nullable WordCodec<T> wordCodec;
  private final int bytes;
  private final int shift;

  private CodecWords(ValueCodec<T> codec) {
    this.codec = codec;
    this.wordCodec = codec instanceof WordCodec<T> words ? words : null;
    this.bytes = codec.fixedBytes();
    this.shift = Long.SIZE - bytes * Byte.SIZE;
  }

  /** Returns whether all encodings have 1 to 8 bytes. */
  static boolean fit(ValueCodec<?> codec) {
    return codec.fixedBytes() >= 1 && codec.fixedBytes() <= Long.BYTES;
  }

  /**
   * Makes the words of a codec whose encodings {@linkplain #fit}.
   *
   * @throws IllegalArgumentException if they do not
   */
  static <T> CodecWords<T> of(ValueCodec<T> codec) {
    return of(codec, "no words");
  }

  /**
   * As {@link #of(ValueCodec)}.
   *
   * @param rule that they break if they do not
   * @throws IllegalArgumentException if they do not
   */
  static <T> CodecWords<T> of(ValueCodec<T> codec, String rule) {
    if (!fit(codec)) {
      int bytes = codec.fixedBytes();
      throw new IllegalArgumentException(
          "%s: codec=%s%s"
              .formatted(rule, codec, bytes == ValueCodec.VARIABLE ? "" : ", bytes=" + bytes));
    }
    return new CodecWords<>(codec);
  }

  /** As {@link #of(ValueCodec)}, for the keys of a system. */
  static <K> CodecWords<K> ofKeys(KeyCodec<K> codec, String system) {
    return of(codec, system + " has keys of 8 bytes");
  }

  /** Returns the exception for a codec of fixed length that has another one. */
  static IllegalArgumentException brokenPromise(ValueCodec<?> codec, int bytes) {
    return new IllegalArgumentException(
        "the codec has not kept its promise: codec=%s, bytes=%s, fixedBytes=%s"
            .formatted(codec, bytes, codec.fixedBytes()));
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
      throw brokenPromise(codec, length);
    }
    return fromLeft(buffer);
  }

  private T decode(long word) {
    MemorySegment buffer = MemorySegment.ofArray(new byte[Long.BYTES]);
    encode(word, buffer);
    return codec.decode(buffer, 0, bytes);
  }

  /**
   * Writes the encoding of a word.
   *
   * @param to 8 bytes, of which the encoding may take fewer
   * @return the length of the encoding
   * @throws IllegalArgumentException if the codec has not made the word
   */
  int encode(long word, MemorySegment to) {
    if (!has(word)) {
      throw new IllegalArgumentException(
          "no encoding: codec=%s, word=%s, bytes=%s".formatted(codec, word, bytes));
    }
    to.set(LONG, 0, (word << shift) ^ Long.MIN_VALUE);
    return bytes;
  }

  /** Returns whether a word has as many bytes as encodings have. */
  boolean has(long word) {
    return (word << shift) >> shift == word;
  }

  /** Returns the encoding of a word, in memory of its own. */
  MemorySegment bytes(long word) {
    MemorySegment buffer = MemorySegment.ofArray(new byte[Long.BYTES]);
    return buffer.asSlice(0, encode(word, buffer));
  }

  /** Returns the least word within bounds that are not empty. */
  long first(Bounds bounds) {
    return bounds.hasFirst() ? word(bounds.first()) : Long.MIN_VALUE;
  }

  /**
   * Returns the greatest word within bounds that are not empty: their end is above a key, so that
   * there is a word below it.
   */
  long last(Bounds bounds) {
    MemorySegment end = bounds.end();
    return end == null ? Long.MAX_VALUE : word(end) - 1;
  }

  private long word(MemorySegment encoding) {
    if (bytes == Long.BYTES) {
      return encoding.get(LONG, 0) ^ Long.MIN_VALUE;
    }
    long left = 0;
    for (int i = 0; i < bytes; i++) {
      left = (left << Byte.SIZE) | Byte.toUnsignedLong(encoding.get(ValueLayout.JAVA_BYTE, i));
    }
    return ((left << shift) ^ Long.MIN_VALUE) >> shift;
  }

  private long fromLeft(MemorySegment buffer) {
    return (buffer.get(LONG, 0) ^ Long.MIN_VALUE) >> shift;
  }
}
