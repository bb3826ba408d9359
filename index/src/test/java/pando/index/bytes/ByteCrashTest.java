package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.index.Break;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.orca.OrcaOptions;

/**
 * Processes that die at any verb. Whoever opens the index then finds what was flushed, or a later
 * change of it.
 */
class ByteCrashTest {
  private static final int CHANGES = 1_500;
  private static final int FLUSH_PART = 100;

  /**
   * Values that a key may have after a crash, {@code null} for none: the last one is the newest.
   */
  private final NavigableMap<byte[], List<byte @Nullable []>> possible =
      new TreeMap<>(Arrays::compareUnsigned);

  private static ByteOptions options() {
    return ByteOptions.defaults()
        .withBlockBytes(256, 16)
        .withCacheBytes(10_000)
        .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(128 << 10));
  }

  private void note(byte[] key, byte @Nullable [] value) {
    possible
        .computeIfAbsent(
            key,
            _ -> {
              List<byte @Nullable []> values = new ArrayList<>();
              values.add(null);
              return values;
            })
        .add(value);
  }

  private void noteFlush() {
    for (List<byte @Nullable []> values : possible.values()) {
      values.subList(0, values.size() - 1).clear();
    }
  }

  private void change(ByteSession session, SplittableRandom random, boolean shrinks) {
    byte[] key = ByteKeys.draw(random, 3);
    boolean stores = random.nextInt(4) == 0 == shrinks;
    byte[] value = stores ? ByteKeys.value(random, 60) : null;
    note(key, value);
    MemorySegment its = MemorySegment.ofArray(key);
    if (value == null) {
      session.discard(its);
    } else {
      session.store(its, MemorySegment.ofArray(value));
    }
  }

  private void run(ByteIndex index, SplittableRandom random) {
    try (ByteSession session = index.session()) {
      for (int i = 0; i < CHANGES; i++) {
        change(session, random, i / 300 % 2 == 1);
        if (random.nextInt(FLUSH_PART) == 0) {
          index.flush();
          noteFlush();
        }
      }
    }
  }

  private void check(ByteIndex index) {
    NavigableMap<byte[], byte[]> found = new TreeMap<>(Arrays::compareUnsigned);
    try (ByteSession session = index.session()) {
      session.scan(
          MemorySegment.ofArray(new byte[0]),
          null,
          Long.MAX_VALUE,
          (key, value) -> {
            assertThat(found.put(ByteKeys.bytes(key), ByteKeys.bytes(value))).isNull();
            return true;
          });
    }
    assertThat(possible.keySet())
        .usingElementComparator(Arrays::compareUnsigned)
        .containsAll(found.keySet());
    possible.forEach((key, values) -> {
      byte[] value = found.get(key);
      assertThat(values)
          .as("key=%s", Arrays.toString(key))
          .anyMatch(each -> Arrays.equals(each, value));
      values.clear();
      values.add(value);
    });
  }

  @Test
  void shouldFindWhatWasFlushedAfterACrash() {
    long seed = Seeds.of(2601);
    int crashes = 0;
    for (int run = 0; run < Seeds.count(60, 600, 20_000); run++) {
      SplittableRandom random = new SplittableRandom(seed + run);
      possible.clear();
      try (Fabric pool = Pools.open(2, 4 << 20, seed + run)) {
        HookedFabric dying = new HookedFabric(pool).withTasksByHand();
        ByteIndex first = ByteIndex.create(dying, options());
        int[] left = {random.nextInt(1_500)};
        dying.hookEach(
            _ -> left[0]-- <= 0,
            _ -> {
              throw Break.lost();
            });
        Throwable failure = catchThrowable(() -> run(first, random));
        crashes += failure == null ? 0 : 1;
        left[0] = 0;
        if (failure != null) {
          assertThat(failure).as("run=%s", run).isInstanceOf(PandoException.class);
        }
        try (ByteIndex second = ByteIndex.open(pool, options())) {
          check(second);
          run(second, random);
        } catch (Throwable e) {
          throw new AssertionError("run=" + run, e);
        }
        try (ByteIndex third = ByteIndex.open(pool, options())) {
          noteFlush();
          check(third);
        }
      }
    }
    System.out.println(crashes + " crashes");
  }
}
