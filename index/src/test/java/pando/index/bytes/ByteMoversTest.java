package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.index.NotServedHereException;
import pando.index.Seeds;
import pando.index.Threads;

/** Several processes that give keys away at once, beside what else a process does with an index. */
@Timeout(300)
class ByteMoversTest {
  private static final int PROCESSES = 4;
  private static final int OPERATIONS = Seeds.count(1_500, 10_000, 100_000);
  private static final int KEY_BYTES_MAX = 4;

  @Test
  void shouldKeepEachKeyWhereSeveralGiveAtOnce() throws Exception {
    long seed = Seeds.of(3350);
    try (ByteMoves moves = new ByteMoves(PROCESSES, 128 << 20, ByteMoves.options(40_000))) {
      AtomicBoolean writing = new AtomicBoolean(true);
      NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
      List<Callable<Void>> tasks = new ArrayList<>();
      tasks.add(() -> {
        try {
          write(moves, model, new SplittableRandom(seed));
          return null;
        } finally {
          writing.set(false);
        }
      });
      for (int mover = 1; mover <= 3; mover++) {
        SplittableRandom random = new SplittableRandom(seed + mover);
        tasks.add(() -> move(moves, random, writing));
      }
      tasks.add(() -> care(moves, new SplittableRandom(~seed), writing));
      Threads.run(tasks);
      moves.gather();
      assertThat(moves.table().servers()).isEqualTo(1);
      NavigableMap<byte[], byte[]> all = moves.all();
      assertThat(all.keySet()).isEqualTo(model.keySet());
      model.forEach((key, value) -> assertThat(all.get(key)).isEqualTo(value));
    }
  }

  private static void write(
      ByteMoves moves, NavigableMap<byte[], byte[]> model, SplittableRandom random) {
    List<ByteSession> sessions = Arrays.stream(moves.indexes).map(ByteIndex::session).toList();
    for (int i = 0; i < OPERATIONS; i++) {
      byte[] key = ByteKeys.draw(random, KEY_BYTES_MAX);
      byte[] value = KeyedValue.draw(random, key, 300);
      boolean removes = random.nextInt(3) == 0;
      byte @Nullable [] before = model.get(key);
      MemorySegment its = MemorySegment.ofArray(key);
      boolean done = false;
      while (!done) {
        ByteSession session = sessions.get(moves.owner(key));
        try {
          boolean found =
              removes ? session.remove(its) : session.put(its, MemorySegment.ofArray(value));
          assertThat(found).isEqualTo(before != null);
          assertThat(found ? ByteKeys.bytes(session.value()) : null).isEqualTo(before);
          done = true;
        } catch (NotServedHereException _) {
          Thread.onSpinWait();
        }
      }
      if (removes) {
        model.remove(key);
      } else {
        model.put(key, value);
      }
    }
    sessions.forEach(ByteSession::close);
  }

  private static @Nullable Void move(
      ByteMoves moves, SplittableRandom random, AtomicBoolean writing) {
    while (writing.get()) {
      try {
        moves.change(random, KEY_BYTES_MAX);
      } catch (IllegalArgumentException _) {
        // Another thread has changed the ranges meanwhile.
      }
    }
    return null;
  }

  private static @Nullable Void care(
      ByteMoves moves, SplittableRandom random, AtomicBoolean writing) {
    while (writing.get()) {
      int number = random.nextInt(PROCESSES);
      ByteIndex index = moves.indexes[number];
      switch (random.nextInt(5)) {
        case 0 -> index.flush();
        case 1 -> index.giveMemoryBack();
        case 2 -> assertThat(index.space().usedBytes()).isPositive();
        case 3 -> moves.refresh(number);
        default -> index.giveFreePlacesBack();
      }
    }
    return null;
  }
}
