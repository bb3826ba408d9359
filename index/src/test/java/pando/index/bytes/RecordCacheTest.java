package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import pando.fabric.memory.SystemMemory;

class RecordCacheTest {
  /** Few records in each part take few pages, where huge pages would be most of the cache. */
  @Test
  void shouldTakeMemoryAsItFills() {
    long before = SystemMemory.own().residentBytes();
    assumeThat(before).isPositive();
    try (RecordCache cache = new RecordCache(192 << 20)) {
      RecordCache.Found found = new RecordCache.Found();
      for (int i = 0; i < 2_000; i++) {
        MemorySegment key = MemorySegment.ofArray(("key" + i).getBytes(StandardCharsets.UTF_8));
        long hash = KeyHash.of(key);
        RecordPart part = cache.part(hash);
        assertThat(part.tryLatch()).isTrue();
        part.put(hash, key, key, 0, (int) key.byteSize());
        part.unlatch();
        assertThat(part.find(hash, key, found)).isTrue();
      }
      assertThat(SystemMemory.own().residentBytes() - before).isLessThan(48 << 20);
    }
  }
}
