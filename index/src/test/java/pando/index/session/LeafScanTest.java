package pando.index.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

class LeafScanTest {
  private static final KeyRange ALL = new Range(Long.MIN_VALUE, Long.MAX_VALUE);

  private static final int LEAVES_MAX = 3;

  private final Gate.Pass pass = new Gate().pass(GateTest.waiter());

  /** Leaves of which each holds as many entries more than the one before. */
  private static final class GrowingLeaves extends LeafScan {
    private final int growth;
    private int first;
    private int step;

    GrowingLeaves(int growth) {
      super(failure -> Assertions.fail(failure));
      this.growth = growth;
    }

    private long lowOf(int number) {
      return (long) growth * number * (number + 1) / 2;
    }

    @Override
    protected int readLeaves(long from, long to, boolean down, long limit) {
      first = 0;
      while (lowOf(first + 1) <= from) {
        first++;
      }
      step = down ? -1 : 1;
      return down ? Math.min(LEAVES_MAX, first + 1) : LEAVES_MAX;
    }

    private int number(int leaf) {
      return first + step * leaf;
    }

    @Override
    protected long fence(int leaf, boolean down) {
      return down ? lowOf(number(leaf)) : lowOf(number(leaf) + 1) - 1;
    }

    @Override
    protected int entriesMax(int leaf) {
      return growth * (number(leaf) + 1);
    }

    @Override
    protected int copySorted(int leaf, long least, long greatest, long[] keys, long[] values) {
      assertThat(keys).hasSameSizeAs(values).hasSizeGreaterThanOrEqualTo(entriesMax(leaf));
      int count = 0;
      for (long key = fence(leaf, true); key <= fence(leaf, false); key++) {
        if (key >= least && key <= greatest) {
          keys[count] = key;
          values[count++] = -key;
        }
      }
      return count;
    }
  }

  @Test
  void shouldTakeLeavesOfAnySize() {
    LeafScan scan = new GrowingLeaves(5);
    List<Long> keys = new ArrayList<>();
    long visited =
        scan.scan(
            pass,
            ALL,
            3,
            2_000,
            false,
            10_000,
            (key, value) -> {
              assertThat(value).isEqualTo(-key);
              return keys.add(key);
            });
    assertThat(visited).isEqualTo(1_998);
    assertThat(keys).isEqualTo(LongStream.rangeClosed(3, 2_000).boxed().toList());
    assertThat(scan.isDone()).isTrue();
    assertThat(scan.scan(pass, ALL, 2_000, 3, true, 10_000, (key, _) -> keys.removeLast() == key))
        .isEqualTo(1_998);
    assertThat(keys).isEmpty();
  }

  @Test
  void shouldEndAtTheLimitAndWithTheVisitor() {
    LeafScan scan = new GrowingLeaves(5);
    assertThat(scan.scan(pass, ALL, 0, 2_000, false, 77, (key, value) -> true)).isEqualTo(77);
    assertThat(scan.isDone()).isFalse();
    assertThat(scan.scan(pass, ALL, 0, 2_000, false, 77, (key, value) -> key < 50)).isEqualTo(51);
    assertThat(scan.isDone()).isTrue();
    assertThat(scan.scan(pass, ALL, 2_000, 0, true, 77, (key, value) -> true)).isEqualTo(77);
    assertThat(scan.isDone()).isFalse();
    assertThat(scan.scan(pass, ALL, 2_000, 0, true, 77, (key, value) -> key > 1_950)).isEqualTo(51);
    assertThat(scan.isDone()).isTrue();
  }

  /** What a compute server has is read; then another one goes on. */
  @Test
  void shouldEndWhereTheRangeDoes() {
    LeafScan scan = new GrowingLeaves(5);
    KeyRange[] range = {new Range(0, 104)};
    KeyRange own = new Changing(range);
    assertThat(scan.scan(pass, own, 0, 2_000, false, 1_000, (key, value) -> true)).isEqualTo(105);
    assertThat(scan.isDone()).isFalse();
    assertThat(scan.next()).isEqualTo(105);
    assertThat(scan.scan(pass, own, 99, 0, true, 1_000, (key, value) -> true)).isEqualTo(100);
    assertThat(scan.isDone()).isTrue();
    long visited =
        scan.scan(
            pass,
            own,
            0,
            2_000,
            false,
            1_000,
            (key, value) -> {
              range[0] = new Range(1_000, 2_000);
              return true;
            });
    // Those that were read before the range became another one.
    assertThat(visited).isBetween(1L, 100L);
    assertThat(scan.isDone()).isFalse();
    assertThat(scan.next()).isEqualTo(visited);
  }

  private record Range(long low, long high) implements KeyRange {}

  /** A range that becomes another one. */
  private static final class Changing implements KeyRange {
    private final KeyRange[] now;

    Changing(KeyRange[] now) {
      this.now = now;
    }

    @Override
    public long low() {
      return now[0].low();
    }

    @Override
    public long high() {
      return now[0].high();
    }
  }
}
