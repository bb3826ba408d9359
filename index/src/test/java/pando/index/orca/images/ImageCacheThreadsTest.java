package pando.index.orca.images;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafView;
import pando.index.orca.leaf.LeafLayout;

/** Readers without locks beside sessions that admit and drop, while slabs come and go. */
@Timeout(300)
class ImageCacheThreadsTest {
  private static final int PAIRS = 16;
  private static final int LEAVES = 3;
  private static final int BOTH = 3;
  private static final int WORDS = 2 * LeafLayout.SEGMENT_BYTES / Long.BYTES;
  private static final int SLABS = 3;
  private static final int CHANGES = Seeds.count(100_000, 200_000, 5_000_000);

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final Directory directory = new Directory(fabric);
  private final RegisteredMemory local = fabric.register(Worker.CALL_BYTES_MAX);
  private final ImageCache cache =
      new ImageCache(
          directory.entries(),
          fabric.register(SLABS * ImageCache.SET_BYTES).segment(),
          ImageCache.SET_BYTES,
          true);
  private final AtomicInteger writers = new AtomicInteger();

  @AfterEach
  void close() {
    directory.close();
    local.close();
    fabric.close();
  }

  private Backoff backoff() {
    return fabric.worker(local).backoff();
  }

  @Test
  void shouldReadImagesWhole() throws Exception {
    long seed = Seeds.of(8);
    Random random = new Random(seed);
    for (int leaf = 1; leaf <= LEAVES; leaf++) {
      directory.entries().take();
    }
    cache.addSlab(0, backoff());
    Threads.run(
        List.of(writer(seed + 1), writer(seed + 2), slabs(random.nextInt()), reader(), reader()));
  }

  private Callable<Void> writer(long seed) {
    writers.incrementAndGet();
    return () -> {
      Backoff backoff = backoff();
      Random random = new Random(seed);
      LeafView view = new LeafView(directory, backoff);
      view.high = 1;
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment read = arena.allocate((long) WORDS * Long.BYTES, Long.BYTES);
        for (int i = 0; i < CHANGES; i++) {
          view.entry = 1 + random.nextInt(LEAVES);
          view.copyHeld();
          int pair = random.nextInt(PAIRS);
          if (random.nextInt(8) == 0) {
            cache.drop(view.entry, 2 * PAIRS, backoff);
          }
          for (int word = 0; word < WORDS; word++) {
            Words.set(read, (long) word * Long.BYTES, word(view.entry, pair, i));
          }
          long at = (long) -pair * WORDS * Long.BYTES;
          cache.admit(view, BOTH << (2 * pair), true, read, at, backoff);
        }
      } finally {
        writers.decrementAndGet();
      }
      return null;
    };
  }

  /** A word that tells the image that it is in, and the change. */
  private static long word(int leaf, int pair, int change) {
    return (long) leaf << 40 | (long) pair << 32 | change;
  }

  private Callable<Void> slabs(long seed) {
    return () -> {
      Backoff backoff = backoff();
      Random random = new Random(seed);
      while (writers.get() > 0) {
        long at = (1L + random.nextInt(SLABS - 1)) * ImageCache.SET_BYTES;
        cache.addSlab(at, backoff);
        backoff.pause(Backoff.SPINNING_ATTEMPTS);
        cache.removeSlab(at, backoff);
      }
      return null;
    };
  }

  private Callable<Void> reader() {
    return () -> {
      Backoff backoff = backoff();
      long found = 0;
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment copy = arena.allocate((long) WORDS * Long.BYTES, Long.BYTES);
        for (int i = 0; writers.get() > 0; i++) {
          int leaf = 1 + i % LEAVES;
          int pair = i / LEAVES % PAIRS;
          int both = BOTH << (2 * pair);
          long at = (long) -pair * WORDS * Long.BYTES;
          if (cache.copy(leaf, both, copy, at, backoff) == both) {
            found++;
            check(copy, leaf, pair);
          }
        }
      }
      if (found == 0) {
        throw new AssertionError("nothing was cached");
      }
      return null;
    };
  }

  private static void check(MemorySegment copy, int leaf, int pair) {
    long first = Words.get(copy, 0);
    for (int word = 0; word < WORDS; word++) {
      long found = Words.get(copy, (long) word * Long.BYTES);
      if (found != first || found >>> 32 != word(leaf, pair, 0) >>> 32) {
        throw new AssertionError(
            "torn or of another leaf: leaf=%d, pair=%d, first=%x, word=%d, found=%x"
                .formatted(leaf, pair, first, word, found));
      }
    }
  }
}
