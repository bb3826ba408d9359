package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.KeyOrder;
import pando.index.BoundKey;

/** Checks the arguments of a {@link ByteSession}, with the same texts in each kind of them. */
public final class ByteArguments {
  private ByteArguments() {}

  /**
   * Checks the length of a key.
   *
   * @throws IllegalArgumentException if it is above the maximum
   */
  public static void checkKey(MemorySegment key, int maximum) {
    if (key.byteSize() > maximum) {
      throw new IllegalArgumentException(
          "the key is too long: keyBytes=%s, maximum=%s".formatted(key.byteSize(), maximum));
    }
  }

  /**
   * Checks the length of a value.
   *
   * @throws IllegalArgumentException if it is above the maximum
   */
  public static void checkValue(MemorySegment value, int maximum) {
    if (value.byteSize() > maximum) {
      throw new IllegalArgumentException(
          "the value is too long: valueBytes=%s, maximum=%s".formatted(value.byteSize(), maximum));
    }
  }

  /**
   * Checks what a scan is asked for.
   *
   * @param low the lower bound of the range
   * @param high the upper one, {@code null} if it has none
   * @param down whether the scan begins with the upper one
   * @param keyBytesMax greatest length of a key
   * @throws IllegalArgumentException if a bound is too long, the range is reversed, or the limit is
   *     negative
   */
  public static void checkScan(
      MemorySegment low,
      @Nullable MemorySegment high,
      boolean down,
      int keyBytesMax,
      long limit,
      ByteVisitor visitor) {
    checkKey(low, keyBytesMax);
    if (high != null) {
      checkKey(high, keyBytesMax);
      if (KeyOrder.compare(low, high) > 0) {
        throw new IllegalArgumentException(
            "range is reversed: from=%s, to=%s"
                .formatted(text(down ? high : low), text(down ? low : high)));
      }
    }
    Objects.requireNonNull(visitor, "visitor");
    if (limit < 0) {
      throw new IllegalArgumentException("limit is negative: limit=" + limit);
    }
  }

  /**
   * Checks that there is a value for each key.
   *
   * @throws IllegalArgumentException if there are more of them, or fewer
   */
  public static void checkCounts(List<MemorySegment> keys, List<MemorySegment> values) {
    if (keys.size() != values.size()) {
      throw new IllegalArgumentException(
          "not as many values as keys: keys=%s, values=%s".formatted(keys.size(), values.size()));
    }
  }

  /** Returns a copy of some bytes. */
  public static MemorySegment copyOf(MemorySegment bytes) {
    return MemorySegment.ofArray(bytes.toArray(JAVA_BYTE));
  }

  /**
   * Returns bytes in hexadecimal for a message, of more than 32 the first ones, and their number.
   */
  public static String text(MemorySegment bytes) {
    return BoundKey.text(bytes);
  }
}
