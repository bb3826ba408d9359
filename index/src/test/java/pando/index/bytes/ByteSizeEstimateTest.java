package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.index.Pools;

class ByteSizeEstimateTest {
  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  @SuppressWarnings("try") // Closed before it is asked once more.
  void shouldEstimateTheNumberOfEntries() {
    ByteOptions options = ByteOptions.defaults().withBlockBytes(512, 32).withCacheBytes(1 << 20);
    try (Fabric fabric = Pools.open(2, 64 << 20, 1);
        ByteIndex index = ByteIndex.create(fabric, options)) {
      assertThat(index.sizeEstimate()).isZero();
      try (ByteSession session = index.session()) {
        session.put(bytes("one"), bytes("value"));
        assertThat(index.sizeEstimate()).isEqualTo(1);
        session.remove(bytes("one"));
        assertThat(index.sizeEstimate()).isZero();
        for (int i = 0; i < 20_000; i++) {
          session.put(bytes("key" + i), bytes("value" + i));
        }
        // The standard error is 2.5 %.
        assertThat(index.sizeEstimate()).isBetween(17_000L, 23_000L);
        assertThat(index.blocks()).isGreaterThan(500);
      }
      index.close();
      assertThatIllegalStateException().isThrownBy(index::sizeEstimate);
    }
  }
}
