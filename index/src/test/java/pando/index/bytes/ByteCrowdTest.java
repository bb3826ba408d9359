package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.PoolFullException;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.orca.OrcaOptions;

/** Many sessions in a pool that has no room, and what waits to be freed. */
@Timeout(200)
class ByteCrowdTest {
  private static final int THREADS = Seeds.count(8, 32);

  private static ByteOptions options() {
    return ByteOptions.defaults()
        .withBlockBytes(ByteOptions.BLOCK_BYTES_MIN, 16)
        .withCacheBytes(10_000)
        .withLabels(
            OrcaOptions.defaults()
                .withComputeServers(1)
                .withCacheBytes(512 << 10)
                .withWriteBackNanos(0));
  }

  @Test
  void shouldRefuseChangesOfManySessionsInAFullPool() throws Exception {
    long seed = Seeds.of(2701);
    AtomicLong refused = new AtomicLong();
    try (Fabric pool = Pools.open(2, 512 << 10, 1);
        ByteIndex index = ByteIndex.create(pool, options())) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        SplittableRandom random = new SplittableRandom(seed + t);
        tasks.add(() -> {
          try (ByteSession session = index.session()) {
            for (int i = 0; i < 300 || (refused.get() == 0 && i < 20_000); i++) {
              MemorySegment key = MemorySegment.ofArray(ByteKeys.draw(random, 4));
              try {
                if (random.nextInt(8) == 0) {
                  session.discard(key);
                } else {
                  session.store(key, MemorySegment.ofArray(ByteKeys.value(random, 2_000)));
                }
              } catch (PoolFullException _) {
                refused.incrementAndGet();
              }
            }
          }
          return null;
        });
      }
      Threads.run(tasks);
      assertThat(refused).hasPositiveValue();
      assertThat(index.space().otherBytes()).isZero();
    }
  }

  @Test
  void shouldNotLetLongValuesWaitInMuchOfThePool() {
    int bytes = 32 << 20;
    try (Fabric pool = Pools.open(2, bytes, 1);
        ByteIndex index = ByteIndex.create(pool, options());
        ByteSession session = index.session()) {
      for (int i = 0; i < 100; i++) {
        session.store(ByteKeys.of((byte) 1), MemorySegment.ofArray(new byte[1 << 20]));
        assertThat(index.poolBytes()).as("i=%s", i).isLessThan(bytes / 2);
      }
    }
  }
}
