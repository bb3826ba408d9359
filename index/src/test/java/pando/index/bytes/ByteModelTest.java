package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.PoolUsage;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.orca.OrcaOptions;

/** Random operations of a session beside a plain map, with blocks so small that all are cut. */
class ByteModelTest {
  private static final int OPERATIONS = Seeds.count(5_000, 20_000, 1_000_000);

  private static ByteOptions options(int cacheBytes, int blockBytes, int inlineMax) {
    OrcaOptions labels = OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20);
    return ByteOptions.defaults()
        .withBlockBytes(blockBytes, inlineMax)
        .withCacheBytes(cacheBytes)
        .withLabels(labels);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 256, 8, 12, 40",
    "4000, 256, 16, 6, 100",
    "1000000, 512, 64, 40, 2000",
    "100000, 2048, 64, 300, 300",
    "20000, 256, 8, 5000, 20000"
  })
  void shouldBeLikeAMap(int cache, int block, int inline, int keyBytes, int valueBytes) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2201));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    int operations = keyBytes > 1_000 ? OPERATIONS / 10 : OPERATIONS;
    try (Fabric fabric = Pools.open(2, 64 << 20, 2202)) {
      ByteOptions options = options(cache, block, inline);
      ByteIndex index = ByteIndex.create(fabric, options);
      ByteSession session = index.session();
      for (int i = 0; i < operations; i++) {
        boolean shrinks = i / (operations / 8) % 2 == 1;
        byte[] key = ByteKeys.draw(random, keyBytes);
        byte[] value = ByteKeys.value(random, valueBytes);
        ByteModelRun.operate(session, model, random, shrinks, key, value);
        if (i % (operations / 3) == operations / 4) {
          index.close();
          index = ByteIndex.open(fabric, options);
          session = index.session();
        }
        if (i % (operations / 5) == operations / 10) {
          index.giveMemoryBack();
          assertThat(index.cache.bytes() + index.deltas.bytes()).isZero();
        }
      }
      ByteModelRun.checkAll(session, model);
      for (byte[] key : List.copyOf(model.keySet())) {
        assertThat(session.remove(MemorySegment.ofArray(key))).isTrue();
      }
      assertThat(session.first()).isFalse();
      assertThat(session.last()).isFalse();
      index.giveFreePlacesBack();
      assertThat(index.space().usedBytes()).isLessThan(64 << 10);
      index.close();
      session.close();
    }
  }

  @Test
  void shouldHaveTheEmptyStringAndTheLongestOnes() {
    try (Fabric fabric = Pools.open(2, 64 << 20, 1);
        ByteIndex index = ByteIndex.create(fabric, options(4_000, 256, 16));
        ByteSession session = index.session()) {
      ByteEnds.check(session, index.keyBytesMax());
    }
  }

  /** Each process has options of its own, at their limits; two sessions change the same keys. */
  @Tag("campaign")
  @Test
  void shouldBeLikeAMapWhateverTheOptions() {
    long seed = Seeds.of(2203);
    for (int round = 0; round < Seeds.count(4, 8, 400); round++) {
      SplittableRandom random = new SplittableRandom(seed + round);
      NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
      int keyBytes = random.nextInt(5) == 0 ? ByteIndex.KEY_BYTES_MAX : 3 + random.nextInt(40);
      int operations = keyBytes > 1_000 ? 400 : 2_500;
      try (Fabric fabric = Pools.open(1, 256 << 20, 2204)) {
        ByteIndex.create(fabric, drawn(random)).close();
        for (int process = 0; process < 3; process++) {
          try (ByteIndex index = ByteIndex.open(fabric, drawn(random));
              ByteSession one = index.session();
              ByteSession other = index.session()) {
            for (int i = 0; i < operations; i++) {
              byte[] key = ByteKeys.draw(random, keyBytes);
              byte[] value = ByteKeys.value(random, 1 << random.nextInt(16));
              ByteModelRun.operate(
                  i % 2 == 0 ? one : other, model, random, process == 1, key, value);
            }
            ByteModelRun.checkAll(one, model);
            assertThat(index.space().otherBytes()).isZero();
            assertThat(index.deltas.bytes()).isZero();
            ByteModelRun.checkAll(other, model);
          }
        }
      }
    }
  }

  private static ByteOptions drawn(SplittableRandom random) {
    int[] caches = {0, 1_000, 20_000, 1 << 20, 16 << 20};
    int[] blocks = {256, 300, 1_024, 8_000, ByteOptions.BLOCK_BYTES_MAX};
    int[] changes = {0, 1, 2, 64, ByteOptions.DELTA_CHANGES_MAX};
    int block = blocks[random.nextInt(blocks.length)];
    return options(
            caches[random.nextInt(caches.length)],
            block,
            random.nextBoolean() ? Long.BYTES : block / 4)
        .withDeltaChanges(changes[random.nextInt(changes.length)])
        .withRecordShare(random.nextInt(3) / 2.0);
  }

  @ParameterizedTest
  @CsvSource({"0", "1000000"})
  void shouldGiveAllBackThatIsRemoved(int cache) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2203));
    try (Fabric fabric = Pools.open(2, 64 << 20, 2204)) {
      ByteOptions options = options(cache, 256, 16);
      ByteIndex.create(fabric, options).close();
      long usedWhenEmpty = used(fabric);
      for (int round = 0; round < 3; round++) {
        ByteIndex index = ByteIndex.open(fabric, options);
        try (ByteSession session = index.session()) {
          NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
          for (int i = 0; i < 3_000; i++) {
            byte[] key = ByteKeys.draw(random, 20);
            byte[] value = ByteKeys.value(random, 500);
            session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
            model.put(key, value);
          }
          assertThat(index.blocks()).isGreaterThan(100);
          model.keySet().forEach(key -> session.remove(MemorySegment.ofArray(key)));
          assertThat(index.blocks()).isEqualTo(1);
        }
        index.close();
        assertThat(used(fabric)).isEqualTo(usedWhenEmpty);
      }
    }
  }

  private static long used(Fabric fabric) {
    return fabric.usage().stream().mapToLong(PoolUsage::usedBytes).sum();
  }
}
