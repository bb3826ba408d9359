package pando.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.map.codec.ValueCodec;

/** Numbers as values of 1 to 300 bytes, all of which tell the number. */
final class LongBlobs implements ValueCodec<Long> {
  private static final int BYTES_MAX = 300;

  @Override
  public int fixedBytes() {
    return VARIABLE;
  }

  @Override
  public int maxBytes(Long number) {
    return BYTES_MAX;
  }

  @Override
  public int encode(Long number, MemorySegment to, long offset) {
    if (number >= 0 && number < 4) {
      to.set(ValueLayout.JAVA_BYTE, offset, number.byteValue());
      return 1;
    }
    int bytes = length(number);
    to.asSlice(offset, bytes).fill((byte) Long.hashCode(number));
    to.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, number);
    return bytes;
  }

  private static int length(long number) {
    return Long.BYTES + Math.floorMod(number * 0x9E3779B97F4A7C15L, BYTES_MAX - Long.BYTES);
  }

  @Override
  public Long decode(MemorySegment from, long offset, int bytes) {
    if (bytes == 1) {
      return (long) from.get(ValueLayout.JAVA_BYTE, offset);
    }
    long number = from.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    boolean whole = bytes == length(number);
    for (int i = Long.BYTES; whole && i < bytes; i++) {
      whole = from.get(ValueLayout.JAVA_BYTE, offset + i) == (byte) Long.hashCode(number);
    }
    if (!whole) {
      throw new IllegalArgumentException("no encoding: codec=" + this + ", bytes=" + bytes);
    }
    return number;
  }

  @Override
  public String toString() {
    return "longBlobs";
  }
}
