package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.index.AllocatedBytes;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * Calls allocate what they return, once warm: nothing, where the value is one that the JVM keeps.
 */
@Timeout(120)
class MapAllocationTest {
  private static final int CALLS = 50_000;
  private static final int ROUNDS_MAX = 60;
  private static final long NOISE_BYTES_MAX = 4_096;

  /** Numbers that are returned, and noise. */
  private static final long RETURNED_BYTES_MAX = 24L * CALLS + NOISE_BYTES_MAX;

  private long sum;

  @Test
  void shouldAllocateOnlyWhatItReturns() {
    try (OpenMap<Long, Long> open = OpenMap.of(SystemUnderTest.DEX)) {
      PandoMap<Long, Long> map = open.map();
      Long[] keys = new Long[100];
      for (int i = 0; i < keys.length; i++) {
        keys[i] = 1_000L * i;
        map.put(keys[i], (long) i);
      }
      measure("get", NOISE_BYTES_MAX, keys, key -> map.get(key));
      measure("replace", NOISE_BYTES_MAX, keys, key -> map.replace(key, 1L));
      measure("put", NOISE_BYTES_MAX, keys, key -> map.put(key, 2L));
      measure("contains", NOISE_BYTES_MAX, keys, key -> map.containsKey(key) ? 1 : 0);
      Long great = 1L << 40;
      measure("put", RETURNED_BYTES_MAX, keys, key -> map.put(key, great));
      measure("get", RETURNED_BYTES_MAX, keys, key -> map.get(key));
      measure("floor", RETURNED_BYTES_MAX, keys, key -> map.floorKey(key));
      try (MapSession<Long, Long> session = map.session()) {
        measure("session's get", RETURNED_BYTES_MAX, keys, key -> session.get(key));
      }
    }
  }

  @Test
  void shouldAllocateNothingForReaders() {
    try (OpenMap<Long, byte[]> open =
            OpenMap.of(SystemUnderTest.DEX, KeyCodec.longs(), ValueCodec.byteArrays());
        MapSession<Long, byte[]> session = open.map().session()) {
      Long[] keys = new Long[100];
      for (int i = 0; i < keys.length; i++) {
        keys[i] = 1_000L * i;
        session.put(keys[i], new byte[3 * i]);
      }
      ValueReader reader = (bytes, offset, length) -> sum += length;
      measure("reader", NOISE_BYTES_MAX, keys, key -> session.get(key, reader) ? 1 : 0);
    }
  }

  /** Goes on until a round has run compiled code alone, without noise. */
  private void measure(String what, long bytesMax, Long[] keys, ToLongFunction<Long> call) {
    AllocatedBytes allocated = new AllocatedBytes();
    long min = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS_MAX && min > bytesMax; round++) {
      long before = allocated.get();
      for (int i = 0; i < CALLS; i++) {
        sum += call.applyAsLong(keys[i % keys.length]);
      }
      min = Math.min(min, allocated.get() - before);
    }
    System.out.println(what + ": bytes=" + min + ", sum=" + sum);
    assertThat(min).as(what).isLessThanOrEqualTo(bytesMax);
  }
}
