package pando.map.codec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Comparator;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Keys by a signed number of 1 to 8 bytes in the same order, the key's <i>word</i>. The encoding
 * has the highest byte first and the sign bit flipped. An index with keys of 8 bytes takes the word
 * as it is.
 *
 * <p>{@link KeyCodec#words} makes further ones.
 */
public final class WordCodec<K> implements KeyCodec<K> {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final String name;
  private final int bytes;
  private final int shift;
  private final ToLongFunction<? super K> toWord;
  private final LongFunction<? extends K> fromWord;

  WordCodec(
      String name,
      int bytes,
      ToLongFunction<? super K> toWord,
      LongFunction<? extends K> fromWord) {
    if (bytes < 1 || bytes > Long.BYTES) {
      throw new IllegalArgumentException(
          "words have 1 to 8 bytes: codec=" + name + ", bytes=" + bytes);
    }
    this.name = name;
    this.bytes = bytes;
    this.shift = Long.SIZE - bytes * Byte.SIZE;
    this.toWord = toWord;
    this.fromWord = fromWord;
  }

  /**
   * Returns the word of a key.
   *
   * @throws IllegalArgumentException if it has more than {@link #fixedBytes}
   */
  public long toWord(K key) {
    long word = toWord.applyAsLong(key);
    return shift == 0 ? word : checked(word);
  }

  /**
   * Returns the key of a word.
   *
   * @throws IllegalArgumentException if no key has it
   */
  public K fromWord(long word) {
    return fromWord.apply(shift == 0 ? word : checked(word));
  }

  /** Checks a word of fewer than 8 bytes. */
  private long checked(long word) {
    if (word << shift >> shift != word) {
      throw new IllegalArgumentException(
          "too great a number: codec=" + name + ", word=" + word + ", bytes=" + bytes);
    }
    return word;
  }

  @Override
  public int fixedBytes() {
    return bytes;
  }

  @Override
  public int maxBytes(K key) {
    return bytes;
  }

  @Override
  public int encode(K key, MemorySegment to, long offset) {
    long left = (toWord(key) << shift) ^ Long.MIN_VALUE;
    if (bytes == Long.BYTES) {
      to.set(LONG, offset, left);
    } else {
      for (int i = 0; i < bytes; i++) {
        to.set(
            ValueLayout.JAVA_BYTE, offset + i, (byte) (left >>> (Long.SIZE - Byte.SIZE * (i + 1))));
      }
    }
    return bytes;
  }

  @Override
  public K decode(MemorySegment from, long offset, int length) {
    Encodings.checkLength(this, length);
    long left = 0;
    if (bytes == Long.BYTES) {
      left = from.get(LONG, offset);
    } else {
      for (int i = 0; i < bytes; i++) {
        left = (left << Byte.SIZE) | Encodings.unsigned(from, offset + i);
      }
      left <<= shift;
    }
    return fromWord.apply((left ^ Long.MIN_VALUE) >> shift);
  }

  @Override
  public @Nullable Comparator<? super K> order() {
    return null;
  }

  @Override
  public String toString() {
    return name;
  }
}
