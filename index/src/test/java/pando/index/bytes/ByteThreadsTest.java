package pando.index.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.memory.KeyOrder;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.orca.OrcaOptions;

/** Threads that write keys of their own side by side, in the same blocks, and others that scan. */
class ByteThreadsTest {
  private static final int WRITERS = 3;
  private static final int OPERATIONS = Seeds.count(3_000, 12_000, 300_000);

  @ParameterizedTest
  @ValueSource(ints = {0, 3_000, 1_000_000})
  void shouldKeepWhatEachThreadWrites(int cacheBytes) throws Exception {
    long seed = Seeds.of(2401);
    ByteOptions options =
        ByteOptions.defaults()
            .withBlockBytes(256, 16)
            .withCacheBytes(cacheBytes)
            .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
    List<NavigableMap<byte[], byte[]>> models = new ArrayList<>();
    try (Fabric fabric = Pools.open(2, 64 << 20, seed)) {
      try (ByteIndex index = ByteIndex.create(fabric, options)) {
        AtomicInteger writing = new AtomicInteger(WRITERS);
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int number = 0; number < WRITERS; number++) {
          NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
          models.add(model);
          int writer = number;
          tasks.add(() -> {
            try (ByteSession session = index.session()) {
              write(session, model, writer, new SplittableRandom(seed + writer));
              return null;
            } finally {
              writing.decrementAndGet();
            }
          });
        }
        tasks.add(() -> read(index, writing, true));
        tasks.add(() -> read(index, writing, false));
        Threads.run(tasks);
      }
      NavigableMap<byte[], byte[]> all = new TreeMap<>(Arrays::compareUnsigned);
      models.forEach(all::putAll);
      try (ByteIndex index = ByteIndex.open(fabric, options);
          ByteSession session = index.session()) {
        List<byte[]> keys = new ArrayList<>();
        session.scan(
            MemorySegment.ofArray(new byte[0]),
            null,
            Long.MAX_VALUE,
            (key, value) -> {
              keys.add(ByteKeys.bytes(key));
              return Arrays.equals(all.get(ByteKeys.bytes(key)), ByteKeys.bytes(value));
            });
        assertThat(keys)
            .usingElementComparator(Arrays::compareUnsigned)
            .containsExactlyElementsOf(all.keySet());
      }
    }
  }

  /** A value begins with the last byte of its key, so that a reader can tell. */
  private static byte[] value(SplittableRandom random, byte[] key) {
    byte[] value = new byte[1 + random.nextInt(random.nextInt(5) == 0 ? 300 : 20)];
    Arrays.fill(value, key[key.length - 1]);
    return value;
  }

  private static void write(
      ByteSession session,
      NavigableMap<byte[], byte[]> model,
      int writer,
      SplittableRandom random) {
    for (int i = 0; i < OPERATIONS; i++) {
      byte[] drawn = ByteKeys.draw(random, 4);
      byte[] key = Arrays.copyOf(drawn, drawn.length + 1);
      key[drawn.length] = (byte) (writer + 'x');
      byte[] value = value(random, key);
      boolean shrinks = i / (OPERATIONS / 6) % 2 == 1;
      byte @Nullable [] before = model.get(key);
      MemorySegment its = MemorySegment.ofArray(key);
      if (random.nextInt(3) == 0) {
        assertThat(session.get(its)).isEqualTo(before != null);
      } else if (shrinks == random.nextInt(4) > 0) {
        assertThat(session.remove(its)).isEqualTo(before != null);
        model.remove(key);
      } else {
        assertThat(session.put(its, MemorySegment.ofArray(value))).isEqualTo(before != null);
        model.put(key, value);
      }
      if (before != null) {
        assertThat(ByteKeys.bytes(session.value())).isEqualTo(before);
      }
    }
  }

  private static Void read(ByteIndex index, AtomicInteger writing, boolean down) {
    SplittableRandom random = new SplittableRandom(writing.get());
    try (ByteSession session = index.session()) {
      while (writing.get() > 0) {
        MemorySegment key = MemorySegment.ofArray(ByteKeys.draw(random, 4));
        List<byte[]> seen = new ArrayList<>();
        ByteVisitor visitor =
            (each, value) -> {
              byte[] its = ByteKeys.bytes(each);
              int compared = seen.isEmpty() ? 0 : Arrays.compareUnsigned(its, seen.getLast());
              assertThat(seen.isEmpty() || (down ? compared < 0 : compared > 0)).isTrue();
              for (byte b : ByteKeys.bytes(value)) {
                assertThat(b).isEqualTo(its[its.length - 1]);
              }
              seen.add(its);
              return true;
            };
        if (down) {
          session.scanDown(null, key, 100, visitor);
          if (session.floor(key)) {
            assertThat(KeyOrder.compare(session.key(), key)).isLessThanOrEqualTo(0);
          }
        } else {
          session.scan(key, null, 100, visitor);
          if (session.ceiling(key)) {
            assertThat(KeyOrder.compare(session.key(), key)).isGreaterThanOrEqualTo(0);
          }
        }
      }
      return null;
    }
  }

  /** Values only grow: of each key a reader sees none that is older than what it or others saw. */
  @ParameterizedTest
  @CsvSource({
    "0,         512, 40",
    "2000,      512, 40",
    "1000000,   512, 40",
    // so few keys that changes take the place of others
    "1000000,  8000, 10",
  })
  void shouldNotReadAnOldValueAfterANewOne(int cacheBytes, int blockBytes, int keys)
      throws Exception {
    AtomicLongArray stored = new AtomicLongArray(keys);
    ByteOptions options =
        ByteOptions.defaults()
            .withBlockBytes(blockBytes, 16)
            .withCacheBytes(cacheBytes)
            .withRecordShare(0.9)
            .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
    try (Fabric fabric = Pools.open(2, 64 << 20, Seeds.of(2402));
        ByteIndex index = ByteIndex.create(fabric, options)) {
      try (ByteSession session = index.session()) {
        for (int key = 0; key < keys; key++) {
          session.put(counted(key), counter(0, 8));
        }
      }
      AtomicInteger writing = new AtomicInteger(2);
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int number = 0; number < 2; number++) {
        int writer = number;
        SplittableRandom random = new SplittableRandom(writer);
        tasks.add(() -> {
          try (ByteSession session = index.session()) {
            for (int i = 0; i < OPERATIONS; i++) {
              int key = random.nextInt(keys / 2) * 2 + writer;
              long next = stored.get(key) + 1;
              session.put(counted(key), counter(next, random.nextInt(8, 30)));
              stored.set(key, next);
            }
            return null;
          } finally {
            writing.decrementAndGet();
          }
        });
        tasks.add(() -> {
          try (ByteSession session = index.session()) {
            while (writing.get() > 0) {
              int key = random.nextInt(keys);
              long least = stored.get(key);
              boolean found =
                  least % 2 == 0 ? session.get(counted(key)) : session.floor(counted(key));
              assertThat(found).isTrue();
              assertThat(session.key().mismatch(counted(key))).isEqualTo(-1);
              long seen = session.value().get(Block.LONG, 0);
              assertThat(seen).isBetween(least, stored.get(key) + 1);
            }
            return null;
          }
        });
      }
      Threads.run(tasks);
      assertThat(index.space().otherBytes()).isZero();
      assertThat(index.deltas.bytes()).isZero();
    }
  }

  private static MemorySegment counted(int key) {
    return MemorySegment.ofArray(("a key with the number " + key).getBytes(UTF_8));
  }

  private static MemorySegment counter(long count, int bytes) {
    MemorySegment value = MemorySegment.ofArray(new byte[bytes]);
    value.set(Block.LONG, 0, count);
    return value;
  }
}
