package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import pando.fabric.PoolFullException;
import pando.index.bytes.FreshLabels.Gap;

class ByteLabelsTest {
  @Test
  void shouldTakeNoLabelBeyondTheGreatest() {
    FreshLabels labels = new FreshLabels();
    labels.restart(new long[] {Long.MAX_VALUE - 2}, Long.MAX_VALUE - 2, Long.MAX_VALUE);
    assertThat(labels.take()).isEqualTo(Long.MAX_VALUE - 1);
    assertThat(labels.take()).isEqualTo(Long.MAX_VALUE);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(labels::take)
          .isInstanceOf(PoolFullException.class)
          .hasMessageContaining("labels");
    }
  }

  @Test
  void shouldFindGapsAtBothEndsOfAllLabels() {
    long min = Long.MIN_VALUE;
    long max = Long.MAX_VALUE;
    assertThat(Gap.above(new long[0], min, max)).isEqualTo(new Gap(min + 1, max));
    assertThat(Gap.above(new long[] {max}, min, max).isAtLeast(1)).isFalse();
    assertThat(Gap.above(new long[] {5}, 0, 5).isAtLeast(1)).isFalse();
    assertThat(Gap.below(new long[] {min + 1}, min, max).isAtLeast(1)).isFalse();
    assertThat(Gap.below(new long[] {min + 2}, min, max)).isEqualTo(new Gap(min + 1, min + 1));
    assertThat(Gap.below(new long[0], min, min).isAtLeast(1)).isFalse();
    assertThat(Gap.largest(new long[] {min + 1, max}, min, max))
        .isEqualTo(new Gap(min + 2, max - 1));
    assertThat(Gap.largest(new long[0], min, max).isAtLeast(-1L)).isTrue();
    assertThat(new Gap(min + 1, max).middle()).isEqualTo(0);
    // One label more or less moves no bound by one.
    assertThat(new Gap(1_000_003, max).middle()).isEqualTo(new Gap(1_000_005, max).middle());
    assertThat(new Gap(max, max).place(1)).isEqualTo(max);
    assertThatThrownBy(() -> new Gap(max, max).place(2))
        .isInstanceOf(PoolFullException.class)
        .hasMessageContaining("labels=2");
  }
}
