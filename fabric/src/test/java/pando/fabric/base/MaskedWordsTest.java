package pando.fabric.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Masked atomics, field by field. */
class MaskedWordsTest {
  private static final int BITS = 16;
  private static final long FIELD = (1L << BITS) - 1;
  private static final long BOUNDARIES = 0x8000_8000_8000_8000L;

  private final SplittableRandom random = new SplittableRandom(1);

  @Test
  void shouldAddFieldByField() {
    for (int round = 0; round < 10_000; round++) {
      long word = random.nextLong();
      long addend = random.nextLong();
      long sum = MaskedWords.sum(word, addend, BOUNDARIES);
      for (int shift = 0; shift < Long.SIZE; shift += BITS) {
        long expected = ((word >>> shift) + (addend >>> shift)) & FIELD;
        assertThat((sum >>> shift) & FIELD).isEqualTo(expected);
      }
    }
    assertThat(MaskedWords.sum(-1, 1, 0)).isZero();
  }

  @Test
  void shouldSwapAndCompareUnderMasks() {
    for (int round = 0; round < 10_000; round++) {
      long word = random.nextLong();
      long swap = random.nextLong();
      long mask = random.nextLong();
      long swapped = MaskedWords.swapped(word, swap, mask);
      assertThat(swapped & mask).isEqualTo(swap & mask);
      assertThat(swapped & ~mask).isEqualTo(word & ~mask);
      assertThat(MaskedWords.matches(swapped, swap, mask)).isTrue();
      assertThat(MaskedWords.matches(~swapped, swap, mask)).isEqualTo(mask == 0);
    }
  }
}
