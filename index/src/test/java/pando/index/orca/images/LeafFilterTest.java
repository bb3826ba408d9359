package pando.index.orca.images;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.index.Seeds;
import pando.index.orca.leaf.LeafLayout;

class LeafFilterTest {
  private static final int LEAVES = 2_000;

  /** Of keys that a full segment does not have, one in 32 may be there: 8 of 255 hashes are. */
  @ParameterizedTest
  @CsvSource({"1, 8", "1, 3", "1000, 8", "4294967296, 8", "-7046029254386353131, 8"})
  void shouldKnowAllKeysAndFewOthers(long step, int used) {
    Random random = new Random(Seeds.of(11));
    LeafFilter filter = new LeafFilter();
    long asked = 0;
    long maybe = 0;
    for (int leaf = 0; leaf < LEAVES; leaf++) {
      long low = random.nextLong();
      filter.clear();
      for (int segment = 0; segment < LeafLayout.SEGMENTS_MAX; segment++) {
        for (int slot = 0; slot < used; slot++) {
          long place = segment * (long) LeafLayout.SLOTS + slot;
          filter.add(low + 2 * place * step, (int) place);
        }
      }
      for (int segment = 0; segment < LeafLayout.SEGMENTS_MAX; segment++) {
        long word = filter.word(segment);
        for (int slot = 0; slot < used; slot++) {
          long key = low + 2 * (segment * (long) LeafLayout.SLOTS + slot) * step;
          assertThat(LeafFilter.mayHave(word, key)).as("key %d", key).isTrue();
          asked++;
          maybe += LeafFilter.mayHave(word, key + step) ? 1 : 0;
        }
      }
    }
    assertThat((double) maybe / asked).isBetween(0.8 * used / 255, 1.2 * used / 255);
  }

  @ParameterizedTest
  @CsvSource({"0", "1", "-1", "9223372036854775807"})
  void shouldTellNothingOfASegmentWithoutKeys(long key) {
    LeafFilter filter = new LeafFilter();
    filter.add(key, 9);
    filter.clear();
    assertThat(LeafFilter.mayHave(filter.word(1), key)).isTrue();
    assertThat(filter.word(1)).isEqualTo(LeafFilter.UNKNOWN);
  }
}
