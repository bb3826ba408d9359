package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import pando.fabric.memory.SystemMemory;

class ByteRecordCacheTest {
  private final ByteRecordCache.Found found = new ByteRecordCache.Found();

  private static MemorySegment key(int number) {
    return MemorySegment.ofArray(("key" + number).getBytes(StandardCharsets.UTF_8));
  }

  private static void put(ByteRecordCache cache, MemorySegment key, MemorySegment value) {
    RecordPart part = cache.part(ByteKeyHash.of(key));
    assertThat(part.tryLatch()).isTrue();
    part.put(ByteKeyHash.of(key), key, value, 0, (int) value.byteSize());
    part.unlatch();
  }

  private boolean has(ByteRecordCache cache, MemorySegment key) {
    long hash = ByteKeyHash.of(key);
    return cache.part(hash).find(hash, key, found);
  }

  /** Few records in each part take few pages, where huge pages would be most of the cache. */
  @Test
  void shouldTakeMemoryAsItFills() {
    long before = SystemMemory.own().residentBytes();
    assumeTrue(before > 0);
    try (ByteRecordCache cache = new ByteRecordCache(192 << 20)) {
      for (int i = 0; i < 2_000; i++) {
        put(cache, key(i), key(i));
        assertThat(has(cache, key(i))).isTrue();
      }
      assertThat(SystemMemory.own().residentBytes() - before).isLessThan(48 << 20);
    }
  }

  @Test
  void shouldGiveMemoryBackWhenItIsCleared() {
    SystemMemory system = SystemMemory.own();
    assumeTrue(system.residentBytes() > 0);
    try (ByteRecordCache cache = new ByteRecordCache(64 << 20)) {
      MemorySegment value = MemorySegment.ofArray(new byte[30_000]);
      for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4_000; i++) { // more than there is room for
          put(cache, key(i), value);
        }
        assertThat(has(cache, key(3_999))).isTrue();
        long filled = system.residentBytes();
        cache.clear(_ -> {});
        assertThat(filled - system.residentBytes()).isGreaterThan(48 << 20);
        for (int i = 0; i < 4_000; i++) {
          assertThat(has(cache, key(i))).isFalse();
        }
      }
    }
  }
}
