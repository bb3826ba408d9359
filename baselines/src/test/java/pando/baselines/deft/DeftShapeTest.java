package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.index.Seeds;

@Tag("campaign")
class DeftShapeTest {
  private static final int KEYS = 40;

  private static BigInteger big(long key) {
    return BigInteger.valueOf(key);
  }

  /** Returns the part of a key as the contract has it, in numbers that have no end. */
  private static int expectedPart(int parts, int shift, long low, long key) {
    BigInteger quarter = big(key).subtract(big(low)).shiftRight(shift);
    return quarter.min(big(DeftShape.QUARTERS - 1)).intValueExact() * parts / DeftShape.QUARTERS;
  }

  /** Returns a key from {@code low} to {@code high}, both inclusive, however far apart. */
  private static long keyBetween(SplittableRandom random, long low, long high) {
    long key = random.nextLong();
    long span = high - low;
    return span == -1 ? key : low + Long.remainderUnsigned(key, span + 1);
  }

  @Test
  void shouldNumberEveryShapeOnce() {
    boolean[] seen = new boolean[DeftShape.MAX + 1];
    assertThat(DeftShape.of(1, 0)).isEqualTo(DeftShape.WHOLE);
    seen[DeftShape.WHOLE] = true;
    for (int parts = DeftShape.HALVES; parts <= DeftShape.QUARTERS; parts += 2) {
      for (int shift = 0; shift <= DeftShape.SHIFT_MAX; shift++) {
        int shape = DeftShape.of(parts, shift);
        assertThat(DeftShape.parts(shape)).isEqualTo(parts);
        assertThat(seen[shape]).as("parts=%d, shift=%d", parts, shift).isFalse();
        seen[shape] = true;
      }
    }
    assertThat(seen).doesNotContain(false);
    assertThat(DeftShape.parts(DeftShape.WHOLE)).isEqualTo(1);
  }

  @ParameterizedTest(name = "{0} to {1}")
  @CsvSource({
    "-9223372036854775808, 9223372036854775807",
    "-9223372036854775808, -1",
    "-9223372036854775808, -9223372036854775808",
    "-9223372036854775807, 9223372036854775807",
    "0,                    9223372036854775807",
    "9223372036854775807,  9223372036854775807",
    "9223372036854775800,  9223372036854775807",
    "-1,                   0",
    "-1,                   9223372036854775806",
    "7,                    7",
    "-500,                 12345",
  })
  void shouldCoverEveryKeyByOnePart(long low, long high) {
    SplittableRandom random = new SplittableRandom(Seeds.of(902));
    for (int shape = 0; shape <= DeftShape.MAX; shape++) {
      checkParts(random, shape, low, high);
    }
  }

  @Test
  void shouldCoverEveryKeyByOnePartBetweenAnyFences() {
    SplittableRandom random = new SplittableRandom(Seeds.of(903));
    for (int round = 0; round < 300; round++) {
      long one = random.nextLong() >> random.nextInt(Long.SIZE);
      long other = random.nextLong() >> random.nextInt(Long.SIZE);
      for (int shape = 0; shape <= DeftShape.MAX; shape += 7) {
        checkParts(random, shape, Math.min(one, other), Math.max(one, other));
      }
    }
  }

  private static void checkParts(SplittableRandom random, int shape, long low, long high) {
    int parts = DeftShape.parts(shape);
    int shift =
        shape == DeftShape.WHOLE ? 0 : shape <= DeftShape.SHIFT_MAX + 1 ? shape - 1 : shape - 64;
    long from = low;
    int before = -1;
    while (true) {
      int part = DeftShape.partOf(shape, low, from);
      String what = "shape=" + shape + ", low=" + low + ", high=" + high + ", part=" + part;
      long to = DeftShape.highOfPart(shape, low, high, part);
      assertThat(part).as(what).isGreaterThan(before).isLessThan(parts);
      assertThat(DeftShape.lowOfPart(shape, low, part)).as(what).isEqualTo(from);
      assertThat(to).as(what).isBetween(from, high);
      for (int i = 0; i < KEYS; i++) {
        long key = i == 0 ? to : i == 1 ? from : keyBetween(random, from, to);
        assertThat(DeftShape.partOf(shape, low, key)).as("%s, key=%d", what, key).isEqualTo(part);
        assertThat(expectedPart(parts, shift, low, key))
            .as("%s, key=%d", what, key)
            .isEqualTo(part);
      }
      if (to == high) {
        return;
      }
      from = to + 1;
      before = part;
    }
  }
}
