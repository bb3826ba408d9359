package pando.index.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FenceSampleTest {
  @Test
  void shouldDivideLeavesWhereThereAreFew() {
    for (int parts = 1; parts <= 64; parts++) {
      for (int leaves = parts; leaves <= 3 * parts; leaves++) {
        FenceSample fences = new FenceSample();
        for (int leaf = 0; leaf < leaves; leaf++) {
          fences.add(10L * leaf);
        }
        int count = parts;
        long[] lows = IntStream.range(0, parts).mapToLong(part -> fences.at(part, count)).toArray();
        assertThat(lows)
            .as("%d leaves, %d parts", leaves, parts)
            .isSorted()
            .doesNotHaveDuplicates();
        assertThat(lows[0]).isZero();
      }
    }
  }

  @Test
  void shouldDivideManyLeavesEvenly() {
    FenceSample fences = new FenceSample();
    int leaves = 1_000_000;
    for (int leaf = 0; leaf < leaves; leaf++) {
      fences.add(leaf);
    }
    for (int part = 0; part < 7; part++) {
      assertThat(fences.at(part, 7)).isBetween(leaves / 7L * part - 100, leaves / 7L * part + 100);
    }
  }
}
