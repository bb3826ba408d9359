package pando.durable.holder;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import pando.index.Seeds;

/** A row of bytes beside an array that has them all. */
class ByteRowTest {
  private static final int BYTES_MAX = 200_000;

  @Test
  void shouldKeepBytesAtTheirPlaces() {
    SplittableRandom random = new SplittableRandom(Seeds.of(8101));
    ByteRow row = new ByteRow();
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    long first = 0;
    for (int i = 0; i < 300; i++) {
      byte[] some = new byte[random.nextInt(random.nextBoolean() ? 100 : BYTES_MAX)];
      random.nextBytes(some);
      row.append(MemorySegment.ofArray(some), 0, some.length);
      all.writeBytes(some);
      if (random.nextInt(10) == 0 && row.end() > first) {
        long cut = first + random.nextLong(row.end() - first);
        row.cutBehind(cut);
        byte[] kept = Arrays.copyOf(all.toByteArray(), (int) cut);
        all.reset();
        all.writeBytes(kept);
      }
      if (random.nextInt(3) == 0) {
        first = Math.max(first, first + random.nextLong(-10, row.end() - first + 1));
        row.cutBefore(first);
      }
      assertThat(row.first()).isEqualTo(first);
      assertThat(row.end()).isEqualTo(all.size());
      int length = (int) random.nextLong(row.end() - first + 1);
      byte[] copied = new byte[length];
      long from = first + random.nextLong(row.end() - first - length + 1);
      row.copy(from, MemorySegment.ofArray(copied), 0, length);
      assertThat(copied)
          .isEqualTo(Arrays.copyOfRange(all.toByteArray(), (int) from, (int) from + length));
    }
    row.cutBefore(row.end());
    assertThat(row.memoryBytes()).isLessThanOrEqualTo(1L << 16);
  }
}
