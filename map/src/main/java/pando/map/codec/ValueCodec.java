package pando.map.codec;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.Function;

/**
 * Values as bytes. Values are equal if their encodings are, and decoding accepts what encoding
 * makes, and nothing else. Every {@link KeyCodec} is a codec of values as well.
 *
 * <p>Implementations are thread-safe, use no map while they encode or decode, and have a name as
 * {@link Object#toString}, which messages quote. Those of this package allocate nothing when they
 * encode; decoding allocates what it returns, and for text one array of the encoding's length.
 *
 * @param <V> values; {@code null} is none
 */
public interface ValueCodec<V> {
  /** What {@link #fixedBytes} returns if encodings differ in length. */
  int VARIABLE = -1;

  /** Returns the length of every encoding in bytes, or {@link #VARIABLE}. */
  int fixedBytes();

  /**
   * Returns a number of bytes that the encoding of a value has at the most. It costs little: text,
   * for example, is not read for it.
   *
   * @throws IllegalArgumentException if it is above {@link Integer#MAX_VALUE}
   */
  int maxBytes(V value);

  /**
   * Writes the encoding of a value. What lies behind it, up to {@link #maxBytes}, may be
   * overwritten; after an exception all of that may be.
   *
   * @return its length in bytes
   * @throws IllegalArgumentException if the value has no encoding
   * @throws IndexOutOfBoundsException if there is no room for it
   */
  int encode(V value, MemorySegment to, long offset);

  /**
   * Returns the value of an encoding. What it throws hides no change: see {@link
   * pando.map.PandoMap}.
   *
   * @param bytes length of the encoding
   * @throws IllegalArgumentException if these bytes are the encoding of no value
   * @throws IndexOutOfBoundsException if the segment has no such bytes
   */
  V decode(MemorySegment from, long offset, int bytes);

  /**
   * Returns the name of the codec, which is stored with a {@linkplain pando.map.Pando#map(String,
   * pando.map.codec.KeyCodec, ValueCodec) named map}: codecs of one name have the same encodings,
   * in each version of a program. Default: {@link Object#toString}, or the name of the class if
   * that has no such method.
   */
  default String name() {
    String text = toString();
    String ofObject = getClass().getName() + "@" + Integer.toHexString(hashCode());
    return text.equals(ofObject) ? getClass().getName() : text;
  }

  /** Numbers in 8 bytes. */
  static ValueCodec<Long> longs() {
    return KeyCodec.longs();
  }

  /** Any strings, in 1 to 3 bytes for each {@code char}. */
  static ValueCodec<String> strings() {
    return KeyCodec.strings();
  }

  /** Arrays as they are. Decoding returns a new one; two are equal if their bytes are. */
  static ValueCodec<byte[]> byteArrays() {
    return KeyCodec.byteArrays();
  }

  /**
   * Values that functions turn into arrays and back.
   *
   * @param name what messages and named maps call the codec
   * @param encode returns the same bytes for equal values
   * @param decode throws {@link IllegalArgumentException} for bytes that {@code encode} never
   *     returns
   */
  static <V> ValueCodec<V> of(
      String name, Function<? super V, byte[]> encode, Function<byte[], ? extends V> decode) {
    return new FunctionCodec<>(
        Objects.requireNonNull(name, "name"),
        Objects.requireNonNull(encode, "encode"),
        Objects.requireNonNull(decode, "decode"));
  }
}
