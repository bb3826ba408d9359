package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import pando.index.Seeds;

/** Keys beside others, and where ranges begin. */
class KeyBoundsTest {
  private static final int LENGTH_MAX = 10;

  private static MemorySegment draw(SplittableRandom random) {
    return MemorySegment.ofArray(ByteKeys.draw(random, LENGTH_MAX));
  }

  /** A key is at or above the first one of a partition key if its own is at or above that. */
  @Test
  void shouldBeginRangesWithTheirLeastKey() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2350));
    assertThat(KeyBounds.first(Long.MIN_VALUE).byteSize()).isZero();
    for (int i = 0; i < 20_000; i++) {
      MemorySegment key = draw(random);
      long low = ByteStrings.partitionKey(draw(random)) + random.nextInt(-1, 2);
      MemorySegment first = KeyBounds.first(low);
      assertThat(ByteStrings.partitionKey(first)).isEqualTo(low);
      assertThat(ByteIndex.compare(key, first) >= 0)
          .isEqualTo(ByteStrings.partitionKey(key) >= low);
    }
  }

  @Test
  void shouldKnowTheGreatestPartitionKeyBelow() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2351));
    for (int i = 0; i < 20_000; i++) {
      MemorySegment key = draw(random);
      if (key.byteSize() > 0) {
        long below = KeyBounds.partitionKeyBelow(key);
        assertThat(ByteIndex.compare(KeyBounds.first(below), key)).isNegative();
        assertThat(
                below == Long.MAX_VALUE || ByteIndex.compare(KeyBounds.first(below + 1), key) >= 0)
            .isTrue();
      }
    }
  }

  @Test
  void shouldHaveNoKeyBetweenAKeyAndTheNext() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2352));
    for (int i = 0; i < 20_000; i++) {
      MemorySegment key = draw(random);
      MemorySegment above = KeyBounds.above(key, LENGTH_MAX);
      if (above == null) {
        assertThat(ByteKeys.bytes(key)).hasSize(LENGTH_MAX).containsOnly(-1);
      } else {
        MemorySegment other = draw(random);
        assertThat(above.byteSize()).isLessThanOrEqualTo(LENGTH_MAX);
        assertThat(ByteIndex.compare(above, other) <= 0)
            .isEqualTo(ByteIndex.compare(key, other) < 0);
      }
    }
  }
}
