package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.local.LocalPool;
import pando.index.IndexOptions;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** What a map has flushed is there when the process is lost. */
@Timeout(60)
class FlushTest {
  private static final int OPERATIONS = 2_000;

  private LocalPool pool;

  @BeforeEach
  void start() {
    pool = LocalPool.start(Pools.options(64 << 20).withMemoryServers(2));
  }

  @AfterEach
  void end() {
    pool.close();
  }

  private Fabric attach(int number, int epoch) {
    return pool.attach(new ComputeServer(number, epoch), number + epoch);
  }

  @ParameterizedTest
  @ValueSource(strings = {"orca", "dex"})
  void shouldKeepValuesBesideAnIndex(String system) {
    IndexOptions options =
        Systems.named(system).defaults().withCacheBytes(4 << 20).with("write-back-interval", "0");
    Fabric lost = attach(5, 1);
    Fabric other = attach(3, 1);
    RangeIndex index = options.createAt(lost, 5);
    NavigableMap<Long, String> model;
    try (PandoMap<Long, String> map = PandoMap.of(index, KeyCodec.longs(), ValueCodec.strings())) {
      model = change(map, key -> (long) key);
      assertThat(index.unwritten().bytes()).isPositive();
      map.flush();
      assertThat(index.unwritten().bytes()).isZero();
    }
    try (RangeIndex heir = options.joinAt(other, 3)) {
      other.fence(5, 2);
      heir.partitions().orElseThrow().takeOver(5, 3);
      try (PandoMap<Long, String> map = PandoMap.of(heir, KeyCodec.longs(), ValueCodec.strings())) {
        assertThat(new TreeMap<>(map)).isEqualTo(model);
      }
    }
    lost.close();
  }

  @Test
  void shouldKeepByteStrings() {
    ByteOptions options = ByteOptions.defaults().withCacheBytes(4 << 20);
    options = options.withLabels(options.labels().withWriteBackNanos(0));
    Fabric lost = attach(0, 1);
    ByteIndex index = ByteIndex.create(lost, options);
    PandoMap<String, String> map = PandoMap.of(index, KeyCodec.strings(), ValueCodec.strings());
    NavigableMap<String, String> model = change(map, key -> "key " + key);
    assertThat(index.unwritten().bytes()).isPositive();
    map.flush();
    assertThat(index.unwritten().bytes()).isZero();
    Fabric other = attach(0, 2);
    other.fence(0, 2);
    try (ByteIndex opened = ByteIndex.open(other, options);
        PandoMap<String, String> its =
            PandoMap.of(opened, KeyCodec.strings(), ValueCodec.strings())) {
      assertThat(new TreeMap<>(its)).isEqualTo(model);
    }
    lost.close();
  }

  @Test
  void shouldFlushTheMapOfAPandoUntilItIsClosed() {
    Pando pando = Pando.open("local:");
    pando.flush();
    PandoMap<Long, Long> map = pando.map(KeyCodec.longs(), ValueCodec.longs());
    map.put(1L, 2L);
    pando.flush();
    assertThat(map.get(1L)).isEqualTo(2);
    pando.close();
    assertThatIllegalStateException().isThrownBy(pando::flush);
    assertThatIllegalStateException().isThrownBy(map::flush);
  }

  /** Makes a key of a number. */
  private interface Keys<K> {
    K of(int number);
  }

  private static <K extends Comparable<K>> NavigableMap<K, String> change(
      PandoMap<K, String> map, Keys<K> keys) {
    NavigableMap<K, String> model = new TreeMap<>();
    SplittableRandom random = new SplittableRandom(61);
    for (int i = 0; i < OPERATIONS; i++) {
      K key = keys.of(random.nextInt(500));
      if (random.nextInt(4) == 0) {
        map.remove(key);
        model.remove(key);
      } else {
        String value = "x".repeat(random.nextInt(200)) + i;
        map.put(key, value);
        model.put(key, value);
      }
    }
    return model;
  }
}
