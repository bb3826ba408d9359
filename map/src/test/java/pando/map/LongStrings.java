package pando.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;
import pando.map.codec.KeyCodec;

/** Numbers as byte strings of 0 to 8 bytes in their order: without the zeros at the end. */
final class LongStrings implements KeyCodec<Long> {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  @Override
  public int fixedBytes() {
    return VARIABLE;
  }

  @Override
  public int maxBytes(Long number) {
    return Long.BYTES;
  }

  @Override
  public int encode(Long number, MemorySegment to, long offset) {
    long bits = number ^ Long.MIN_VALUE;
    to.set(LONG, offset, bits);
    return Long.BYTES - Long.numberOfTrailingZeros(bits) / Byte.SIZE;
  }

  @Override
  public Long decode(MemorySegment from, long offset, int bytes) {
    MemorySegment buffer = MemorySegment.ofArray(new byte[Long.BYTES]);
    MemorySegment.copy(from, offset, buffer, 0, bytes);
    return buffer.get(LONG, 0) ^ Long.MIN_VALUE;
  }

  @Override
  public @Nullable Comparator<? super Long> order() {
    return null;
  }

  @Override
  public String toString() {
    return "longStrings";
  }
}
