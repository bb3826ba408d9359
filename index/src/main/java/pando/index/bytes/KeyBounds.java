package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.index.Partitioning;

/**
 * Finds the range of a table that has a byte string, the least key above another one, and the keys
 * that are reserved.
 */
public final class KeyBounds {
  private static final byte[] RESERVED = {-1, -1, -1, -1, -1, -1, -1, -1, -1};

  private KeyBounds() {}

  /**
   * Returns the first of the keys that named maps, and doors for what expires, have in byte strings
   * that others share: nine bytes 0xFF, as eight of them are {@link Long#MAX_VALUE}, a usual key.
   * All other keys are below.
   */
  public static MemorySegment reserved() {
    return MemorySegment.ofArray(RESERVED.clone());
  }

  /** Returns whether a key is {@link #reserved} or above. */
  public static boolean isReserved(MemorySegment key) {
    return key.byteSize() >= RESERVED.length
        && MemorySegment.mismatch(
                key, 0, RESERVED.length, MemorySegment.ofArray(RESERVED), 0, RESERVED.length)
            < 0;
  }

  /**
   * Returns the range of a table that a key is in.
   *
   * @param table of byte strings
   */
  public static int rangeOfKey(Partitioning table, MemorySegment key) {
    int range = table.servers() - 1;
    while (range > 0 && ByteIndex.compare(table.fenceOfRange(range), key) > 0) {
      range--;
    }
    return range;
  }

  /**
   * Returns the range of a table that the keys just below one are in.
   *
   * @param table of byte strings
   * @param key {@code null} for the end of all keys
   */
  public static int rangeBelow(Partitioning table, @Nullable MemorySegment key) {
    int range = table.servers() - 1;
    while (key != null && range > 0 && ByteIndex.compare(table.fenceOfRange(range), key) >= 0) {
      range--;
    }
    return range;
  }

  /**
   * Returns the byte string with which the range behind one begins, {@code null} if that is the
   * last one.
   *
   * @param table of byte strings
   */
  public static @Nullable MemorySegment fenceBehind(Partitioning table, int range) {
    return range + 1 < table.servers() ? table.fenceOfRange(range + 1) : null;
  }

  /**
   * Returns the least key above one; {@code null} if there is none.
   *
   * @param lengthMax greatest length of a key
   */
  public static @Nullable MemorySegment above(MemorySegment key, int lengthMax) {
    byte[] bytes = key.toArray(JAVA_BYTE);
    if (bytes.length < lengthMax) {
      return MemorySegment.ofArray(Arrays.copyOf(bytes, bytes.length + 1));
    }
    int last = bytes.length - 1;
    while (last >= 0 && bytes[last] == -1) {
      last--;
    }
    if (last < 0) {
      return null;
    }
    bytes[last]++;
    return MemorySegment.ofArray(Arrays.copyOf(bytes, last + 1));
  }
}
