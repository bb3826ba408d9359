package pando.map.codec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Comparator;

/** Arrays as they are. */
final class ByteArrayCodec implements KeyCodec<byte[]> {
  @Override
  public int fixedBytes() {
    return VARIABLE;
  }

  @Override
  public int maxBytes(byte[] array) {
    return array.length;
  }

  @Override
  public int encode(byte[] array, MemorySegment to, long offset) {
    MemorySegment.copy(array, 0, to, ValueLayout.JAVA_BYTE, offset, array.length);
    return array.length;
  }

  @Override
  public byte[] decode(MemorySegment from, long offset, int bytes) {
    byte[] array = new byte[bytes];
    MemorySegment.copy(from, ValueLayout.JAVA_BYTE, offset, array, 0, bytes);
    return array;
  }

  @Override
  public Comparator<? super byte[]> order() {
    return Arrays::compareUnsigned;
  }

  @Override
  public String toString() {
    return "byteArrays";
  }
}
