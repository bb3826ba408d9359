package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Values that say which key they are of: one in the place of another is found. */
final class KeyedValue {
  private KeyedValue() {}

  /** Draws a value, mostly of some hundred bytes, which are all computed from the first and key. */
  static byte[] draw(SplittableRandom random, byte[] key, int lengthMax) {
    byte[] value = new byte[1 + random.nextInt(lengthMax)];
    random.nextBytes(value);
    fill(value, key);
    return value;
  }

  private static void fill(byte[] value, byte[] key) {
    int each = Arrays.hashCode(key) * 31 + value[0];
    for (int i = 1; i < value.length; i++) {
      each = each * 1_103_515_245 + 12_345;
      value[i] = (byte) (each >> 16);
    }
  }

  /** Checks that a value is a whole one of its key; returns a copy. */
  static byte[] checked(MemorySegment key, MemorySegment value) {
    byte[] found = ByteKeys.bytes(value);
    byte[] expected = new byte[found.length];
    assertThat(found).isNotEmpty();
    expected[0] = found[0];
    fill(expected, ByteKeys.bytes(key));
    assertThat(found).isEqualTo(expected);
    return found;
  }
}
