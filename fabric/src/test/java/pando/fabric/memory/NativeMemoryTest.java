package pando.fabric.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class NativeMemoryTest {
  @Test
  void shouldBeZeroedAndAlignedAndCostNothingUntilTouched() {
    // More than this machine may have: only two pages are touched.
    long bytes = 1L << 40;
    try (NativeMemory memory = NativeMemory.allocate(bytes)) {
      MemorySegment segment = memory.segment();
      assertThat(segment.byteSize()).isEqualTo(bytes);
      assertThat(segment.address() % NativeMemory.HUGE_PAGE_BYTES).isZero();
      Words.set(segment, bytes - 8, 77);
      assertThat(Words.get(segment, bytes - 8)).isEqualTo(77);
      assertThat(Words.get(segment, 0)).isZero();
    }
  }

  @Test
  void shouldKeepSmallSizesExact() {
    try (NativeMemory memory = NativeMemory.allocate(100)) {
      assertThat(memory.segment().byteSize()).isEqualTo(100);
      assertThat(memory.segment().address() % 64).isZero();
      assertThatThrownBy(() -> Words.get(memory.segment(), 96))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void shouldForkAndGoItsOwnWay() {
    forkAndDiverge(NativeMemory.forkable(5 << 20));
    forkAndDiverge(NativeMemory.allocate(5 << 20));
    forkAndDiverge(NativeMemory.forkable(100));
  }

  private static void forkAndDiverge(NativeMemory memory) {
    long last = (memory.segment().byteSize() - 8) / 8 * 8;
    try (memory) {
      Words.set(memory.segment(), 0, 1);
      Words.set(memory.segment(), last, 2);
      try (NativeMemory fork = memory.fork();
          NativeMemory sibling = memory.fork()) {
        Words.set(fork.segment(), last, 3);
        assertThat(fork.segment().byteSize()).isEqualTo(memory.segment().byteSize());
        assertThat(Words.get(fork.segment(), 0)).isEqualTo(1);
        assertThat(Words.get(fork.segment(), last)).isEqualTo(3);
        assertThat(Words.get(sibling.segment(), last)).isEqualTo(2);
        assertThat(Words.get(memory.segment(), last)).isEqualTo(2);
      }
    }
  }

  @Test
  void shouldRefuseUseAfterClose() {
    NativeMemory memory = NativeMemory.allocate(4 << 20);
    memory.close();
    memory.close();
    assertThatThrownBy(() -> Words.get(memory.segment(), 0))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldRefuseImpossibleSizes() {
    assertThatThrownBy(() -> NativeMemory.allocate(0)).hasMessageContaining("bytes=0");
    assertThatThrownBy(() -> NativeMemory.allocate(1L << 60))
        .isInstanceOf(NativeMemoryException.class)
        .hasMessageContaining("mmap")
        .hasMessageContaining("ENOMEM")
        .hasMessageContaining("bytes=" + (1L << 60));
    assertThatThrownBy(() -> NativeMemory.allocate(Long.MAX_VALUE))
        .isInstanceOf(NativeMemoryException.class)
        .hasMessageContaining("bytes=" + Long.MAX_VALUE);
  }
}
