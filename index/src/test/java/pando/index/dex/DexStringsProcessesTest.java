package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.index.MeterReadings;
import pando.index.NotServedHereException;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteModelRun;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteVisitor;

/** Byte strings that two processes share, with ranges that move, and a process that is lost. */
@Timeout(200)
class DexStringsProcessesTest {
  private static final int OPERATIONS = Seeds.count(2_000, 10_000, 300_000);

  private static DexOptions options(int frames) {
    return DexOptions.defaults()
        .with("key-bytes", "16")
        .with("node-bytes", "256")
        .with("cache-bytes", String.valueOf(frames * 256))
        .with("compute-servers", "8");
  }

  @Test
  void shouldPassOnThatAKeyIsServedElsewhere() {
    MemorySegment low = ByteKeys.of((byte) 0);
    MemorySegment high = ByteKeys.of((byte) -1);
    MemorySegment value = MemorySegment.ofArray(new byte[100]);
    try (StringProcesses both = new StringProcesses(options(64));
        ByteSession first = both.strings[0].session();
        ByteSession second = both.strings[1].session()) {
      first.put(low, value);
      second.put(high, value);
      for (int i = 0; i < 10; i++) {
        assertThatThrownBy(() -> first.put(high, value)).isInstanceOf(NotServedHereException.class);
        assertThatThrownBy(() -> second.remove(low)).isInstanceOf(NotServedHereException.class);
      }
      assertThatThrownBy(() -> first.higher(low)).isInstanceOf(NotServedHereException.class);
      List<byte[]> seen = new ArrayList<>();
      ByteVisitor visitor = (key, _) -> seen.add(ByteKeys.bytes(key));
      assertThatThrownBy(() -> first.scan(ByteKeys.of(), null, 9, visitor))
          .isInstanceOf(NotServedHereException.class);
      assertThatThrownBy(() -> second.scanDown(null, ByteKeys.of(), 9, visitor))
          .isInstanceOf(NotServedHereException.class);
      assertThat(seen).containsExactly(new byte[] {0}, new byte[] {-1});
      assertThat(first.scan(ByteKeys.of(), null, 1, visitor)).isEqualTo(1);
      // Blobs that were not stored after all are not left behind.
      first.store(low, MemorySegment.ofArray(new byte[1]));
      second.store(high, MemorySegment.ofArray(new byte[1]));
      first.store(low, value);
      second.store(high, value);
      assertThat(stored(both, 0) + stored(both, 1)).isEqualTo(2 * 128);
    }
  }

  private static long stored(StringProcesses both, int process) {
    return MeterReadings.of(both.strings[process])
        .getOrDefault("pando.value.bytes", -1.0)
        .longValue();
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 4_000})
  void shouldKeepWhatEachThreadWritesWhileRangesMove(int frames) throws Exception {
    long seed = Seeds.of(3301);
    NavigableMap<byte[], byte[]> all = new TreeMap<>(Arrays::compareUnsigned);
    try (StringProcesses both = new StringProcesses(options(frames))) {
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
          both.move(random);
        }
        return null;
      });
      Threads.run(tasks);
      models.forEach(all::putAll);
      both.strings[1].close();
      both.indexes[1].partitions().orElseThrow().removeComputeServer(StringProcesses.SECOND);
      both.indexes[0].partitions().orElseThrow().refreshPartitions();
      try (ByteSession session = both.strings[0].session()) {
        ByteModelRun.checkAll(session, all);
        all.keySet().forEach(key -> session.discard(MemorySegment.ofArray(key)));
      }
      assertThat(both.strings[0].valuesLost() + both.strings[1].valuesLost()).isZero();
      both.strings[0].close();
      both.indexes[1].close();
      // All that either has stored, and the other one has freed, is with the memory servers again.
      assertThat(both.indexes[0].space().otherBytes()).isZero();
    }
  }

  private static void write(
      StringProcesses both,
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

  private static Void read(StringProcesses both, AtomicInteger writing, SplittableRandom random) {
    try (ByteSession first = both.strings[0].session();
        ByteSession second = both.strings[1].session()) {
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
        } catch (NotServedHereException e) {
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

  /**
   * The second process is lost again and again, with changes that its cache alone has: old words
   * come back, whose blobs it had freed and stored others in their places. With a small cache some
   * of the changes were written. So that the tree stays whole, keys that were not there before are
   * none of these changes, and nothing is merged.
   */
  @Tag("campaign")
  @ParameterizedTest
  @ValueSource(ints = {64, 4_000})
  void shouldTakeNoValueForAnotherWhereAProcessIsLost(int frames) {
    SplittableRandom random = new SplittableRandom(Seeds.of(3302));
    try (StringProcesses both = new StringProcesses(options(frames).with("merge-share", "0"))) {
      NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
      for (int round = 0; round < Seeds.count(4, 12, 200); round++) {
        ByteSession[] sessions = both.sessions();
        change(both, sessions, model, random, 1_500, false);
        // All is in the pool; what comes now is not.
        both.indexes[1].space();
        List<byte[]> keys = List.copyOf(model.keySet());
        change(both, sessions, model, random, 1_000, true);
        both.loseSecond();
        assertThatThrownBy(() -> both.strings[1].close()).isInstanceOf(PandoException.class);
        assertThatThrownBy(() -> both.indexes[1].close()).isInstanceOf(FencedException.class);
        changeBlindly(sessions[0], keys, random);
        model.clear();
        takeStock(sessions[0], model, random);
        ByteModelRun.checkAll(sessions[0], model);
        change(both, sessions, model, random, 1_500, false);
        ByteModelRun.checkAll(sessions[0], model);
        sessions[0].close();
        both.join();
      }
      assertThat(both.strings[0].valuesLost()).isGreaterThan(10);
    }
  }

  private static void change(
      StringProcesses both,
      ByteSession[] sessions,
      NavigableMap<byte[], byte[]> model,
      SplittableRandom random,
      int operations,
      boolean knownKeys) {
    List<byte[]> keys = List.copyOf(model.keySet());
    for (int i = 0; i < operations; i++) {
      byte[] key = knownKeys ? keys.get(random.nextInt(keys.size())) : ByteKeys.draw(random, 3);
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

  private static List<byte[]> halfOf(List<byte[]> keys, int which) {
    return keys.stream().filter(key -> (Arrays.hashCode(key) & 1) == which).toList();
  }

  /**
   * Looks at one half of the keys; replaces or removes what others have, whatever that is, and so
   * frees it; what was seen has to stay.
   */
  private static void changeBlindly(
      ByteSession session, List<byte[]> keys, SplittableRandom random) {
    NavigableMap<byte[], byte[]> seen = new TreeMap<>(Arrays::compareUnsigned);
    for (byte[] key : halfOf(keys, 0)) {
      MemorySegment its = MemorySegment.ofArray(key);
      if (session.get(its)) {
        seen.put(key, KeyedValue.checked(its, session.value()));
      }
    }
    for (byte[] key : halfOf(keys, 1)) {
      if (random.nextInt(3) == 0) {
        session.discard(MemorySegment.ofArray(key));
      } else {
        byte[] value = KeyedValue.draw(random, key, 20_000 >> random.nextInt(12));
        session.store(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
      }
    }
    seen.forEach((key, value) -> {
      assertThat(session.get(MemorySegment.ofArray(key))).isTrue();
      assertThat(ByteKeys.bytes(session.value())).isEqualTo(value);
    });
  }

  /** Looks at what is there, in one of several ways: all of them agree with those that follow. */
  private static void takeStock(
      ByteSession session, NavigableMap<byte[], byte[]> model, SplittableRandom random) {
    ByteVisitor visitor =
        (key, value) -> {
          model.put(ByteKeys.bytes(key), KeyedValue.checked(key, value));
          return true;
        };
    switch (random.nextInt(3)) {
      case 0 -> session.scan(ByteKeys.of(), null, Long.MAX_VALUE, visitor);
      case 1 -> session.scanDown(null, ByteKeys.of(), Long.MAX_VALUE, visitor);
      default -> {
        for (boolean more = session.first(); more; more = session.higher(session.key())) {
          visitor.visit(session.key(), session.value());
        }
      }
    }
  }

  /** Each operation for which it matters that a lost value counts as absent. */
  @Test
  void shouldCountALostValueAsAbsentInEachOperation() {
    byte[][] keys = new byte[12][];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = new byte[] {-1, (byte) i};
    }
    MemorySegment value = MemorySegment.ofArray(new byte[100]);
    MemorySegment next = MemorySegment.ofArray(new byte[99]);
    try (StringProcesses both = new StringProcesses(options(2_000))) {
      ByteSession second = both.strings[1].session();
      for (byte[] key : keys) {
        second.put(MemorySegment.ofArray(key), value);
      }
      both.indexes[1].space();
      for (byte[] key : keys) {
        second.remove(MemorySegment.ofArray(key));
      }
      // What waits is freed now.
      second.put(MemorySegment.ofArray(keys[0]), value);
      both.loseSecond();
      try (ByteSession session = both.strings[0].session()) {
        MemorySegment[] its =
            Arrays.stream(keys).map(MemorySegment::ofArray).toArray(MemorySegment[]::new);
        assertThat(session.get(its[1])).isFalse();
        assertThat(session.put(its[2], next)).isFalse();
        assertThat(session.putIfAbsent(its[3], next)).isTrue();
        assertThat(session.update(its[4], next)).isFalse();
        assertThat(session.remove(its[5])).isFalse();
        assertThat(session.replace(its[6], value, next)).isFalse();
        assertThat(session.value().byteSize()).isZero();
        assertThat(session.remove(its[7], value)).isFalse();
        session.store(its[8], next);
        session.discard(its[9]);
        assertThat(session.floor(its[10])).isTrue();
        assertThat(session.key().mismatch(its[8])).isEqualTo(-1);
        List<byte[]> seen = new ArrayList<>();
        session.scan(its[1], null, 99, (key, _) -> seen.add(ByteKeys.bytes(key)));
        assertThat(seen).containsExactly(keys[2], keys[3], keys[8]);
        assertThat(both.strings[0].valuesLost()).isEqualTo(9);
        assertThat(both.indexes[0].partitions().orElseThrow().sizeEstimate(StringProcesses.FIRST))
            .isLessThanOrEqualTo(4);
      }
    }
  }
}
