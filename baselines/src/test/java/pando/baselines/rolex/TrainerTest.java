package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.index.AllocatedBytes;
import pando.index.Seeds;

@Tag("campaign")
@Timeout(300)
class TrainerTest {
  private static final double[] STEPS = {1, 16 / 11.0, 0.25, 3};
  private static final double[] EPSILONS = {16, 1, 0.6, 4, 64};
  private static final int POINTS_MAX = 4_096;
  private static final long NOISE_BYTES_MAX = 4_096;

  private final Trainer trainer = new Trainer(POINTS_MAX);

  @ParameterizedTest
  @EnumSource
  void shouldCoverEveryKeyWithinEpsilon(KeySets set) {
    SplittableRandom random = new SplittableRandom(Seeds.of(11));
    for (int round = 0; round < 20; round++) {
      long[] keys = set.keys(random.nextInt(1, 20_000), random);
      double step = STEPS[random.nextInt(STEPS.length)];
      double epsilon = EPSILONS[random.nextInt(EPSILONS.length)];
      boolean near = random.nextInt(4) > 0;
      int segments = 0;
      for (int from = 0; from < keys.length; segments++) {
        long low = near ? keys[from] : lowBefore(keys[from], random);
        int covered = trainer.fit(low, keys, from, keys.length, step, epsilon);
        check(low, keys, from, covered, step, epsilon);
        // A horizontal line covers that, wherever the low.
        int least = (int) Math.ceil(2 * epsilon * (1 - 0x1p-10) / step);
        assertThat(covered).isGreaterThanOrEqualTo(Math.min(least, keys.length - from));
        from += covered;
      }
      System.out.printf(
          "%s: keys=%d, step=%.3f, epsilon=%.1f, near=%b, segments=%d%n",
          set, keys.length, step, epsilon, near, segments);
    }
  }

  private static long lowBefore(long key, SplittableRandom random) {
    long low = key - (random.nextLong() >>> random.nextInt(64));
    return low > key ? Long.MIN_VALUE : low;
  }

  private void check(long low, long[] keys, int from, int covered, double step, double epsilon) {
    assertThat(covered).isBetween(1, Math.min(keys.length - from, POINTS_MAX));
    long line = trainer.line();
    assertThat(Line.isSound(line)).isTrue();
    double before = Double.NEGATIVE_INFINITY;
    for (int j = 0; j < covered; j++) {
      double at = Line.at(line, low, keys[from + j]);
      if (!(Math.abs(at - j * step) < epsilon) || at < before) {
        assertThat(at).as("key %d of %d", j, covered).isCloseTo(j * step, within(epsilon));
        assertThat(at).as("key %d of %d", j, covered).isGreaterThanOrEqualTo(before);
      }
      before = at;
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldCoverAsManyKeysAsAnyLineCan(KeySets set) {
    SplittableRandom random = new SplittableRandom(Seeds.of(12));
    int fits = 0;
    int shorter = 0;
    int longer = 0;
    for (int round = 0; round < 60; round++) {
      long[] keys = set.keys(random.nextInt(1, 600), random);
      double step = STEPS[random.nextInt(STEPS.length)];
      double epsilon = EPSILONS[random.nextInt(EPSILONS.length)] / 4;
      for (int from = 0; from < keys.length; fits++) {
        int covered = trainer.fit(keys[from], keys, from, keys.length, step, epsilon);
        int best = longest(keys, from, step, epsilon);
        // Where bars just touch, a little less of epsilon may cost more than a key.
        int least = Math.min(best - 1, longest(keys, from, step, epsilon * (1 - 0x1p-11)));
        assertThat(covered).as("round %d, from %d", round, from).isBetween(least, best + 1);
        shorter += covered < best ? 1 : 0;
        longer += covered > best ? 1 : 0;
        from += covered;
      }
    }
    System.out.printf("%s: fits=%d, shorter=%d, longer=%d%n", set, fits, shorter, longer);
    assertThat(shorter + longer).isLessThanOrEqualTo(fits / 10 + 1);
  }

  /**
   * Returns the length of the longest prefix that a line covers. A slope has an intercept that
   * covers two keys if it is between two limits; any two keys, all keys: then the highest lower end
   * and the lowest upper end, as seen along the slope, are those of two keys.
   */
  private static int longest(long[] keys, int from, double step, double epsilon) {
    double flattest = 0;
    double steepest = Double.POSITIVE_INFINITY;
    for (int j = 1; from + j < keys.length; j++) {
      for (int i = 0; i < j; i++) {
        double x =
            Line.distance(keys[from], keys[from + j]) - Line.distance(keys[from], keys[from + i]);
        double y = (j - i) * step;
        if (x > 0) {
          flattest = Math.max(flattest, (y - 2 * epsilon) / x);
          steepest = Math.min(steepest, (y + 2 * epsilon) / x);
        } else if (y >= 2 * epsilon) {
          return j;
        }
      }
      if (flattest >= steepest) {
        return j;
      }
    }
    return keys.length - from;
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, 1000000",
    "-9223372036854775808, 18446744073709, 1000000",
    "-9223372036854775808, 3, 1000000",
    "9223372036844775807, 10, 1000000",
    "17, 1000003, 4096",
    "5, 7, 1"
  })
  void shouldCoverAStraightLineOfAnyLength(long first, long gap, int count) {
    long[] keys = LongStream.range(0, count).map(i -> first + i * gap).toArray();
    Trainer large = new Trainer(count);
    for (double epsilon : new double[] {1, 16}) {
      assertThat(large.fit(first, keys, 0, count, 1, epsilon)).isEqualTo(count);
      double at = Line.at(large.line(), first, keys[count - 1]);
      assertThat(at).isCloseTo(count - 1, within(epsilon));
    }
  }

  @Test
  void shouldBeMonotoneBetweenAndBehindKeys() {
    SplittableRandom random = new SplittableRandom(Seeds.of(13));
    for (KeySets set : KeySets.values()) {
      long[] keys = set.keys(1_000, random);
      trainer.fit(keys[0], keys, 0, keys.length, 1, 16);
      long line = trainer.line();
      double before = Double.NEGATIVE_INFINITY;
      for (long key :
          LongStream.concat(LongStream.of(keys), random.longs(1_000)).sorted().toArray()) {
        if (key >= keys[0]) {
          double at = Line.at(line, keys[0], key);
          assertThat(at).isGreaterThanOrEqualTo(before);
          before = at;
        }
      }
    }
  }

  @Test
  void shouldCoverKeysAtOneDistanceFromAFarLow() {
    long[] keys = LongStream.range(0, 500).map(i -> Long.MAX_VALUE - 499 + i).toArray();

    int covered = trainer.fit(Long.MIN_VALUE, keys, 0, keys.length, 1, 16);

    assertThat(covered).isEqualTo(32);
    check(Long.MIN_VALUE, keys, 0, covered, 1, 16);
  }

  @Test
  void shouldLookAtNoMoreThanItsPoints() {
    long[] keys = LongStream.range(0, 100).toArray();
    Trainer small = new Trainer(10);

    assertThat(small.fit(0, keys, 0, 100, 1, 16)).isEqualTo(10);
    assertThat(small.fit(0, keys, 95, 100, 1, 16)).isEqualTo(5);
    assertThat(small.fit(0, keys, 99, 100, 1, 16)).isEqualTo(1);
    assertThat(small.fit(0, keys, 100, 100, 1, 16)).isZero();
    assertThat(small.line()).isEqualTo(Line.ZERO);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 0, 3, 1, 16",
    "0, -1, 3, 1, 16",
    "0, 2, 1, 1, 16",
    "0, 0, 4, 1, 16",
    "0, 0, 3, 0, 16",
    "0, 0, 3, NaN, 16",
    "0, 0, 3, 1, 0",
    "0, 0, 3, 1, Infinity"
  })
  void shouldRefuseWhatCannotBeFitted(long low, int from, int to, double step, double epsilon) {
    long[] keys = {0, 1, 2};
    assertThatIllegalArgumentException()
        .isThrownBy(() -> trainer.fit(low, keys, from, to, step, epsilon))
        .withMessageContaining("low=" + low)
        .withMessageContaining("epsilon=" + epsilon);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1})
  void shouldRefuseToCoverNothing(int pointsMax) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Trainer(pointsMax))
        .withMessageContaining("pointsMax=" + pointsMax);
  }

  @Test
  void shouldNotAllocate() {
    long[] keys = KeySets.LOGNORMAL.keys(50_000, new SplittableRandom(Seeds.of(14)));
    AllocatedBytes allocated = new AllocatedBytes();
    long min = Long.MAX_VALUE;
    long segments = 0;
    // Goes on until a round has run compiled code alone, without noise.
    for (int round = 0; round < 60 && min >= NOISE_BYTES_MAX; round++) {
      long before = allocated.get();
      for (int from = 0; from < keys.length; segments++) {
        from += trainer.fit(keys[from / 2], keys, from, keys.length, 1, 16);
      }
      min = Math.min(min, allocated.get() - before);
    }
    System.out.println("bytes=" + min + ", segments=" + segments);
    assertThat(min).isLessThan(NOISE_BYTES_MAX);
  }

  /** Information: mean lengths, which the size of a learned index depends on. */
  @Test
  void shouldCoverHundredsOfUniformKeys() {
    long[] keys = KeySets.UNIFORM.keys(2_000_000, new SplittableRandom(Seeds.of(15)));
    for (double step : new double[] {1, 16 / 11.0}) {
      int segments = 0;
      for (int from = 0; from < keys.length; segments++) {
        from += trainer.fit(keys[from], keys, from, keys.length, step, 16);
      }
      double mean = (double) keys.length / segments;
      System.out.printf("step=%.4f, epsilon=16, mean length=%.1f%n", step, mean);
      assertThat(mean).isBetween(100.0, (double) POINTS_MAX);
    }
  }
}
