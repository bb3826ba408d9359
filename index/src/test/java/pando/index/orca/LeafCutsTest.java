package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.index.Seeds;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.LeafPacker;

/** How records are cut into leaves. */
class LeafCutsTest {
  private static final int KEYS = 900;

  @ParameterizedTest
  @CsvSource({"512, 1000", "512, 1000000000000", "4096, 1000", "4096, 1000000000000"})
  void shouldCoverAllKeysOnce(int leafBytes, long gap) {
    OrcaOptions options = OrcaOptions.defaults().withNodeBytes(leafBytes);
    LeafCuts cuts = new LeafCuts(new LeafPacker(), options);
    SplittableRandom random = new SplittableRandom(Seeds.of(2701));
    for (int round = 0; round < 500; round++) {
      long[] keys = keys(random, gap);
      int from = random.nextInt(10);
      int to = from + 8 + random.nextInt(Math.min(KEYS - 20, 8 * options.recordsMax()));
      long low = keys[from] - random.nextLong(2);
      long high = keys[to - 1] + random.nextLong(2);
      Pieces pieces = new Pieces(64);
      cuts.cut(keys, from, to, low, high, pieces);
      check(options, pieces, keys, from, to, low, high);
      pieces.clear();
      cuts.cutFull(keys, from, to, low, high, pieces);
      check(options, pieces, keys, from, to, low, high);
    }
  }

  private static long[] keys(SplittableRandom random, long gap) {
    long[] keys = new long[KEYS];
    keys[0] = random.nextLong(Long.MIN_VALUE / 2, Long.MAX_VALUE / 2);
    for (int i = 1; i < KEYS; i++) {
      keys[i] = keys[i - 1] + 1 + random.nextLong(gap);
    }
    return keys;
  }

  private static void check(
      OrcaOptions options, Pieces pieces, long[] keys, int from, int to, long low, long high) {
    int next = from;
    long bound = low;
    for (int i = 0; i < pieces.count; i++) {
      assertThat(pieces.from[i]).isEqualTo(next);
      assertThat(pieces.low[i]).isEqualTo(bound).isLessThanOrEqualTo(keys[next]);
      assertThat(pieces.records[i]).isBetween(1, options.recordsMax());
      assertThat(pieces.segments[i]).isBetween(1, options.segmentsMax());
      next += pieces.records[i];
      bound = pieces.high[i] + 1;
      assertThat(pieces.high[i]).isGreaterThan(pieces.low[i]);
      assertThat(pieces.high[i]).isGreaterThanOrEqualTo(keys[next - 1]);
    }
    assertThat(next).isEqualTo(to);
    assertThat(bound - 1).isEqualTo(high);
  }

  /** The last leaf covers all keys up to the greatest, and has wider heads for that. */
  @Test
  void shouldFillAllButTheLastTwoAtTheEndOfTheIndex() {
    OrcaOptions options = OrcaOptions.defaults();
    LeafCuts cuts = new LeafCuts(new LeafPacker(), options);
    long[] keys = LongStream.range(0, 300).toArray();
    Pieces pieces = new Pieces(64);
    cuts.cutFull(keys, 0, keys.length, 0, Long.MAX_VALUE, pieces);
    assertThat(pieces.count).isEqualTo(3);
    assertThat(pieces.records[0]).isEqualTo(options.recordsMax());
    assertThat(pieces.records[1]).isEqualTo(keys.length - options.recordsMax() - LeafLayout.SLOTS);
    assertThat(pieces.records[2]).isEqualTo(LeafLayout.SLOTS);
  }

  @ParameterizedTest
  @CsvSource({"512, 20", "512, 23", "512, 100", "4096, 229", "4096, 300", "4096, 900"})
  void shouldFillAllLeavesButTheLast(int leafBytes, int records) {
    OrcaOptions options = OrcaOptions.defaults().withNodeBytes(leafBytes);
    long[] keys = LongStream.range(0, records).toArray();
    Pieces pieces = new Pieces(64);
    LeafCuts cuts = new LeafCuts(new LeafPacker(), options);
    cuts.cutFull(keys, 0, records, 0, records, pieces);
    int max = options.recordsMax();
    assertThat(pieces.count).isEqualTo((records + max - 1) / max);
    for (int i = 0; i < pieces.count - 1; i++) {
      assertThat(pieces.records[i]).isGreaterThanOrEqualTo(max * 7 / 8);
    }
  }
}
