package pando.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.KeyBounds;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * The encodings of a map's keys where they are kept: as bounds of views and cursors. Thread-safe.
 *
 * @param codec of the keys
 * @param lengthMax greatest length of an encoding in bytes, and the only one if the codec has one
 */
record KeyBytes<K>(KeyCodec<K> codec, int lengthMax) {
  private static final byte[] NOTHING = {};
  private static final int SHOWN_MAX = 64;

  /**
   * Returns the encoding of a key, in memory of its own.
   *
   * @throws IllegalArgumentException if it is too long
   */
  MemorySegment of(K key) {
    Encoder<K> encoder = new Encoder<>(codec);
    encoder.encode(key);
    if (encoder.length() > lengthMax) {
      throw new IllegalArgumentException(
          "the key is too long: keyBytes=%s, maximum=%s".formatted(encoder.length(), lengthMax));
    }
    return encoder.encoding();
  }

  /**
   * Returns the least bytes at or above some that an encoding can have.
   *
   * @throws IllegalArgumentException if these are longer than encodings
   */
  MemorySegment atOrAbove(byte[] bytes) {
    if (bytes.length > lengthMax) {
      throw new IllegalArgumentException(
          "longer than a key: codec=%s, bytes=%s, keyBytes=%s"
              .formatted(codec, bytes.length, lengthMax));
    }
    return MemorySegment.ofArray(isFixed() ? Arrays.copyOf(bytes, lengthMax) : bytes);
  }

  /** Returns the least encoding that there can be. */
  MemorySegment least() {
    return atOrAbove(NOTHING);
  }

  /** Returns the least bytes above some that an encoding can have; {@code null} if none can. */
  @Nullable MemorySegment above(MemorySegment bytes) {
    MemorySegment above = KeyBounds.above(bytes, lengthMax);
    return above == null ? null : atOrAbove(above.toArray(ValueLayout.JAVA_BYTE));
  }

  /** Returns the key of an encoding as text, for a message; its bytes if it is of no key. */
  String text(@Nullable MemorySegment encoding) {
    if (encoding == null) {
      return "none";
    }
    try {
      K key = codec.decode(encoding, 0, (int) encoding.byteSize());
      if (!(key instanceof byte[])) {
        String text = String.valueOf(key);
        return text.length() <= SHOWN_MAX
            ? text
            : "%s... of %s characters".formatted(text.substring(0, SHOWN_MAX), text.length());
      }
    } catch (RuntimeException ofNoKey) {
      // A view of a prefix has such bounds: their bytes are shown.
    }
    return ByteArguments.text(encoding);
  }

  private boolean isFixed() {
    return codec.fixedBytes() != ValueCodec.VARIABLE;
  }
}
