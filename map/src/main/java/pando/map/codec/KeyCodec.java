package pando.map.codec;

import java.time.Instant;
import java.time.LocalDate;
import java.util.Comparator;
import java.util.Objects;
import java.util.UUID;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Keys as bytes that keep their order: encodings, compared byte by byte as unsigned numbers, and a
 * shorter one before what begins with it, are in the order of the keys.
 *
 * @param <K> keys; {@code null} is none
 */
public interface KeyCodec<K> extends ValueCodec<K> {
  /** Returns the order of keys; {@code null} if it is their natural one. */
  @Nullable Comparator<? super K> order();

  /** Numbers in 8 bytes. */
  static WordCodec<Long> longs() {
    return Codecs.LONGS;
  }

  /** Numbers in 4 bytes. */
  static WordCodec<Integer> ints() {
    return Codecs.INTS;
  }

  /** Numbers in 2 bytes. */
  static WordCodec<Short> shorts() {
    return Codecs.SHORTS;
  }

  /** Numbers in a byte. */
  static WordCodec<Byte> bytes() {
    return Codecs.BYTES;
  }

  /** UTF-16 units in 2 bytes. */
  static WordCodec<Character> chars() {
    return Codecs.CHARS;
  }

  /** {@code false}, then {@code true}, in a byte. */
  static WordCodec<Boolean> booleans() {
    return Codecs.BOOLEANS;
  }

  /**
   * Numbers in 8 bytes, in the order of {@link Double#compareTo}: -0.0 below 0.0, and NaN, of which
   * there is one, above all.
   */
  static WordCodec<Double> doubles() {
    return Codecs.DOUBLES;
  }

  /** As {@link #doubles}, in 4 bytes. */
  static WordCodec<Float> floats() {
    return Codecs.FLOATS;
  }

  /**
   * Any strings, in the order of {@link String#compareTo}, which compares UTF-16 units: 1 to 3
   * bytes for each (CESU-8). This is UTF-8 for text without characters above U+FFFF.
   */
  static KeyCodec<String> strings() {
    return Codecs.STRINGS;
  }

  /**
   * Strings as UTF-8, in the order of their code points, which is not the natural one: U+FFEE comes
   * before U+1F600. Refuses strings with surrogates that are not in pairs.
   */
  static KeyCodec<String> utf8() {
    return Codecs.UTF8;
  }

  /** UUIDs in 16 bytes, in the order of {@link UUID#compareTo}: two halves with signs. */
  static KeyCodec<UUID> uuids() {
    return Codecs.UUIDS;
  }

  /** UUIDs in 16 bytes, in the order of their text, as RFC 9562 has it: without signs. */
  static KeyCodec<UUID> uuidsUnsigned() {
    return Codecs.UUIDS_UNSIGNED;
  }

  /**
   * Arrays as they are, in the order of {@link java.util.Arrays#compareUnsigned(byte[], byte[])}.
   */
  static KeyCodec<byte[]> byteArrays() {
    return Codecs.BYTE_ARRAYS;
  }

  /** Instants in 12 bytes. */
  static KeyCodec<Instant> instants() {
    return Codecs.INSTANTS;
  }

  /** Dates in 5 bytes. */
  static WordCodec<LocalDate> localDates() {
    return Codecs.LOCAL_DATES;
  }

  /** Constants by their ordinal numbers, in 2 bytes. */
  static <E extends Enum<E>> WordCodec<E> enums(Class<E> type) {
    return Codecs.enums(type);
  }

  /**
   * Keys of any class, by a number in the same order.
   *
   * @param name what messages and named maps call the codec
   * @param bytes length of an encoding, 1 to 8
   * @param toWord returns the number of a key: signed, of as many bytes; the same for equal keys
   *     alone
   * @param fromWord returns the key of a number; throws {@link IllegalArgumentException} if there
   *     is none
   * @throws IllegalArgumentException if {@code bytes} is out of range
   */
  static <K extends Comparable<? super K>> WordCodec<K> words(
      String name,
      int bytes,
      ToLongFunction<? super K> toWord,
      LongFunction<? extends K> fromWord) {
    return new WordCodec<>(
        Objects.requireNonNull(name, "name"),
        bytes,
        Objects.requireNonNull(toWord, "toWord"),
        Objects.requireNonNull(fromWord, "fromWord"));
  }

  /**
   * Tuples of as many parts, in the order of the first part, then of the second, and so on. Parts
   * of any length are escaped, so that the order is that of the parts in any case.
   *
   * @param parts one for each part, at least one
   * @throws IllegalArgumentException if there is none
   */
  static TupleCodec tuple(KeyCodec<?>... parts) {
    return new TupleCodec(parts);
  }
}
