package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import pando.index.Seeds;

@Tag("campaign")
class ModelTableTest {
  private static final int STEPS = 20_000;
  private static final int BOUNDARIES = 200;
  private static final long WIDTH = 1L << 56;

  private final ModelTable table = new ModelTable();

  private static long boundary(int number) {
    return Long.MIN_VALUE + number * WIDTH;
  }

  private static long highOf(int end) {
    return end == BOUNDARIES ? Long.MAX_VALUE : boundary(end) - 1;
  }

  /** Makes a page of the models from a boundary to another. */
  private static ModelPage page(int from, int end, long address) {
    ModelArrays models = new ModelArrays(end - from);
    for (int i = from; i < end; i++) {
      models.add(boundary(i), address | 1, Line.ZERO, 0);
    }
    return new ModelPage(address, 0, highOf(end), 0, models);
  }

  /** The table against pages in a map, which pages in a row replace wherever they start. */
  @Test
  void shouldTakePagesInPlaceOfWhatWasKnown() {
    SplittableRandom random = new SplittableRandom(Seeds.of(1401));
    NavigableMap<Long, ModelPage> pages = new TreeMap<>();
    ModelView found = new ModelView(16, 16);
    for (int step = 1; step <= STEPS; step++) {
      if (random.nextInt(20) == 0 && !pages.isEmpty()) {
        @Nullable ModelPage dropped = table.pageOf(random.nextLong());
        if (dropped != null) {
          table.drop(dropped);
          pages.values().removeIf(page -> page.address == dropped.address);
        }
      } else {
        install(pages, random, step);
      }
      long key = random.nextBoolean() ? random.nextLong() : boundary(random.nextInt(BOUNDARIES));
      Map.@Nullable Entry<Long, ModelPage> expected = pages.floorEntry(key);
      assertThat(table.pageOf(key)).isSameAs(expected == null ? null : expected.getValue());
      boolean known = expected != null && expected.getValue().covers(key);
      assertThat(table.find(key, found)).isEqualTo(known);
      if (known) {
        assertThat(found.low).isLessThanOrEqualTo(key);
        assertThat(found.high).isGreaterThanOrEqualTo(key).isEqualTo(found.low - 1 + WIDTH);
        assertThat(found.run()).isEqualTo(expected.getValue().address);
      }
    }
    table.clear();
    assertThat(table.bytes()).isZero();
    assertThat(table.find(0, found)).isFalse();
  }

  private void install(NavigableMap<Long, ModelPage> pages, SplittableRandom random, int step) {
    List<ModelPage> read = new ArrayList<>();
    int from = random.nextInt(BOUNDARIES - 20);
    int count = random.nextInt(4);
    for (int i = 0; i < count; i++) {
      int end = from + random.nextInt(1, 5);
      read.add(page(from, end, (step * 4L + i) << 6));
      from = end;
    }
    table.install(read);
    if (!read.isEmpty()) {
      pages.subMap(read.getFirst().low, true, read.getLast().high, true).clear();
      read.forEach(page -> pages.put(page.low, page));
    }
  }

  @Test
  void shouldFindTheLastThatIsNotAbove() {
    SplittableRandom random = new SplittableRandom(Seeds.of(1402));
    for (KeySets keySet : KeySets.values()) {
      for (int count : new int[] {1, 2, 17, 1_000, 20_000}) {
        long[] smallest = keySet.keys(count, random);
        UpperModel upper = new UpperModel(smallest);
        for (int i = 0; i < 2_000; i++) {
          long near = smallest[random.nextInt(smallest.length)] + random.nextInt(-1, 2);
          long key = random.nextInt(4) == 0 ? random.nextLong() : near;
          int at = Arrays.binarySearch(smallest, key);
          int expected = at >= 0 ? at : -at - 2;
          assertThat(upper.find(key)).as("%s key=%d", keySet, key).isEqualTo(expected);
        }
      }
    }
  }
}
