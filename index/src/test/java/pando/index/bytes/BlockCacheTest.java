package pando.index.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.orca.OrcaOptions;

/** What the cache of blocks keeps. */
class BlockCacheTest {
  private static MemorySegment key(int i) {
    return MemorySegment.ofArray("key%08d".formatted(i).getBytes(UTF_8));
  }

  /** Blocks come at the end and go at the start, and the cache is never full. */
  @Test
  void shouldNotKeepBlocksThatAreGone() {
    ByteOptions options =
        ByteOptions.defaults()
            .withBlockBytes(256, 16)
            .withCacheBytes(16 << 20)
            .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
    try (Fabric fabric = Pools.open(2, 16 << 20, 2520);
        ByteIndex index = ByteIndex.create(fabric, options);
        ByteSession session = index.session()) {
      MemorySegment value = MemorySegment.ofArray(new byte[16]);
      for (int i = 0; i < 20_000; i++) {
        session.store(key(i), value);
        if (i >= 200) {
          session.discard(key(i - 200));
        }
      }
      assertThat(index.blocks()).isLessThan(100);
      assertThat(index.cache.places()).isLessThan(4 * index.blocks());
      for (int i = 20_000 - 200; i < 20_000; i++) {
        assertThat(session.get(key(i))).isTrue();
      }
    }
  }
}
