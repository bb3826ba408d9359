package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.memory.Closing;
import pando.index.Break;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.orca.OrcaOptions;

/** Byte strings whose values are replaced by others of the same size in a pool without room. */
@Timeout(120)
class ByteFullPoolTest {
  private static final int BYTES = 3_000;
  private static final int THREADS = 3;

  /** More than a replacement has: so some break, and some do not. */
  private static final int VERBS = 30;

  /** Byte strings in a small pool. */
  private record Open(Fabric fabric, ByteIndex strings) implements AutoCloseable {
    static Open of(Fabric fabric) {
      ByteOptions options =
          ByteOptions.defaults()
              .withBlockBytes(ByteOptions.BLOCK_BYTES_MIN, 16)
              .withCacheBytes(4_000)
              .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
      return new Open(fabric, ByteIndex.create(fabric, options));
    }

    @Override
    public void close() {
      strings.close();
      fabric.close();
    }
  }

  private static Fabric pool() {
    return Pools.open(2, 640 << 10, 1);
  }

  private static MemorySegment key(int number) {
    return MemorySegment.ofArray(ByteBuffer.allocate(8).putInt(number).putInt(number).array());
  }

  private static MemorySegment value(long seed) {
    return value(seed, BYTES);
  }

  private static MemorySegment value(long seed, int length) {
    byte[] bytes = new byte[length];
    new SplittableRandom(seed).nextBytes(bytes);
    return MemorySegment.ofArray(bytes);
  }

  /** Stores values until the pool has no room; returns their seeds. */
  private static NavigableMap<Integer, Long> fill(ByteSession session) {
    NavigableMap<Integer, Long> seeds = new TreeMap<>();
    Throwable failure = null;
    for (int i = 0; failure == null; i++) {
      int number = i;
      failure = catchThrowable(() -> session.store(key(number), value(number)));
      if (failure == null) {
        seeds.put(number, (long) number);
      }
    }
    assertThat(failure).isInstanceOf(PoolFullException.class);
    assertThat(seeds).hasSizeGreaterThan(50);
    return seeds;
  }

  private static void assertValue(ByteSession session, MemorySegment expected) {
    assertThat(session.value().mismatch(expected)).isEqualTo(-1);
  }

  private static void assertHas(ByteSession session, Map<Integer, Long> seeds) {
    seeds.forEach((number, seed) -> {
      assertThat(session.get(key(number))).isTrue();
      assertValue(session, value(seed));
    });
    assertThat(session.scan(key(0), null, Long.MAX_VALUE, (_, _) -> true)).isEqualTo(seeds.size());
  }

  /** Replaces a value in one of four ways. */
  private static void replace(ByteSession session, int kind, int number, long from, long to) {
    MemorySegment key = key(number);
    switch (kind & 3) {
      case 0 -> {
        assertThat(session.put(key, value(to))).isTrue();
        assertValue(session, value(from));
      }
      case 1 -> {
        assertThat(session.update(key, value(to))).isTrue();
        assertValue(session, value(from));
      }
      case 2 -> assertThat(session.replace(key, value(from), value(to))).isTrue();
      default -> session.store(key, value(to));
    }
  }

  @Test
  void shouldReplaceValuesByOthersOfTheSameSize() {
    try (Open open = Open.of(pool());
        ByteSession session = open.strings.session()) {
      NavigableMap<Integer, Long> seeds = fill(session);
      for (Map.Entry<Integer, Long> entry : seeds.entrySet()) {
        long to = entry.getValue() + 10_000;
        replace(session, entry.getKey(), entry.getKey(), entry.getValue(), to);
        entry.setValue(to);
      }
      assertHas(session, seeds);
      MemorySegment longer = value(1, 2 * BYTES);
      for (MemorySegment key : List.of(key(-1), key(3))) {
        assertThatThrownBy(() -> session.put(key, longer)).isInstanceOf(PoolFullException.class);
        assertThatThrownBy(() -> session.store(key, longer)).isInstanceOf(PoolFullException.class);
      }
      assertThatThrownBy(() -> session.put(key(-1), value(0)))
          .isInstanceOf(PoolFullException.class);
      assertThat(session.replace(key(3), value(-1), value(-2))).isFalse();
      assertValue(session, value(10_003));
      assertHas(session, seeds);
      for (int number = 0; number < 20; number++) {
        assertThat(session.remove(key(number))).isTrue();
        seeds.remove(number);
      }
      assertThat(session.put(key(0), value(0))).isFalse();
      seeds.put(0, 0L);
      assertHas(session, seeds);
      assertThat(open.strings.space().otherBytes()).isZero();
    }
  }

  @Test
  void shouldReplaceValuesByManySessionsAtOnce() throws Exception {
    try (Open open = Open.of(pool());
        ByteSession session = open.strings.session()) {
      NavigableMap<Integer, Long> seeds = fill(session);
      List<Callable<Void>> threads = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        int which = thread;
        threads.add(() -> {
          try (ByteSession own = open.strings.session()) {
            for (Map.Entry<Integer, Long> entry : seeds.entrySet()) {
              if (entry.getKey() % THREADS == which) {
                long from = entry.getValue();
                replace(own, entry.getKey() / THREADS, entry.getKey(), from, from + 10_000);
              }
              own.store(key(0), value(10_000));
            }
          }
          return null;
        });
      }
      seeds.remove(0);
      Threads.run(threads);
      seeds.replaceAll((_, from) -> from + 10_000);
      seeds.put(0, 10_000L);
      assertHas(session, seeds);
      assertThat(open.strings.space().otherBytes()).isZero();
    }
  }

  /**
   * Replaces one value, of which a verb may break; returns whether that failed. Where a place was
   * lost, another value makes room.
   */
  private static boolean breaks(
      HookedFabric fabric,
      Break how,
      SplittableRandom random,
      ByteSession session,
      NavigableMap<Integer, Long> seeds) {
    int drawn = random.nextInt(seeds.lastKey() + 1);
    Map.Entry<Integer, Long> entry = Objects.requireNonNull(seeds.ceilingEntry(drawn));
    int number = entry.getKey();
    long from = entry.getValue();
    long to = random.nextLong();
    int[] left = {random.nextInt(VERBS)};
    int kind = random.nextInt(4);
    fabric.hookNext(_ -> left[0]-- == 0, posting -> how.happen(fabric, posting, 0));
    Throwable failure = catchThrowable(() -> replace(session, kind, number, from, to));
    fabric.unhook();
    assertThat(session.get(key(number))).isTrue();
    boolean isOld = session.value().mismatch(value(from)) < 0;
    boolean isNew = session.value().mismatch(value(to)) < 0;
    if (failure == null) {
      assertThat(isNew).isTrue();
    } else {
      assertThat(failure).isInstanceOfAny(PandoException.class, OutOfMemoryError.class);
      assertThat(isOld || isNew).isTrue();
    }
    seeds.put(number, isNew ? to : from);
    if (failure instanceof PoolFullException) {
      assertThat(isOld).isTrue();
      remove(session, number, seeds);
    }
    return failure != null;
  }

  /** Removes a value, unless the place is lost that removals need. */
  private static void remove(ByteSession session, int number, Map<Integer, Long> seeds) {
    Throwable failure = catchThrowable(() -> session.discard(key(number)));
    if (failure == null) {
      seeds.remove(number);
    } else {
      assertThat(failure).isInstanceOf(PoolFullException.class);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"LOST", "DONE_AND_UNKNOWN", "ERROR_BEFORE"})
  void shouldKeepTheValueThatWasThereWhereAVerbFails(Break how) {
    SplittableRandom random = new SplittableRandom(Seeds.of(4401));
    HookedFabric fabric = new HookedFabric(pool());
    Open open = Open.of(fabric);
    try {
      NavigableMap<Integer, Long> seeds;
      int failed = 0;
      int count = Seeds.count(60, 500);
      try (ByteSession session = open.strings.session()) {
        seeds = fill(session);
        for (int i = 0; i < count; i++) {
          failed += breaks(fabric, how, random, session, seeds) ? 1 : 0;
        }
      }
      assertThat(failed).isBetween(count / 10, count * 9 / 10);
      try (ByteSession session = open.strings.session()) {
        assertHas(session, seeds);
      }
    } catch (Throwable e) {
      Closing.after(e, fabric::close);
      throw e;
    }
    open.close();
  }
}
