package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.PandoException;
import pando.index.BoundKey;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.orca.OrcaOptions;

/** Byte strings that two processes serve, with ranges that move, and a process that is lost. */
@Timeout(200)
class ByteProcessesTest {
  private static final int OPERATIONS = Seeds.count(2_000, 10_000, 300_000);

  private static ByteOptions options(int cacheBytes) {
    return ByteOptions.defaults()
        .withBlockBytes(256, 16)
        .withCacheBytes(cacheBytes)
        .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
  }

  @Test
  void shouldPassOnThatAKeyIsServedElsewhere() {
    MemorySegment low = ByteKeys.of((byte) 0);
    MemorySegment high = ByteKeys.of((byte) -1);
    MemorySegment value = MemorySegment.ofArray(new byte[100]);
    try (ByteProcesses both = new ByteProcesses(options(100_000))) {
      assertThat(both.divide(null)).isTrue();
      try (ByteSession first = both.indexes[0].session();
          ByteSession second = both.indexes[1].session()) {
        first.put(low, value);
        second.put(high, value);
        for (int i = 0; i < 10; i++) {
          assertThatThrownBy(() -> first.put(high, value))
              .isInstanceOf(NotServedHereException.class)
              .hasMessageContaining("ff");
          assertThatThrownBy(() -> second.remove(low)).isInstanceOf(NotServedHereException.class);
        }
        assertThatThrownBy(() -> first.higher(low)).isInstanceOf(NotServedHereException.class);
        assertThatThrownBy(() -> first.last()).isInstanceOf(NotServedHereException.class);
        assertThatThrownBy(() -> second.first()).isInstanceOf(NotServedHereException.class);
        List<byte[]> seen = new ArrayList<>();
        ByteVisitor visitor = (key, _) -> seen.add(ByteKeys.bytes(key));
        assertThatThrownBy(() -> first.scan(ByteKeys.of(), null, 9, visitor))
            .isInstanceOf(NotServedHereException.class);
        assertThatThrownBy(() -> second.scanDown(null, ByteKeys.of(), 9, visitor))
            .isInstanceOf(NotServedHereException.class);
        assertThat(seen).containsExactly(new byte[] {0}, new byte[] {-1});
        assertThat(first.scan(ByteKeys.of(), null, 1, visitor)).isEqualTo(1);
        MemorySegment fence = both.indexes[0].partitioning().fenceOfRange(1);
        assertThat(first.lower(fence)).isTrue();
        assertThat(first.scanDown(fence, ByteKeys.of(), 9, visitor)).isEqualTo(1);
        assertThat(second.ceiling(fence)).isTrue();
        assertThat(first.lower(ByteKeys.of())).isFalse();
        assertThat(both.indexes[0].partitions().orElseThrow().sizeEstimate(ByteProcesses.FIRST))
            .isEqualTo(1);
      }
    }
  }

  @Test
  void shouldCutAtAnyKey() {
    byte[] alike = new byte[60_000];
    Arrays.fill(alike, (byte) 'p');
    byte[] longest = Arrays.copyOf(alike, ByteIndex.KEY_BYTES_MAX);
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    List<byte[]> keys =
        List.of(new byte[0], new byte[] {0}, new byte[] {0, 0}, alike, longest, new byte[] {-1});
    try (ByteProcesses both = new ByteProcesses(options(1 << 20))) {
      try (ByteSession session = both.indexes[0].session()) {
        keys.forEach(key -> session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(key)));
        keys.forEach(key -> model.put(key, key));
      }
      byte[] behindLongest = longest.clone();
      behindLongest[longest.length - 1] = 'z';
      List<byte[]> fences =
          List.of(
              new byte[] {0},
              new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
              alike,
              Arrays.copyOf(alike, 60_001),
              longest,
              behindLongest,
              new byte[] {-1, -1, -1, -1, -1, -1, -1, -1, -1});
      both.divide(new byte[] {'a'});
      for (byte[] fence : fences) {
        both.move(fence);
        Partitioning table = both.indexes[0].partitioning();
        assertThat(ByteKeys.bytes(table.fenceOfRange(1))).isEqualTo(fence);
        checkBoth(both, model, fence);
      }
      both.removeSecond();
      try (ByteSession session = both.indexes[0].session()) {
        ByteModelRun.checkAll(session, model);
      }
      assertThat(both.indexes[1].partitions().orElseThrow().sizeEstimate(ByteProcesses.SECOND))
          .isZero();
      MemorySegment empty = MemorySegment.ofArray(new byte[0]);
      assertThatIllegalArgumentException()
          .isThrownBy(() ->
              both.indexes[0]
                  .partitions()
                  .orElseThrow()
                  .split(ByteProcesses.FIRST, BoundKey.of(empty), 3));
      MemorySegment tooLong = MemorySegment.ofArray(new byte[ByteIndex.KEY_BYTES_MAX + 1]);
      assertThatIllegalArgumentException()
          .isThrownBy(() ->
              both.indexes[0]
                  .partitions()
                  .orElseThrow()
                  .split(ByteProcesses.FIRST, BoundKey.of(tooLong), 3));
    }
  }

  /** Checks that each process has its part, as a scan up and a scan down see it. */
  private static void checkBoth(
      ByteProcesses both, NavigableMap<byte[], byte[]> model, byte[] fence) {
    Partitioning table = both.indexes[0].partitioning();
    MemorySegment bound = MemorySegment.ofArray(fence);
    for (int range = 0; range < 2; range++) {
      ByteIndex index = both.indexes[table.ownerOfRange(range) == ByteProcesses.FIRST ? 0 : 1];
      List<byte[]> expected =
          List.copyOf(
              (range == 0 ? model.headMap(fence, false) : model.tailMap(fence, true)).keySet());
      List<byte[]> seen = new ArrayList<>();
      MemorySegment from = range == 0 ? MemorySegment.ofArray(new byte[0]) : bound;
      MemorySegment to = range == 0 ? bound : null;
      try (ByteSession session = index.session()) {
        session.scan(from, to, 1_000, (key, _) -> seen.add(ByteKeys.bytes(key)));
        assertThat(seen).containsExactlyElementsOf(expected);
        seen.clear();
        session.scanDown(to, from, 1_000, (key, _) -> seen.add(ByteKeys.bytes(key)));
        assertThat(seen.reversed()).containsExactlyElementsOf(expected);
        for (byte[] key : expected) {
          assertThat(session.get(MemorySegment.ofArray(key))).isTrue();
          assertThat(ByteKeys.bytes(session.value())).isEqualTo(model.get(key));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 20_000, 4_000_000})
  void shouldKeepWhatEachThreadWritesWhileRangesMove(int cacheBytes) throws Exception {
    long seed = Seeds.of(3301);
    NavigableMap<byte[], byte[]> all = new TreeMap<>(Arrays::compareUnsigned);
    try (ByteProcesses both = new ByteProcesses(options(cacheBytes))) {
      List<NavigableMap<byte[], byte[]>> models = new ArrayList<>();
      AtomicInteger writing = new AtomicInteger(3);
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int number = 0; number < 3; number++) {
        NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
        models.add(model);
        byte writer = (byte) ('x' + number);
        SplittableRandom random = new SplittableRandom(seed + number);
        tasks.add(() -> {
          try {
            write(both, model, writer, random);
            return null;
          } finally {
            writing.decrementAndGet();
          }
        });
      }
      tasks.add(() -> read(both, writing, new SplittableRandom(seed)));
      tasks.add(() -> {
        SplittableRandom random = new SplittableRandom(~seed);
        while (writing.get() > 0) {
          both.change(random, 3);
        }
        return null;
      });
      Threads.run(tasks);
      models.forEach(all::putAll);
      if (both.indexes[0].partitioning().servers() == 2) {
        both.removeSecond();
      }
      try (ByteSession session = both.indexes[0].session()) {
        ByteModelRun.checkAll(session, all);
        all.keySet().forEach(key -> session.discard(MemorySegment.ofArray(key)));
      }
      both.indexes[1].close();
      // All that either has stored, and the other one has freed, is with the memory servers again.
      assertThat(both.indexes[0].space().otherBytes()).isZero();
      both.indexes[0].close();
    }
  }

  private static void write(
      ByteProcesses both,
      NavigableMap<byte[], byte[]> model,
      byte writer,
      SplittableRandom random) {
    ByteSession[] sessions = both.sessions();
    try (ByteSession first = sessions[0];
        ByteSession second = sessions[1]) {
      for (int i = 0; i < OPERATIONS; i++) {
        byte[] drawn = ByteKeys.draw(random, 3);
        byte[] key = Arrays.copyOf(drawn, drawn.length + 1);
        key[drawn.length] = writer;
        byte[] value = KeyedValue.draw(random, key, 200);
        boolean shrinks = i / (OPERATIONS / 6) % 2 == 1;
        byte @Nullable [] before = model.get(key);
        int kind = random.nextInt(4);
        boolean removes = shrinks == kind > 1;
        byte[] found =
            both.served(
                sessions,
                key,
                session -> {
                  MemorySegment its = MemorySegment.ofArray(key);
                  boolean isThere =
                      kind == 0
                          ? session.get(its)
                          : removes
                              ? session.remove(its)
                              : session.put(its, MemorySegment.ofArray(value));
                  return isThere ? ByteKeys.bytes(session.value()) : new byte[0];
                });
        assertThat(found).isEqualTo(before == null ? new byte[0] : before);
        if (kind > 0 && removes) {
          model.remove(key);
        } else if (kind > 0) {
          model.put(key, value);
        }
      }
      assertThat(first).isNotSameAs(second);
    }
  }

  private static Void read(ByteProcesses both, AtomicInteger writing, SplittableRandom random) {
    try (ByteSession first = both.indexes[0].session();
        ByteSession second = both.indexes[1].session()) {
      while (writing.get() > 0) {
        MemorySegment key = MemorySegment.ofArray(ByteKeys.draw(random, 3));
        ByteSession session = random.nextBoolean() ? first : second;
        boolean down = random.nextBoolean();
        try {
          scan(session, key, down);
          if (down ? session.floor(key) : session.higher(key)) {
            KeyedValue.checked(session.key(), session.value());
            int order = ByteIndex.compare(session.key(), key);
            assertThat(down ? order <= 0 : order > 0).isTrue();
          }
        } catch (NotServedHereException _) {
          // The rest is the other one's.
        }
      }
      return null;
    }
  }

  private static void scan(ByteSession session, MemorySegment from, boolean down) {
    List<byte[]> seen = new ArrayList<>();
    ByteVisitor visitor =
        (key, value) -> {
          byte[] its = ByteKeys.bytes(key);
          int order = seen.isEmpty() ? 0 : Arrays.compareUnsigned(its, seen.getLast());
          assertThat(seen.isEmpty() || (down ? order < 0 : order > 0)).isTrue();
          KeyedValue.checked(key, value);
          return seen.add(its);
        };
    if (down) {
      session.scanDown(null, from, 100, visitor);
    } else {
      session.scan(from, null, 100, visitor);
    }
  }

  /** What was flushed is there, or what was acknowledged later; all else is whole. */
  @ParameterizedTest
  @ValueSource(ints = {0, 20_000, 4_000_000})
  void shouldHaveWhatWasFlushedWhereAProcessIsLost(int cacheBytes) {
    SplittableRandom random = new SplittableRandom(Seeds.of(3302));
    try (ByteProcesses both = new ByteProcesses(options(cacheBytes))) {
      NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
      for (int round = 0; round < Seeds.count(3, 12, 200); round++) {
        ByteSession[] sessions = both.sessions();
        for (int i = 0; i < 6; i++) {
          both.change(random, 3);
          change(both, sessions, model, random, 300);
        }
        both.indexes[0].flush();
        both.indexes[1].flush();
        NavigableMap<byte[], byte[]> flushed = new TreeMap<>(Arrays::compareUnsigned);
        flushed.putAll(model);
        NavigableMap<byte[], List<byte[]>> later = new TreeMap<>(Arrays::compareUnsigned);
        changeSecond(both, sessions[1], later, random);
        both.loseSecond();
        assertThatThrownBy(() -> both.indexes[1].close()).isInstanceOf(PandoException.class);
        model.clear();
        sessions[0].scan(
            ByteKeys.of(),
            null,
            Long.MAX_VALUE,
            (key, value) -> {
              model.put(ByteKeys.bytes(key), KeyedValue.checked(key, value));
              return true;
            });
        checkLost(flushed, later, model);
        ByteModelRun.checkAll(sessions[0], model);
        sessions[0].close();
        both.join();
      }
    }
  }

  private static void change(
      ByteProcesses both,
      ByteSession[] sessions,
      NavigableMap<byte[], byte[]> model,
      SplittableRandom random,
      int operations) {
    for (int i = 0; i < operations; i++) {
      byte[] key = ByteKeys.draw(random, 3);
      byte[] value = KeyedValue.draw(random, key, 20_000 >> random.nextInt(12));
      byte @Nullable [] before = model.get(key);
      boolean removes = random.nextInt(3) == 0;
      boolean found =
          both.served(
              sessions,
              key,
              session -> {
                MemorySegment its = MemorySegment.ofArray(key);
                boolean isThere =
                    removes ? session.remove(its) : session.put(its, MemorySegment.ofArray(value));
                if (isThere) {
                  assertThat(ByteKeys.bytes(session.value())).isEqualTo(before);
                }
                return isThere;
              });
      assertThat(found).isEqualTo(before != null);
      if (removes) {
        model.remove(key);
      } else {
        model.put(key, value);
      }
    }
  }

  /** Changes keys of the second process; removals are empty values. */
  private static void changeSecond(
      ByteProcesses both,
      ByteSession session,
      NavigableMap<byte[], List<byte[]>> later,
      SplittableRandom random) {
    for (int i = 0; i < 500; i++) {
      byte[] key = ByteKeys.draw(random, 3);
      byte[] value = KeyedValue.draw(random, key, 20_000 >> random.nextInt(12));
      boolean removes = random.nextInt(3) == 0;
      Partitioning table = both.indexes[1].partitioning();
      MemorySegment its = MemorySegment.ofArray(key);
      if (table.ownerOfRange(KeyBounds.rangeOfKey(table, its)) == ByteProcesses.SECOND) {
        if (removes) {
          session.discard(its);
        } else {
          session.store(its, MemorySegment.ofArray(value));
        }
        later.computeIfAbsent(key, _ -> new ArrayList<>()).add(removes ? new byte[0] : value);
      }
    }
  }

  private static void checkLost(
      NavigableMap<byte[], byte[]> flushed,
      NavigableMap<byte[], List<byte[]>> later,
      NavigableMap<byte[], byte[]> found) {
    NavigableMap<byte[], byte[]> all = new TreeMap<>(Arrays::compareUnsigned);
    all.putAll(flushed);
    later.keySet().forEach(key -> all.putIfAbsent(key, new byte[0]));
    all.forEach((key, value) -> {
      List<byte[]> possible = new ArrayList<>(later.getOrDefault(key, List.of()));
      possible.add(value);
      assertThat(possible).contains(found.getOrDefault(key, new byte[0]));
    });
    assertThat(all.keySet()).containsAll(found.keySet());
  }
}
