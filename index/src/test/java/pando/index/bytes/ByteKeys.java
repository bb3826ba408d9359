package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Byte strings for tests: as segments, as text, and drawn. */
public final class ByteKeys {
  private ByteKeys() {}

  /** Returns a segment of bytes. */
  public static MemorySegment of(byte... bytes) {
    return MemorySegment.ofArray(bytes);
  }

  /** Returns a copy of the bytes of a segment. */
  public static byte[] bytes(MemorySegment segment) {
    return segment.toArray(ValueLayout.JAVA_BYTE);
  }

  /** Draws a key with few different bytes, so that many begin alike, or one of any bytes. */
  public static byte[] draw(SplittableRandom random, int lengthMax) {
    byte[] key = new byte[random.nextInt(random.nextInt(4) == 0 ? 3 : lengthMax + 1)];
    boolean few = random.nextInt(4) > 0;
    for (int i = 0; i < key.length; i++) {
      key[i] = (byte) (few ? "\0/ab\377".charAt(random.nextInt(5)) : random.nextInt());
    }
    return key;
  }

  /** Draws a value whose length is 0 to a number, mostly small. */
  public static byte[] value(SplittableRandom random, int lengthMax) {
    byte[] value = new byte[random.nextInt(1 + random.nextInt(lengthMax + 1))];
    random.nextBytes(value);
    return value;
  }

  /** Compares as an index does; {@code null} stands for no value. */
  public static int compare(byte @Nullable [] one, byte @Nullable [] other) {
    return Arrays.compareUnsigned(one, other);
  }
}
