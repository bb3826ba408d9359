package pando.fabric.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
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
  void shouldGivePagesBackThatAreDiscarded() {
    long bytes = 64 << 20;
    long from = 100;
    long end = bytes - (5 << 20) - 100;
    try (NativeMemory memory = NativeMemory.allocate(bytes)) {
      memory.segment().fill((byte) 7);
      long before = SystemMemory.own().residentBytes();
      memory.discard(from, end - from);
      memory.discard(0, 4095); // no page
      memory.discard(bytes - 8192, 8192);
      long after = SystemMemory.own().residentBytes();
      assumeTrue(before > 0);
      assertThat(before - after).isGreaterThan(40 << 20);
      long[] edges = {0, 4096, end / 4096 * 4096, bytes - 8192, bytes};
      for (int i = 0; i < edges.length - 1; i++) {
        MemorySegment part = memory.segment().asSlice(edges[i], edges[i + 1] - edges[i]);
        byte expected = (byte) (i % 2 == 0 ? 7 : 0);
        byte[] all = new byte[(int) part.byteSize()];
        Arrays.fill(all, expected);
        assertThat(part.mismatch(MemorySegment.ofArray(all))).isEqualTo(-1);
      }
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
