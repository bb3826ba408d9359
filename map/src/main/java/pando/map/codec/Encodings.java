package pando.map.codec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** What codecs share: single bytes, and what is wrong with an encoding. */
final class Encodings {
  private Encodings() {}

  /** Returns a byte as a number of 0 to 255. */
  static int unsigned(MemorySegment from, long offset) {
    return Byte.toUnsignedInt(from.get(ValueLayout.JAVA_BYTE, offset));
  }

  static void set(MemorySegment to, long offset, int unsigned) {
    to.set(ValueLayout.JAVA_BYTE, offset, (byte) unsigned);
  }

  /**
   * Checks the length of an encoding that has always the same.
   *
   * @throws IllegalArgumentException if it is another
   */
  static void checkLength(ValueCodec<?> codec, int bytes) {
    if (bytes != codec.fixedBytes()) {
      throw new IllegalArgumentException(
          "an encoding of another length: codec=%s, bytes=%s, fixedBytes=%s"
              .formatted(codec, bytes, codec.fixedBytes()));
    }
  }

  /** Returns the exception for bytes that encode nothing, seen at a place of the encoding. */
  static IllegalArgumentException malformed(ValueCodec<?> codec, String reason, long place) {
    return new IllegalArgumentException(
        "no encoding: codec=%s, reason=%s, place=%s".formatted(codec, reason, place));
  }

  /**
   * Returns the greatest length of an encoding as a number of 31 bits.
   *
   * @throws IllegalArgumentException if it has more
   */
  static int maxBytes(ValueCodec<?> codec, long bytes) {
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("too long: codec=" + codec + ", maxBytes=" + bytes);
    }
    return (int) bytes;
  }
}
