package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import pando.index.Partitioning;
import pando.index.Seeds;

/** Keys beside others, and where ranges begin. */
class KeyBoundsTest {
  private static final int LENGTH_MAX = 10;

  private static MemorySegment draw(SplittableRandom random) {
    return MemorySegment.ofArray(ByteKeys.draw(random, LENGTH_MAX));
  }

  /** Ranges hold what is at or above their fence, and below the next one. */
  @Test
  void shouldFindTheRangesOfKeysAndOfThoseBelow() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2350));
    for (int i = 0; i < 2_000; i++) {
      Partitioning table = drawTable(random);
      for (int range = 1; range < table.servers(); range++) {
        check(table, table.fenceOfRange(range));
      }
      for (int keys = 0; keys < 10; keys++) {
        check(table, draw(random));
      }
      int last = table.servers() - 1;
      assertThat(KeyBounds.rangeBelow(table, null)).isEqualTo(last);
      assertThat(KeyBounds.fenceBehind(table, last)).isNull();
    }
  }

  private static Partitioning drawTable(SplittableRandom random) {
    NavigableSet<byte[]> fences = new TreeSet<>(Arrays::compareUnsigned);
    fences.add(new byte[0]);
    for (int more = random.nextInt(5); more > 0; more--) {
      fences.add(ByteKeys.draw(random, LENGTH_MAX));
    }
    return Partitioning.equalWidth(fences.size())
        .withFences(fences.stream().map(ByteKeys::of).toList());
  }

  private static void check(Partitioning table, MemorySegment key) {
    int range = KeyBounds.rangeOfKey(table, key);
    MemorySegment behind = KeyBounds.fenceBehind(table, range);
    assertThat(ByteIndex.compare(table.fenceOfRange(range), key)).isNotPositive();
    assertThat(behind == null || ByteIndex.compare(key, behind) < 0).isTrue();
    boolean isFirst = range > 0 && ByteIndex.compare(table.fenceOfRange(range), key) == 0;
    assertThat(KeyBounds.rangeBelow(table, key)).isEqualTo(isFirst ? range - 1 : range);
  }

  @Test
  void shouldRefuseFencesThatDoNotAscendFromTheEmptyOne() {
    MemorySegment empty = ByteKeys.of();
    MemorySegment low = ByteKeys.of((byte) 1, (byte) 0);
    MemorySegment high = ByteKeys.of((byte) 1, (byte) 0, (byte) 0);
    Partitioning table = Partitioning.equalWidth(3);
    assertThat(table.withFences(List.of(empty, low, high)).hasFences()).isTrue();
    for (List<MemorySegment> fences :
        List.of(
            List.of(empty, high, low),
            List.of(empty, low, low),
            List.of(empty, empty, low),
            List.of(low, high, ByteKeys.of((byte) 2)),
            List.of(empty, low))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> table.withFences(fences))
          .withMessageContaining("fences");
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
