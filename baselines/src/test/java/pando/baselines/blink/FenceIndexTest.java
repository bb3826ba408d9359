package pando.baselines.blink;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.index.Seeds;

@Tag("campaign")
class FenceIndexTest {
  private static final int OPERATIONS = 100_000;

  @ParameterizedTest(name = "seed={0} capacity={1} keys={2}")
  @CsvSource({
    "801, 1,    5",
    "802, 4,    100",
    "803, 63,   1000",
    "804, 64,   1000",
    "805, 65,   200",
    "806, 128,  1000",
    "807, 1000, 3000",
    "808, 5000, 1000000",
  })
  void shouldBehaveLikeTreeMap(long seed, int capacity, int keys) {
    SplittableRandom random = new SplittableRandom(Seeds.of(seed));
    FenceIndex index = new FenceIndex(capacity);
    TreeMap<Long, Integer> model = new TreeMap<>();
    for (int i = 0; i < OPERATIONS; i++) {
      long key = random.nextInt(keys);
      boolean growing = i / 20_000 % 2 == 0;
      if (random.nextInt(10) < (growing ? 7 : 2) && model.size() < capacity) {
        Integer before = model.put(key, i);
        assertThat(index.put(key, i)).isEqualTo(before == null ? FenceIndex.NONE : before);
      } else if (random.nextInt(4) > 0) {
        Map.Entry<Long, Integer> entry = model.ceilingEntry(key);
        if (entry != null) {
          index.remove(entry.getKey(), ~entry.getValue());
          index.remove(entry.getKey(), entry.getValue());
          model.remove(entry.getKey());
        }
      }
      Map.Entry<Long, Integer> expected = model.floorEntry(key);
      assertThat(index.floor(key))
          .isEqualTo(expected == null ? FenceIndex.NONE : expected.getValue());
    }
    index.clear();
    assertThat(index.floor(Long.MAX_VALUE)).isEqualTo(FenceIndex.NONE);
  }

  @Test
  void shouldHaveRoomWhereEveryBlockWasFullOnce() {
    int capacity = 10_000;
    FenceIndex index = new FenceIndex(capacity);
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < capacity; i++) {
        index.put(Long.MIN_VALUE + i * 64L + round, i);
      }
      for (int i = 0; i < capacity; i++) {
        assertThat(index.floor(Long.MIN_VALUE + i * 64L + round)).isEqualTo(i);
        index.remove(Long.MIN_VALUE + i * 64L + round, i);
        if (i % 40 == 0) {
          index.put(Long.MAX_VALUE - i, i);
        }
      }
      for (int i = 0; i < capacity; i += 40) {
        index.remove(Long.MAX_VALUE - i, i);
      }
      assertThat(index.floor(Long.MAX_VALUE)).isEqualTo(FenceIndex.NONE);
    }
  }

  @Test
  void shouldTakeExtremeFences() {
    FenceIndex index = new FenceIndex(4);
    assertThat(index.floor(Long.MAX_VALUE)).isEqualTo(FenceIndex.NONE);
    index.put(Long.MAX_VALUE, 1);
    assertThat(index.floor(Long.MAX_VALUE - 1)).isEqualTo(FenceIndex.NONE);
    index.put(Long.MIN_VALUE, 2);
    assertThat(index.floor(Long.MIN_VALUE)).isEqualTo(2);
    assertThat(index.floor(Long.MAX_VALUE - 1)).isEqualTo(2);
    assertThat(index.floor(Long.MAX_VALUE)).isEqualTo(1);
    index.remove(0, 2);
    assertThat(index.floor(0)).isEqualTo(2);
  }
}
