package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.PoolUsage;
import pando.index.Break;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.orca.OrcaOptions;

/** Loads of sorted entries. */
class ByteLoadTest {
  private static ByteOptions options(int blockBytes) {
    return ByteOptions.defaults()
        .withBlockBytes(blockBytes, blockBytes / 8)
        .withCacheBytes(100_000)
        .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
  }

  /** The cache of the labels is as large as the blocks in the pool need. */
  @Test
  void shouldOpenAPoolThatIsFullOfSmallBlocks() {
    ByteOptions options =
        ByteOptions.defaults()
            .withBlockBytes(ByteOptions.BLOCK_BYTES_MIN, 32)
            .withCacheBytes(100_000)
            .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(16 << 10));
    int count = 100_000;
    try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
      try (ByteIndex index = ByteIndex.create(fabric, options);
          ByteSession session = index.session()) {
        for (int i = 0; i < count; i++) {
          session.store(key(i), MemorySegment.ofArray(new byte[32]));
        }
        assertThat(index.blocks()).isGreaterThan(count / 10);
      }
      try (ByteIndex index = ByteIndex.open(fabric, options);
          ByteSession session = index.session()) {
        assertThat(session.get(key(count - 1))).isTrue();
      }
    }
  }

  private static MemorySegment key(int number) {
    return MemorySegment.ofArray(ByteBuffer.allocate(Integer.BYTES).putInt(number).array());
  }

  private static NavigableMap<byte[], byte[]> drawn(int count, int keyBytes, int valueBytes) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2801));
    NavigableMap<byte[], byte[]> drawn = new TreeMap<>(Arrays::compareUnsigned);
    while (drawn.size() < count) {
      drawn.put(ByteKeys.draw(random, keyBytes), ByteKeys.value(random, valueBytes));
    }
    return drawn;
  }

  /** Returns the entries of a map in their order. */
  static ByteSource source(Map<byte[], byte[]> entries) {
    Iterator<Map.Entry<byte[], byte[]>> iterator = entries.entrySet().iterator();
    return new ByteSource() {
      private Map.Entry<byte[], byte[]> entry = Map.entry(new byte[0], new byte[0]);

      @Override
      public boolean next() {
        boolean isThere = iterator.hasNext();
        entry = isThere ? iterator.next() : entry;
        return isThere;
      }

      @Override
      public MemorySegment key() {
        return MemorySegment.ofArray(entry.getKey());
      }

      @Override
      public MemorySegment value() {
        return MemorySegment.ofArray(entry.getValue());
      }
    };
  }

  private static void assertHas(ByteSession session, NavigableMap<byte[], byte[]> model) {
    Iterator<Map.Entry<byte[], byte[]>> expected = model.entrySet().iterator();
    session.scan(
        MemorySegment.ofArray(new byte[0]),
        null,
        Long.MAX_VALUE,
        (key, value) -> {
          Map.Entry<byte[], byte[]> next = expected.next();
          assertThat(ByteKeys.bytes(key)).isEqualTo(next.getKey());
          assertThat(ByteKeys.bytes(value)).isEqualTo(next.getValue());
          return true;
        });
    assertThat(expected.hasNext()).isFalse();
    model.forEach((key, value) -> {
      assertThat(session.get(MemorySegment.ofArray(key))).isTrue();
      assertThat(ByteKeys.bytes(session.value())).isEqualTo(value);
    });
  }

  private static long used(Fabric fabric) {
    return fabric.usage().stream().mapToLong(PoolUsage::usedBytes).sum();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 8000, 12, 20",
    "1, 256, 12, 20",
    "5000, 256, 12, 100",
    "5000, 8000, 40, 8",
    "300, 2048, 5000, 9000"
  })
  void shouldLoadWhatIsThereAfterwards(int count, int blockBytes, int keyBytes, int valueBytes) {
    NavigableMap<byte[], byte[]> model = drawn(count, keyBytes, valueBytes);
    try (Fabric fabric = Pools.open(2, 64 << 20, 2802)) {
      try (ByteIndex index = ByteIndex.create(fabric, options(blockBytes));
          ByteSession session = index.session()) {
        assertThat(index.load(source(model), 0.9)).isEqualTo(count);
        assertHas(session, model);
        if (count == 5_000) {
          assertThat(index.directoryBytes())
              .isBetween(100L * index.blocks(), 400L * index.blocks());
          assertThatIllegalStateException()
              .isThrownBy(() -> index.load(source(model), 0.9))
              .withMessage("only an empty index can be loaded");
        }
        for (byte[] key : drawn(count / 2, keyBytes, valueBytes).keySet()) {
          session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(key));
          model.put(key, key);
        }
      }
      try (ByteIndex index = ByteIndex.open(fabric, options(blockBytes));
          ByteSession session = index.session()) {
        assertHas(session, model);
      }
    }
  }

  @Test
  void shouldFillBlocksAsFarAsItShould() {
    NavigableMap<byte[], byte[]> model = drawn(20_000, 40, 9);
    try (Fabric fabric = Pools.open(2, 64 << 20, 2803);
        ByteIndex index = ByteIndex.create(fabric, options(8_000))) {
      index.load(source(model), 0.9);
      BlockEntry[] all = index.directory.all();
      long bytes = 0;
      try (ByteSession session = index.session()) {
        for (BlockEntry entry : all) {
          session.floor(entry.low());
          bytes += index.cache.bytes();
        }
        assertThat(bytes).isPositive();
      }
      long stored = index.poolBytes() - index.labels.poolBytes();
      assertThat(stored / all.length).isBetween(6_500L, 8_200L);
    }
  }

  @Test
  void shouldLoadNothingWhereSomethingIsWrong() {
    NavigableMap<byte[], byte[]> model = drawn(2_000, 12, 100);
    NavigableMap<byte[], byte[]> down = model.descendingMap();
    try (Fabric fabric = Pools.open(2, 64 << 20, 2804)) {
      ByteIndex.create(fabric, options(512)).close();
      long usedWhenEmpty = used(fabric);
      try (ByteIndex index = ByteIndex.open(fabric, options(512));
          ByteSession session = index.session()) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> index.load(source(down), 0.9))
            .withMessageStartingWith("keys do not ascend: key=");
        assertThatIllegalArgumentException().isThrownBy(() -> index.load(source(model), 0));
        byte[] tooLong = new byte[ByteIndex.KEY_BYTES_MAX + 1];
        Arrays.fill(tooLong, (byte) -1);
        NavigableMap<byte[], byte[]> more = new TreeMap<>(model);
        more.put(tooLong, new byte[1]);
        assertThatIllegalArgumentException().isThrownBy(() -> index.load(source(more), 0.9));
        assertThat(session.first()).isFalse();
      }
      assertThat(used(fabric)).isLessThanOrEqualTo(usedWhenEmpty);
    }
  }

  @Test
  void shouldLoadNothingIntoAPoolThatIsTooSmall() {
    NavigableMap<byte[], byte[]> model = drawn(20_000, 30, 100);
    try (Fabric fabric = Pools.open(2, 512 << 10, 2805);
        ByteIndex index = ByteIndex.create(fabric, options(256));
        ByteSession session = index.session()) {
      long blobBytes = index.poolBytes() - index.labels.poolBytes();
      assertThatThrownBy(() -> index.load(source(model), 0.9))
          .isInstanceOf(PoolFullException.class);
      assertThat(session.first()).isFalse();
      session.put(MemorySegment.ofArray(new byte[3]), MemorySegment.ofArray(new byte[3]));
      session.remove(MemorySegment.ofArray(new byte[3]));
      session.put(MemorySegment.ofArray(new byte[3]), MemorySegment.ofArray(new byte[3]));
      assertThat(session.get(MemorySegment.ofArray(new byte[3]))).isTrue();
      assertThat(index.poolBytes() - index.labels.poolBytes())
          .isBetween(blobBytes, blobBytes + 2_000);
    }
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void shouldLoadAllOrNothingWhereverAVerbFails(Break how) {
    NavigableMap<byte[], byte[]> model = drawn(300, 12, 100);
    for (int verb = 0; verb < 60; verb += 7) {
      try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 2806))) {
        Throwable failure;
        try (ByteIndex index = ByteIndex.create(fabric, options(512));
            ByteSession session = index.session()) {
          int[] left = {verb};
          fabric.hookNext(_ -> left[0]-- == 0, posting -> how.happen(fabric, posting, 0));
          failure = catchThrowable(() -> index.load(source(model), 0.9));
          fabric.unhook();
          if (failure != null) {
            assertThat(failure).isInstanceOfAny(PandoException.class, OutOfMemoryError.class);
            assertThat(session.first()).isFalse();
            index.load(source(model), 0.9);
          }
          assertHas(session, model);
        }
        try (ByteIndex index = ByteIndex.open(fabric, options(512));
            ByteSession session = index.session()) {
          assertHas(session, model);
        }
      }
    }
  }
}
