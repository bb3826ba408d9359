package pando.map.codec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Function;

/** Values that functions turn into arrays and back. */
final class FunctionCodec<V> implements ValueCodec<V> {
  private final String name;
  private final Function<? super V, byte[]> encode;
  private final Function<byte[], ? extends V> decode;

  FunctionCodec(
      String name, Function<? super V, byte[]> encode, Function<byte[], ? extends V> decode) {
    this.name = name;
    this.encode = encode;
    this.decode = decode;
  }

  @Override
  public int fixedBytes() {
    return VARIABLE;
  }

  @Override
  public int maxBytes(V value) {
    return encode.apply(value).length;
  }

  @Override
  public int encode(V value, MemorySegment to, long offset) {
    byte[] bytes = encode.apply(value);
    MemorySegment.copy(bytes, 0, to, ValueLayout.JAVA_BYTE, offset, bytes.length);
    return bytes.length;
  }

  @Override
  public V decode(MemorySegment from, long offset, int bytes) {
    byte[] array = new byte[bytes];
    MemorySegment.copy(from, ValueLayout.JAVA_BYTE, offset, array, 0, bytes);
    return decode.apply(array);
  }

  @Override
  public String toString() {
    return name;
  }
}
