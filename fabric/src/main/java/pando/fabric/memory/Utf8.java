package pando.fabric.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Texts in memory: what a memory server says about a request that it does not serve. */
public final class Utf8 {
  private Utf8() {}

  /**
   * Writes a text, without its end if it is too long.
   *
   * @param bytesMax what there is room for
   * @return length in bytes
   */
  public static int write(String text, MemorySegment to, long offset, int bytesMax) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, bytesMax);
    MemorySegment.copy(bytes, 0, to, ValueLayout.JAVA_BYTE, offset, length);
    return length;
  }

  /** Reads a text. */
  public static String read(MemorySegment from, long offset, int bytes) {
    return new String(
        from.asSlice(offset, bytes).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
  }
}
