package pando.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ZipfTest {
  private static final int DRAWS = 2_000_000;

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.5, 0.99, 1, 1.0000001, 1.5, 3})
  void shouldDrawEachRankAsOftenAsItsWeightSays(double theta) {
    int ranks = 50;
    int[] counts = new int[ranks + 1];
    Zipf zipf = new Zipf(ranks, theta);
    SplittableRandom random = new SplittableRandom(42);
    for (int i = 0; i < DRAWS; i++) {
      counts[(int) zipf.next(random)]++;
    }
    double weights = 0;
    for (int rank = 1; rank <= ranks; rank++) {
      weights += Math.pow(rank, -theta);
    }
    double chiSquared = 0;
    for (int rank = 1; rank <= ranks; rank++) {
      double expected = DRAWS * Math.pow(rank, -theta) / weights;
      chiSquared += (counts[rank] - expected) * (counts[rank] - expected) / expected;
    }
    // The 99.9th percentile of chi-squared with 49 degrees of freedom.
    assertThat(chiSquared).isLessThan(85.4);
  }

  @Test
  void shouldBeRightForManyRanks() {
    long ranks = 200_000_000;
    Zipf zipf = new Zipf(ranks, 0.99);
    SplittableRandom random = new SplittableRandom(1);
    int first = 0;
    int firstMillion = 0;
    for (int i = 0; i < DRAWS; i++) {
      long rank = zipf.next(random);
      assertThat(rank).isBetween(1L, ranks);
      first += rank == 1 ? 1 : 0;
      firstMillion += rank <= 1_000_000 ? 1 : 0;
    }
    // From the zeta sums of 200 million and of a million terms; four standard deviations.
    double zeta = zeta((double) ranks);
    assertThat(first / (double) DRAWS).isCloseTo(1 / zeta, within(1 / zeta));
    double share = zeta(1_000_000) / zeta;
    assertThat(firstMillion / (double) DRAWS).isCloseTo(share, within(share));
  }

  @Test
  void shouldKnowASingleRank() {
    assertThat(new Zipf(1, 0.99).next(new SplittableRandom(1))).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(doubles = {-0.1, Double.NaN, Double.POSITIVE_INFINITY})
  void shouldRefuseAThetaThatIsNone(double theta) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Zipf(10, theta))
        .withMessageContaining("theta=" + theta);
  }

  /** The sum of r^-0.99 for r from 1 to n, by the formula of Euler and Maclaurin from 1,000 on. */
  private static double zeta(double n) {
    double sum = 0;
    for (int rank = 1; rank < 1_000; rank++) {
      sum += Math.pow(rank, -0.99);
    }
    return sum
        + (Math.pow(n, 0.01) - Math.pow(1_000, 0.01)) / 0.01
        + (Math.pow(1_000, -0.99) + Math.pow(n, -0.99)) / 2;
  }

  private static org.assertj.core.data.Offset<Double> within(double share) {
    return org.assertj.core.api.Assertions.within(4 * Math.sqrt(share * (1 - share) / DRAWS));
  }
}
