package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.index.Seeds;

@Tag("campaign")
class LineTest {
  private static final int RANDOM = 200_000;

  @Test
  void shouldGoThroughItsIntercept() {
    long line = Line.of(0.25, -3);

    assertThat(Line.at(line, 100, 100)).isEqualTo(-3);
    assertThat(Line.at(line, 100, 140)).isEqualTo(7);
    assertThat(Line.at(Line.ZERO, Long.MIN_VALUE, Long.MAX_VALUE)).isZero();
    assertThat(line).isEqualTo(0x3E80_0000_C040_0000L);
  }

  @Test
  void shouldRoundDistancesToNearest() {
    SplittableRandom random = new SplittableRandom(Seeds.of(1));
    for (int i = 0; i < RANDOM; i++) {
      long distance = random.nextLong() >>> random.nextInt(64);
      if (random.nextBoolean()) {
        // About where two doubles are equally near.
        distance = (distance & -0x800L) + 0x400 + random.nextInt(-2, 3);
      }
      double expected = new BigInteger(Long.toUnsignedString(distance)).doubleValue();
      assertThat(Line.distance(Long.MIN_VALUE, Long.MIN_VALUE + distance)).isEqualTo(expected);
    }
    assertThat(Line.distance(Long.MIN_VALUE, Long.MAX_VALUE)).isEqualTo(0x1p64);
  }

  @Test
  void shouldNotFall() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2));
    for (int i = 0; i < 2_000; i++) {
      long line = random.nextLong() & Long.MAX_VALUE;
      if (!Line.isSound(line)) {
        continue;
      }
      long low = random.nextLong() >> random.nextInt(64);
      long[] keys = keysFrom(low, random);
      double before = Line.at(line, low, low);
      for (long key : keys) {
        double at = Line.at(line, low, key);
        assertThat(at).isFinite().isGreaterThanOrEqualTo(before);
        before = at;
      }
    }
  }

  private static long[] keysFrom(long low, SplittableRandom random) {
    long[] keys = new long[100];
    for (int i = 0; i < keys.length; i += 2) {
      long key = low + (random.nextLong() >>> random.nextInt(64));
      keys[i] = Math.max(low, key);
      keys[i + 1] = keys[i] == Long.MAX_VALUE ? keys[i] : keys[i] + 1;
    }
    Arrays.sort(keys);
    return keys;
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, true",
    "-0.0, 1, true",
    "1, -5, true",
    "3e38, 3e38, true",
    "-1, 0, false",
    "-1e-30, 0, false",
    "NaN, 0, false",
    "0, NaN, false",
    "Infinity, 0, false",
    "0, Infinity, false",
    "0, -Infinity, false",
    "1e39, 0, false",
    "0, -1e39, false"
  })
  void shouldTellWhetherSound(double slope, double intercept, boolean sound) {
    assertThat(Line.isSound(Line.of(slope, intercept))).isEqualTo(sound);
  }

  @Test
  void shouldNotThrowWhateverTheBytes() {
    SplittableRandom random = new SplittableRandom(Seeds.of(3));
    for (int i = 0; i < RANDOM; i++) {
      long line = random.nextLong() | (random.nextInt(4) == 0 ? 0x7F80_0000_7F80_0000L : 0);
      double at = Line.at(line, random.nextLong(), random.nextLong());
      if (Line.isSound(line)) {
        assertThat(at).as("line=%x", line).isFinite();
      }
    }
  }
}
