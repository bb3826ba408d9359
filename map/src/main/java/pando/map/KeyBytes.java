package pando.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * The encodings of a map's keys where they are kept: as bounds of views and cursors. Thread-safe.
 *
 * @param codec of the keys
 * @param lengthMax greatest length of an encoding in bytes, and the only one if the codec has one
 */
record KeyBytes<K>(KeyCodec<K> codec, int lengthMax) {
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

  /** Returns the least bytes above some that an encoding can have; {@code null} if none can. */
  @Nullable MemorySegment above(MemorySegment bytes) {
    byte[] array = bytes.toArray(ValueLayout.JAVA_BYTE);
    if (array.length < lengthMax) {
      return MemorySegment.ofArray(Arrays.copyOf(array, array.length + 1));
    }
    int place = array.length - 1;
    while (place >= 0 && array[place] == -1) {
      array[place--] = 0;
    }
    if (place < 0) {
      return null;
    }
    array[place]++;
    return MemorySegment.ofArray(isFixed() ? array : Arrays.copyOf(array, place + 1));
  }

  private boolean isFixed() {
    return codec.fixedBytes() != ValueCodec.VARIABLE;
  }
}
