package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.fabric.PoolFullException;
import pando.index.Pools;
import pando.index.Threads;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** Values that are replaced by others of the same size in a pool that has no room. */
@Timeout(120)
class FullPoolTest {
  private static final int BYTES = 3_000;
  private static final int THREADS = 3;

  private static Fabric pool() {
    return Pools.open(2, 640 << 10, 1);
  }

  private static byte[] bytes(long seed) {
    byte[] bytes = new byte[BYTES];
    new SplittableRandom(seed).nextBytes(bytes);
    return bytes;
  }

  /** Puts values until the pool has no room; returns those that are there. */
  private static NavigableMap<Long, Long> fill(PandoMap<Long, byte[]> map) {
    NavigableMap<Long, Long> seeds = new TreeMap<>();
    Throwable failure = null;
    for (long i = 0; failure == null; i++) {
      long key = i;
      failure = catchThrowable(() -> map.put(key, bytes(key)));
      if (failure == null) {
        seeds.put(key, key);
      }
    }
    assertThat(failure).isInstanceOf(PoolFullException.class);
    assertThat(seeds).hasSizeGreaterThan(50);
    return seeds;
  }

  private static void assertHas(PandoMap<Long, byte[]> map, Map<Long, Long> seeds) {
    assertThat(new ArrayList<>(map.keySet())).isEqualTo(new ArrayList<>(seeds.keySet()));
    seeds.forEach((key, seed) -> assertThat(map.get(key)).isEqualTo(bytes(seed)));
  }

  private static void check(PandoMap<Long, byte[]> map) throws Exception {
    NavigableMap<Long, Long> seeds = fill(map);
    long next = seeds.size();
    try (MapSession<Long, byte[]> session = map.session()) {
      for (Map.Entry<Long, Long> entry : seeds.entrySet()) {
        Long key = entry.getKey();
        byte[] before = bytes(entry.getValue());
        byte[] after = bytes(++next);
        switch ((int) (key % 6)) {
          case 0 -> assertThat(map.put(key, after)).isEqualTo(before);
          case 1 -> assertThat(map.replace(key, after)).isEqualTo(before);
          case 2 -> assertThat(map.replace(key, before, after)).isTrue();
          case 3 -> map.putAll(Map.of(key, after));
          case 4 -> assertThat(session.put(key, after)).isEqualTo(before);
          default -> assertThat(map.compute(key, (_, _) -> after)).isEqualTo(after);
        }
        entry.setValue(next);
      }
    }
    assertHas(map, seeds);
    replaceByThreads(map, seeds);
    assertThatThrownBy(() -> map.put(-1L, bytes(0))).isInstanceOf(PoolFullException.class);
    assertThat(map.replace(0L, bytes(-1), bytes(0))).isFalse();
    assertHas(map, seeds);
    map.headMap(20L).clear();
    seeds.headMap(20L).clear();
    assertThat(map.put(0L, bytes(0))).isNull();
    seeds.put(0L, 0L);
    assertHas(map, seeds);
  }

  private static void replaceByThreads(PandoMap<Long, byte[]> map, Map<Long, Long> seeds)
      throws Exception {
    List<Callable<Void>> threads = new ArrayList<>();
    for (int thread = 0; thread < THREADS; thread++) {
      int number = thread;
      threads.add(() -> {
        for (Map.Entry<Long, Long> entry : seeds.entrySet()) {
          Long key = entry.getKey();
          if (key % THREADS == number) {
            assertThat(map.put(key, bytes(-key))).isEqualTo(bytes(entry.getValue()));
          }
        }
        return null;
      });
    }
    Threads.run(threads);
    seeds.replaceAll((key, _) -> -key);
  }

  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#BLOBS")
  void shouldReplaceValuesBesideAnIndexOfWords(MapUnderTest kind) throws Exception {
    try (OpenMap<Long, byte[]> open =
        OpenMap.of(pool(), kind.system(), KeyCodec.longs(), ValueCodec.byteArrays())) {
      check(open.map());
      open.checkNoOrphans();
    }
  }

  @Test
  void shouldReplaceValuesOfByteStringsByAClient() throws Exception {
    try (OpenMap<Long, byte[]> open =
        OpenMap.ofByteClient(pool(), new LongStrings(), ValueCodec.byteArrays())) {
      check(open.map());
      open.checkNoOrphans();
    }
  }
}
