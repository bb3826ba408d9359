package pando.index.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

class LeafScanTest {
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
    assertThat(scan.wasEnded()).isFalse();
    assertThat(scan.scan(pass, 2_000, 3, true, 10_000, (key, _) -> keys.removeLast() == key))
        .isEqualTo(1_998);
    assertThat(keys).isEmpty();
  }

  @Test
  void shouldEndAtTheLimitAndWithTheVisitor() {
    LeafScan scan = new GrowingLeaves(5);
    assertThat(scan.scan(pass, 0, 2_000, false, 77, (key, value) -> true)).isEqualTo(77);
    assertThat(scan.wasEnded()).isFalse();
    assertThat(scan.scan(pass, 0, 2_000, false, 77, (key, value) -> key < 50)).isEqualTo(51);
    assertThat(scan.wasEnded()).isTrue();
    assertThat(scan.scan(pass, 2_000, 0, true, 77, (key, value) -> true)).isEqualTo(77);
    assertThat(scan.wasEnded()).isFalse();
    assertThat(scan.scan(pass, 2_000, 0, true, 77, (key, value) -> key > 1_950)).isEqualTo(51);
    assertThat(scan.wasEnded()).isTrue();
  }
}
