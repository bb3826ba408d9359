package pando.bench.keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.util.Arrays;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import pando.bench.demo.GeoIpFile;
import pando.bench.demo.Location;
import pando.bench.records.Records;

final class KeySetTest {
  private static final int LOADED = 150_000;
  private static final int ALL = 600_000;
  private static final long SEED = 7;

  private static Records records(KeySet set) {
    return set.records(LOADED, SEED);
  }

  private static long[] sorted(Records records, long from, long to) {
    return LongStream.range(from, to).map(records::key).sorted().toArray();
  }

  @ParameterizedTest
  @EnumSource
  void shouldGiveEachRecordAKeyOfItsOwn(KeySet set) {
    long[] keys = sorted(records(set), 0, ALL);
    for (int i = 1; i < ALL; i++) {
      assertThat(keys[i]).isGreaterThan(keys[i - 1]);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldTellTheRecordOfAKey(KeySet set) {
    Records records = records(set);
    for (long record = 0; record < ALL; record++) {
      assertThat(records.record(records.key(record))).isEqualTo(record);
    }
    // More than any run comes to.
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 10_000; i++) {
      long record = random.nextLong(1L << 36);
      assertThat(records.record(records.key(record))).isEqualTo(record);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldTellThatOtherWordsAreNobodysKeys(KeySet set) {
    Records records = records(set);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 100_000; i++) {
      long key = records.key(i);
      assertThat(records.record(key)).isEqualTo(i);
      for (long word : new long[] {key - 1, key + 1, random.nextLong()}) {
        checkRecord(records, word);
      }
    }
    for (long word : new long[] {Long.MIN_VALUE, -1, 0, 1, Long.MAX_VALUE}) {
      checkRecord(records, word);
    }
  }

  /** Checks that what a word is taken for has it as its key. */
  private static void checkRecord(Records records, long word) {
    long record = records.record(word);
    if (record >= 0) {
      assertThat(records.key(record)).isEqualTo(word);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldGiveTheSameKeysForTheSameSeed(KeySet set) {
    Records once = records(set);
    Records again = records(set);
    Records other = set.records(LOADED, SEED + 1);
    long same = 0;
    for (long record = 0; record < LOADED; record++) {
      assertThat(again.key(record)).isEqualTo(once.key(record));
      same += other.key(record) == once.key(record) ? 1 : 0;
    }
    assertThat(same).isLessThan(LOADED / 1_000);
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "DENSE")
  void shouldInsertNewKeysWhereTheLoadedOnesAre(KeySet set) {
    Records records = records(set);
    long[] loaded = sorted(records, 0, LOADED);
    int parts = 16;
    int[] counts = new int[parts];
    for (long record = LOADED; record < 2 * LOADED; record++) {
      int found = Arrays.binarySearch(loaded, records.key(record));
      assertThat(found).as("absent before").isNegative();
      counts[(int) ((-found - 1L) * parts / (LOADED + 1))]++;
    }
    // Six standard deviations of two fair draws.
    for (int count : counts) {
      assertThat(count).isCloseTo(LOADED / parts, within(6 * 135));
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldScatterRecordsOverTheOrderOfKeys(KeySet set) {
    Records records = records(set);
    long[] keys = sorted(records, 0, LOADED);
    int parts = 16;
    int first = LOADED / 10;
    int[] counts = new int[parts];
    for (int record = 0; record < first; record++) {
      int rank = Arrays.binarySearch(keys, records.key(record));
      counts[(int) ((long) rank * parts / LOADED)]++;
    }
    // Five standard deviations of a fair draw.
    for (int count : counts) {
      assertThat(count).isCloseTo(first / parts, within(5 * 30));
    }
  }

  @Test
  void shouldKeepTheUniformKeysThereAlwaysWere() {
    Records records = records(KeySet.UNIFORM);
    Records plain = new Records(SEED);
    for (long record = 0; record < 1_000; record++) {
      assertThat(records.key(record)).isEqualTo(plain.key(record));
    }
    assertThat(new Records(1).key(0)).isEqualTo(0xe220a8397b1dcdafL);
  }

  @Test
  void shouldSpaceSequentialKeysEvenly() {
    for (int loaded : new int[] {1, 2, 3, 1_000, 65_536, LOADED}) {
      long[] keys = sorted(KeySet.SEQUENTIAL.records(loaded, SEED), 0, loaded);
      assertThat(keys[0]).isEqualTo(Long.MIN_VALUE);
      for (int i = 2; i < loaded; i++) {
        assertThat(keys[i] - keys[i - 1]).isEqualTo(keys[1] - keys[0]);
      }
    }
  }

  @Test
  void shouldSpaceSequentialKeysEvenlyWhereNoneAreLoaded() {
    int inserted = 1 << 20;
    long[] keys = sorted(KeySet.SEQUENTIAL.records(0, SEED), 0, inserted);
    for (int i = 1; i < inserted; i++) {
      assertThat(keys[i] - keys[i - 1]).isEqualTo(1L << 44);
    }
  }

  @Test
  void shouldLeaveNoRoomBetweenDenseKeys() {
    for (int loaded : new int[] {0, 1, 1_000, LOADED}) {
      Records records = KeySet.DENSE.records(loaded, SEED);
      long[] keys = sorted(records, 0, loaded);
      for (int i = 0; i < loaded; i++) {
        assertThat(keys[i]).isEqualTo(i);
      }
      for (long record = loaded; record < loaded + 100; record++) {
        assertThat(records.key(record)).isEqualTo(record);
      }
    }
  }

  @Test
  void shouldBeNormal() {
    long[] keys = sorted(records(KeySet.NORMAL), 0, LOADED);
    assertNormal(Arrays.stream(keys).mapToDouble(key -> key).toArray());
  }

  @Test
  void shouldBeLognormal() {
    long[] keys = sorted(records(KeySet.LOGNORMAL), 0, LOADED);
    double[] logs = Arrays.stream(keys).mapToDouble(Math::log).toArray();
    double median = logs[LOADED / 2];
    assertNormal(Arrays.stream(logs).map(log -> log - median).toArray());
    assertThat((logs[LOADED * 5 / 6] - logs[LOADED / 6]) / 2).isCloseTo(1.935, within(0.03));
  }

  /** Checks quantiles in multiples of the interquartile range. */
  private static void assertNormal(double[] sorted) {
    double unit = (sorted[LOADED * 3 / 4] - sorted[LOADED / 4]) / (2 * 0.67448975);
    assertThat(sorted[LOADED / 2] / unit).isCloseTo(0, within(0.02));
    assertThat(sorted[(int) (LOADED * 0.841344746)] / unit).isCloseTo(1, within(0.03));
    assertThat(sorted[(int) (LOADED * 0.022750132)] / unit).isCloseTo(-2, within(0.05));
    assertThat(sorted[(int) (LOADED * 0.998650102)] / unit).isCloseTo(3, within(0.15));
  }

  @Test
  void shouldKnowTheNormalDistribution() {
    assertThat(Normal.quantile(0.5)).isZero();
    assertThat(Normal.quantile(0.975)).isCloseTo(1.959963984540054, within(1e-14));
    assertThat(Normal.quantile(0.025)).isCloseTo(-1.959963984540054, within(1e-14));
    assertThat(Normal.quantile(0.9)).isCloseTo(1.2815515655446004, within(1e-14));
    assertThat(Normal.quantile(1e-6)).isCloseTo(-4.753424308822899, within(1e-13));
    assertThat(Normal.quantile(1e-12)).isCloseTo(-7.034483825301132, within(1e-12));
  }

  @ParameterizedTest
  @EnumSource(names = {"NORMAL", "LOGNORMAL"})
  void shouldAscendWithPlacesEvenWhereTheQuotientsMeet(KeySet set) {
    long places = 1L << 36;
    Quantiles shape =
        switch (set) {
          case NORMAL -> new Quantiles(Normal::quantile, places);
          default -> new Quantiles(p -> StrictMath.exp(2 * Normal.quantile(p)), places);
        };
    // Where the density is greatest, at the ends, and where one formula follows another.
    double[] shares = {0, 0.0227501, 0.075, 0.5, 0.925, Math.exp(-25), 1 - Math.exp(-25), 1};
    for (double share : shares) {
      long middle = Math.clamp((long) (share * places), 1_000, places - 1_000);
      for (long place = middle - 999; place < middle + 1_000; place++) {
        assertThat(shape.key(place)).isGreaterThan(shape.key(place - 1));
        assertThat(shape.place(shape.key(place))).isEqualTo(place);
      }
    }
    assertThat(shape.place(Long.MIN_VALUE)).isNegative();
    assertThat(shape.place(Long.MAX_VALUE)).isNegative();
  }

  @Tag("campaign")
  @Test
  void shouldLoadTheAddressesOfTheDemoFirst() throws IOException {
    int ranges = 385_602;
    assertThat(KeySet.IPV4.defaultRecords(false)).isEqualTo(ranges);
    assertThat(KeySet.IPV4.defaultRecords(true)).isEqualTo(ranges / 2);
    Records records = KeySet.IPV4.records(ranges, SEED);
    long[] keys = sorted(records, 0, ranges);
    assertThat(address(keys[0])).isEqualTo(15_726_992);
    for (long key : keys) {
      assertThat(key << 32).isZero();
    }
    NavigableMap<Long, Long> all = GeoIpFile.readBundled();
    for (long record = ranges; record < 3L * ranges; record++) {
      long address = address(records.key(record));
      assertThat(address).isLessThanOrEqualTo(Location.last(all.floorEntry(address).getValue()));
    }
  }

  private static long address(long key) {
    return (key - Long.MIN_VALUE) >>> 32;
  }

  @Test
  void shouldClusterKeysInRunsOfUnevenSizes() {
    long[] keys = sorted(records(KeySet.CLUSTERED), 0, LOADED);
    int runs = 1;
    int size = 1;
    int largest = 1;
    for (int i = 1; i < LOADED; i++) {
      // A run has at most a seventh of 2^36 keys.
      boolean isFar = keys[i] - keys[i - 1] > 1L << 34;
      runs += isFar ? 1 : 0;
      size = isFar ? 1 : size + 1;
      largest = Math.max(largest, size);
    }
    assertThat(runs).isBetween(1_020, 1_024);
    assertThat(largest).isBetween(LOADED / 9, LOADED / 7);
  }
}
