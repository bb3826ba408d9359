package pando.index.orca.delta;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.orca.parts.CacheParts;

/** One writer of a block, readers that validate by a version, and others that take blocks. */
@Timeout(300)
class DeltasThreadsTest {
  private static final int KEYS = 300;
  private static final int CHANGES = Seeds.count(60_000, 120_000, 3_000_000);

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final CacheParts parts = CacheParts.of(fabric, 4, 64 << 10);
  private final Deltas deltas = new Deltas(parts);
  private final AtomicInteger writers = new AtomicInteger();
  private final AtomicLong version = new AtomicLong();
  private volatile int published;

  @BeforeEach
  void addParts() {
    IntStream.range(0, parts.count()).forEach(deltas::add);
  }

  @AfterEach
  void close() {
    parts.close();
    fabric.close();
  }

  private static int kind(long key, long value) {
    return 1 + (int) Math.floorMod(key + value, 3L);
  }

  /** A task during which readers go on. */
  private Callable<Void> writer(Runnable task) {
    writers.incrementAndGet();
    return () -> {
      try {
        task.run();
      } finally {
        writers.decrementAndGet();
      }
      return null;
    };
  }

  @Test
  void shouldLetReadersFindWhatIsThere() throws Exception {
    long seed = Seeds.of(31);
    published = deltas.create();
    Threads.run(
        List.of(
            writer(() -> change(new Random(seed))),
            writer(() -> takeAndFree(new Random(seed + 1))),
            () -> read(new Random(seed + 2))));
  }

  /** Key 0 is there whenever the version is even. */
  private void change(Random random) {
    for (int i = 0; i < CHANGES; i++) {
      int block = published;
      version.incrementAndGet();
      if (random.nextInt(1_000) == 0) {
        int empty = deltas.create();
        published = empty;
        deltas.free(block);
        block = empty;
      }
      set(0, i);
      set(random.nextInt(KEYS), i);
      version.incrementAndGet();
    }
  }

  private void set(long key, long value) {
    int block = published;
    int index = deltas.find(block, key);
    if (index < 0) {
      int after = deltas.insert(block, key, value, kind(key, value));
      if (after != Deltas.NONE && after != block) {
        published = after;
        deltas.free(block);
      }
    } else if (key != 0 && value % 4 == 0) {
      deltas.remove(block, index);
    } else {
      deltas.setValue(block, index, value);
      deltas.setKind(block, index, kind(key, value));
    }
  }

  private Void read(Random random) {
    long newest = -1;
    for (int i = 0; writers.get() > 0; i++) {
      long key = i % 2 == 0 ? 0 : random.nextInt(KEYS);
      long before = version.get();
      int block = published;
      int index = deltas.find(block, key);
      long found = index < 0 ? 0 : deltas.key(block, index);
      long value = index < 0 ? 0 : deltas.value(block, index);
      int kind = index < 0 ? 0 : deltas.kind(block, index);
      VarHandle.acquireFence();
      boolean valid = before % 2 == 0 && before > 0 && version.get() == before;
      if (valid && key == 0) {
        assertThat(index).isZero();
        assertThat(value).isGreaterThanOrEqualTo(newest);
        newest = value;
      }
      if (valid && index >= 0) {
        assertThat(found).isEqualTo(key);
        assertThat(kind).isEqualTo(kind(key, value));
      }
    }
    return null;
  }

  /** Several threads take blocks, fill them, and see that nobody else changed them. */
  @Test
  void shouldGiveEachBlockToOneThread() throws Exception {
    long seed = Seeds.of(32);
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Random random = new Random(seed + i);
      tasks.add(writer(() -> takeAndFree(random)));
    }
    Threads.run(tasks);
    assertThat(deltas.bytesUsed()).isZero();
  }

  private void takeAndFree(Random random) {
    int[] own = new int[30];
    long[] value = new long[own.length];
    for (int i = 0; i < CHANGES; i++) {
      int n = random.nextInt(own.length);
      if (own[n] == Deltas.NONE) {
        own[n] = deltas.create();
        value[n] = random.nextLong();
      } else if (random.nextInt(6) == 0) {
        check(own[n], value[n]);
        deltas.free(own[n]);
        own[n] = Deltas.NONE;
      } else {
        int after = deltas.insert(own[n], deltas.count(own[n]), value[n], Deltas.PUT);
        if (after != own[n] && after != Deltas.NONE) {
          deltas.free(own[n]);
          own[n] = after;
        }
      }
    }
    for (int n = 0; n < own.length; n++) {
      if (own[n] != Deltas.NONE) {
        check(own[n], value[n]);
        deltas.free(own[n]);
      }
    }
  }

  private void check(int block, long value) {
    for (int index = 0; index < deltas.count(block); index++) {
      assertThat(deltas.key(block, index)).isEqualTo(index);
      assertThat(deltas.value(block, index)).isEqualTo(value);
    }
  }
}
