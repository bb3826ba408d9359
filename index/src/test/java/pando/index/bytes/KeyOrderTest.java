package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import pando.fabric.memory.KeyOrder;
import pando.index.Seeds;

class KeyOrderTest {
  private final SplittableRandom random = new SplittableRandom(Seeds.of(2810));

  /** Draws bytes that are often alike: of zeros, ones and the greatest. */
  private byte[] draw() {
    byte[] bytes = new byte[random.nextInt(40)];
    for (int i = 0; i < bytes.length; i++) {
      int drawn = random.nextInt(40);
      bytes[i] = (byte) (drawn < 38 ? 0 : drawn == 38 ? 1 : 0xff);
    }
    return bytes;
  }

  @Test
  void shouldOrderPartsOfMemoryAsUnsignedBytes() {
    for (int i = 0; i < 50_000; i++) {
      byte[] one = draw();
      byte[] other = random.nextInt(4) == 0 ? one.clone() : draw();
      int at = random.nextInt(one.length + 1);
      int end = at + random.nextInt(one.length - at + 1);
      int otherAt = random.nextInt(other.length + 1);
      int otherEnd = otherAt + random.nextInt(other.length - otherAt + 1);
      int compared =
          KeyOrder.compare(
              MemorySegment.ofArray(one),
              at,
              end - at,
              MemorySegment.ofArray(other),
              otherAt,
              otherEnd - otherAt);
      int expected = Arrays.compareUnsigned(one, at, end, other, otherAt, otherEnd);
      assertThat(Integer.signum(compared)).isEqualTo(Integer.signum(expected));
    }
  }
}
