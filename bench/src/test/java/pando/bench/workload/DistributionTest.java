package pando.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import pando.bench.records.Mix;

final class DistributionTest {
  private static final int RECORDS = 100_000;
  private static final int DRAWS = 3_000_000;

  @Test
  void shouldGiveEveryRankItsOwnRecordIfZipfian() {
    int[] counts = draw(Distribution.ZIPFIAN, 0.99);
    assertThat(counts[0]).isGreaterThan(counts[1]);
    assertThat(counts[1]).isGreaterThan(counts[10]);
    // 0.5 is flat enough for every record to come up.
    assertThat(Arrays.stream(draw(Distribution.ZIPFIAN, 0.5)).filter(count -> count == 0))
        .isEmpty();
  }

  @Test
  void shouldNeverAskForOneRecordInEOverallIfZipfianDex() {
    BitSet asked = new BitSet(RECORDS);
    for (long rank = 1; rank <= RECORDS; rank++) {
      asked.set((int) Long.remainderUnsigned(Mix.mix(rank), RECORDS));
    }
    assertThat(1 - asked.cardinality() / (double) RECORDS).isCloseTo(1 / Math.E, within(0.005));

    int[] counts = draw(Distribution.ZIPFIAN_DEX, 0.5);
    for (int record = 0; record < RECORDS; record++) {
      assertThat(counts[record] > 0).isEqualTo(asked.get(record));
    }
  }

  @Test
  void shouldPutTheHottestRecordOfZipfianDexAnywhere() {
    int[] counts = draw(Distribution.ZIPFIAN_DEX, 0.99);
    int hottest = Arrays.stream(counts).max().orElseThrow();
    assertThat(counts[(int) Long.remainderUnsigned(Mix.mix(1), RECORDS)]).isEqualTo(hottest);
    assertThat(hottest / (double) DRAWS).isCloseTo(1 / 12.8, within(0.005));
  }

  @Test
  void shouldBeFlatIfUniform() {
    int[] counts = draw(Distribution.UNIFORM, 0.99);
    // Poisson with a mean of 30: below 5 or above 70 once in a million records.
    for (int count : counts) {
      assertThat(count).isBetween(5, 70);
    }
  }

  @Test
  void shouldDrawTheNewestMostIfLatest() {
    int[] loaded = draw(Distribution.LATEST, 0.99);
    assertThat(loaded[RECORDS - 1]).isGreaterThan(loaded[RECORDS - 2]);
    assertThat(loaded[RECORDS - 2]).isGreaterThan(loaded[RECORDS - 10]);
    assertThat(loaded[RECORDS - 1] / (double) DRAWS).isCloseTo(1 / 12.8, within(0.005));

    Distribution.Draw draw = Distribution.LATEST.over(RECORDS, 0.99);
    // More than a first array holds.
    long inserts = 100_000;
    for (long record = 0; record < inserts; record++) {
      draw.onInserted(RECORDS + 2 * record);
    }
    SplittableRandom random = new SplittableRandom(5);
    int newest = 0;
    for (int i = 0; i < DRAWS; i++) {
      long record = draw.next(random);
      assertThat(record < RECORDS ? 0 : record % 2).as("record %d", record).isZero();
      newest += record == RECORDS + 2 * (inserts - 1) ? 1 : 0;
    }
    assertThat(newest / (double) DRAWS).isCloseTo(1 / 12.8, within(0.005));
  }

  private static int[] draw(Distribution distribution, double theta) {
    Distribution.Draw draw = distribution.over(RECORDS, theta);
    SplittableRandom random = new SplittableRandom(5);
    int[] counts = new int[RECORDS];
    for (int i = 0; i < DRAWS; i++) {
      counts[(int) draw.next(random)]++;
    }
    return counts;
  }
}
