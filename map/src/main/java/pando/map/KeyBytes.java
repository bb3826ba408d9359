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
 * The keys of the index that a map's keys are, where they are kept: as bounds of views and cursors.
 * Such a key is an encoding behind the prefix of the map. Thread-safe.
 *
 * @param codec of the keys
 * @param lengthMax greatest length of an encoding in bytes, and the only one if the codec has one
 * @param space what the map has of the index
 */
record KeyBytes<K>(KeyCodec<K> codec, int lengthMax, KeySpace space) {
  private static final byte[] NOTHING = {};
  private static final int SHOWN_MAX = 64;

  /** Makes what encodes keys behind the prefix. */
  Encoder<K> encoder() {
    return new Encoder<>(codec, space);
  }

  /**
   * Returns a key as one of the index, in memory of its own.
   *
   * @throws IllegalArgumentException if it is too long, or one of those of named maps
   */
  MemorySegment of(K key) {
    Encoder<K> encoder = encoder();
    encoder.encode(key);
    return checked(encoder.encoding());
  }

  /**
   * Checks a key of the index that was encoded, and returns it.
   *
   * @throws IllegalArgumentException if it is too long, or one of those of named maps
   */
  MemorySegment checked(MemorySegment key) {
    int prefix = space.prefixBytes();
    if (key.byteSize() - prefix > lengthMax) {
      throw new IllegalArgumentException(
          "the key is too long: keyBytes=%s, maximum=%s%s"
              .formatted(
                  key.byteSize() - prefix,
                  lengthMax,
                  prefix == 0
                      ? ""
                      : " (a named map has up to %s bytes in front of a key)"
                          .formatted(KeySpace.PREFIX_BYTES_MAX)));
    }
    if (space.isAbove(key)) {
      throw new IllegalArgumentException(
          "keys that begin with nine bytes FF are those of named maps, and a named map can have"
              + " such keys: key="
              + ByteArguments.text(key));
    }
    return key;
  }

  /** Returns the key that a key of the index is. */
  K decode(MemorySegment key) {
    int prefix = space.prefixBytes();
    return codec.decode(key, prefix, (int) key.byteSize() - prefix);
  }

  /**
   * Returns the least key of the index whose encoding is at or above some bytes.
   *
   * @throws IllegalArgumentException if these are longer than encodings
   */
  MemorySegment atOrAbove(byte[] bytes) {
    if (bytes.length > lengthMax) {
      throw new IllegalArgumentException(
          "longer than a key: codec=%s, bytes=%s, keyBytes=%s"
              .formatted(codec, bytes.length, lengthMax));
    }
    return space.with(isFixed() ? Arrays.copyOf(bytes, lengthMax) : bytes);
  }

  /** Returns the least key of the index that there can be. */
  MemorySegment least() {
    return atOrAbove(NOTHING);
  }

  /** Returns the least key of the index above one; {@code null} if there is none. */
  @Nullable MemorySegment above(MemorySegment key) {
    MemorySegment above = KeyBounds.above(space.behindPrefix(key), lengthMax);
    return above == null ? null : atOrAbove(above.toArray(ValueLayout.JAVA_BYTE));
  }

  /** Returns a key of the index as text, for a message; its bytes if it is of no key. */
  String text(@Nullable MemorySegment bytes) {
    if (bytes == null) {
      return "none";
    }
    try {
      K key = decode(bytes);
      if (!(key instanceof byte[])) {
        String text = String.valueOf(key);
        return text.length() <= SHOWN_MAX
            ? text
            : "%s... of %s characters".formatted(text.substring(0, SHOWN_MAX), text.length());
      }
    } catch (RuntimeException ofNoKey) {
      // A view of a prefix has such bounds: their bytes are shown.
    }
    return ByteArguments.text(space.behindPrefix(bytes));
  }

  private boolean isFixed() {
    return codec.fixedBytes() != ValueCodec.VARIABLE;
  }
}
