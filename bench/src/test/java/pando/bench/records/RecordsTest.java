package pando.bench.records;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class RecordsTest {
  private static final int COUNT = 1_000_000;

  private final Records records = new Records(7);

  @Test
  void shouldGiveEachRecordAKeyOfItsOwn() {
    long[] keys = LongStream.range(0, COUNT).map(records::key).sorted().toArray();
    for (int i = 1; i < COUNT; i++) {
      assertThat(keys[i]).isGreaterThan(keys[i - 1]);
    }
  }

  @Test
  void shouldScatterKeysOverTheWholeKeySpace() {
    int[] counts = new int[16];
    LongStream.range(0, COUNT).forEach(record -> counts[(int) (records.key(record) >>> 60)]++);
    // Five standard deviations of a fair draw.
    for (int count : counts) {
      assertThat(count).isBetween(COUNT / 16 - 5 * 242, COUNT / 16 + 5 * 242);
    }
  }

  @Test
  void shouldTellTheRecordOfAKey() {
    for (long record = 0; record < COUNT; record++) {
      assertThat(records.record(records.key(record))).isEqualTo(record);
    }
  }

  @Test
  void shouldGiveOtherKeysForAnotherSeed() {
    Records others = new Records(8);
    long[] keys = LongStream.range(0, COUNT).map(records::key).sorted().toArray();
    long common =
        LongStream.range(0, COUNT)
            .map(others::key)
            .filter(key -> Arrays.binarySearch(keys, key) >= 0)
            .count();
    assertThat(common).isZero();
  }

  @Test
  void shouldTellTheSequenceOfAValue() {
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < COUNT; i++) {
      long key = random.nextLong();
      int sequence = random.nextInt(Integer.MAX_VALUE);
      assertThat(Records.sequence(key, Records.value(key, sequence))).isEqualTo(sequence);
    }
  }

  @Test
  void shouldTellThatNoUpdateWroteAWrongValue() {
    SplittableRandom random = new SplittableRandom(4);
    for (int i = 0; i < 10_000; i++) {
      long key = random.nextLong();
      long torn = Records.value(key, 5) ^ 1L << random.nextInt(64);
      assertThat(Records.sequence(key, torn)).matches(found -> found < 0 || found > 1L << 31);
    }
  }

  @Test
  void shouldComeInOrderForALoad() {
    long[] reported = new long[1];
    SortedRecords sorted = new SortedRecords(records, 200_000, steps -> reported[0] += steps);
    long previous = Long.MIN_VALUE;
    int count = 0;
    while (sorted.next()) {
      assertThat(sorted.key()).isGreaterThan(previous);
      assertThat(records.record(sorted.key())).isBetween(0L, 199_999L);
      assertThat(Records.sequence(sorted.key(), sorted.value())).isZero();
      previous = sorted.key();
      count++;
    }
    assertThat(count).isEqualTo(200_000);
    assertThat(reported[0]).isEqualTo(3 * 65_536);
  }

  @Test
  void shouldSplitIntoPartsInOrder() {
    SortedRecords whole = new SortedRecords(records, 10, _ -> {});
    for (int parts = 1; parts <= 12; parts++) {
      List<SortedRecords> split = new SortedRecords(records, 10, _ -> {}).split(parts);
      assertThat(split).hasSize(parts);
      assertThat(split.stream().flatMapToLong(RecordsTest::keys))
          .containsExactlyElementsOf(keys(whole.split(1).getFirst()).boxed().toList());
    }
  }

  private static LongStream keys(SortedRecords records) {
    LongStream.Builder keys = LongStream.builder();
    while (records.next()) {
      keys.add(records.key());
    }
    return keys.build();
  }
}
