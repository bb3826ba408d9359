package pando.index.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.index.Seeds;
import pando.index.Threads;

/** The cache of records beside a map: it may forget, but never tells anything else. */
class RecordPartTest {
  private static final int OPERATIONS = Seeds.count(100_000, 200_000, 3_000_000);

  private static RecordPart part(Arena arena, int bytes) {
    return new RecordPart(arena.allocate(Math.max(bytes, 8), 8).asSlice(0, bytes), () -> {});
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 8, 64, 200, 1_000, 5_000, 100_000})
  void shouldTellWhatWasPutOrNothing(int bytes) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2901));
    try (Arena arena = Arena.ofConfined()) {
      RecordPart part = part(arena, bytes);
      ByteRecordCache.Found found = new ByteRecordCache.Found();
      Map<Integer, byte[]> model = new HashMap<>();
      int hits = 0;
      for (int i = 0; i < OPERATIONS; i++) {
        int number = random.nextInt(random.nextInt(300) + 1);
        byte[] key = ("key" + number * number).getBytes(UTF_8);
        MemorySegment its = MemorySegment.ofArray(key);
        // few hashes, so that chains are long and hashes agree
        long hash = ByteKeyHash.of(MemorySegment.ofArray(new byte[] {(byte) (number / 3)}));
        int operation = random.nextInt(10);
        if (i % (OPERATIONS / 4) == 0) {
          locked(part, part::clear);
          model.clear();
        }
        if (operation == 0) {
          locked(part, () -> part.remove(hash, its));
          model.remove(number);
        } else if (operation < 3) {
          byte[] value = ByteKeys.value(random, random.nextInt(20) == 0 ? 20_000 : 40);
          long word = random.nextInt(3) == 0 ? 5 + number : 0;
          boolean takes = part.takes(key.length, value.length);
          boolean takesWord = word != 0 && part.takes(key.length, Long.BYTES);
          locked(part, () -> part.put(hash, its, MemorySegment.ofArray(value), word));
          if (takes || takesWord) {
            model.put(number, takes ? value : new byte[] {(byte) word, (byte) (word >> 8), 0});
          } else {
            model.remove(number);
          }
        } else if (part.find(hash, its, found)) {
          hits++;
          byte[] expected = Objects.requireNonNull(model.get(number), "found, but not there");
          if (found.isBlob()) {
            assertThat((byte) found.word()).isEqualTo(expected[0]);
          } else {
            assertThat(Arrays.copyOf(ByteKeys.bytes(found.bytes()), found.length()))
                .isEqualTo(expected);
          }
        }
      }
      System.out.println(bytes + " bytes: " + hits + " hits");
      assertThat(hits > OPERATIONS / 3).isEqualTo(bytes == 100_000);
      assertThat(hits > 0).isEqualTo(bytes >= 1_000);
    }
  }

  private static void locked(RecordPart part, Runnable action) {
    assertThat(part.tryLatch()).isTrue();
    try {
      assertThat(part.tryLatch()).isFalse();
      action.run();
    } finally {
      part.unlatch();
    }
  }

  @Test
  void shouldKeepWhatIsUsed() {
    try (Arena arena = Arena.ofConfined()) {
      RecordPart part = part(arena, 20_000);
      ByteRecordCache.Found found = new ByteRecordCache.Found();
      MemorySegment value = MemorySegment.ofArray(new byte[20]);
      int lost = 0;
      for (int i = 0; i < 20_000; i++) {
        MemorySegment cold = key(i);
        long hash = ByteKeyHash.of(cold);
        locked(part, () -> part.put(hash, cold, value, 0));
        for (int hot = -20; hot < 0; hot++) {
          MemorySegment used = key(hot);
          long its = ByteKeyHash.of(used);
          if (!part.find(its, used, found)) {
            lost++;
            locked(part, () -> part.put(its, used, value, 0));
          }
        }
      }
      assertThat(lost).isLessThan(200);
    }
  }

  private static MemorySegment key(int number) {
    return MemorySegment.ofArray(("some key " + number).getBytes(UTF_8));
  }

  /** Each value has one byte all over, which is that of its key. */
  @Test
  void shouldNotTellOfHalfARecordWhileOthersChangeIt() throws Exception {
    long seed = Seeds.of(2902);
    try (Arena arena = Arena.ofShared()) {
      RecordPart part = part(arena, 4_000);
      AtomicInteger writing = new AtomicInteger(2);
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int writer = 0; writer < 2; writer++) {
        SplittableRandom random = new SplittableRandom(seed + writer);
        tasks.add(() -> {
          try {
            for (int i = 0; i < OPERATIONS; i++) {
              int number = random.nextInt(40);
              byte[] value = new byte[random.nextInt(60)];
              Arrays.fill(value, (byte) number);
              while (!part.tryLatch()) {
                Thread.onSpinWait();
              }
              try {
                part.put(ByteKeyHash.of(key(number)), key(number), MemorySegment.ofArray(value), 0);
              } finally {
                part.unlatch();
              }
            }
            return null;
          } finally {
            writing.decrementAndGet();
          }
        });
      }
      tasks.add(() -> {
        ByteRecordCache.Found found = new ByteRecordCache.Found();
        SplittableRandom random = new SplittableRandom(seed);
        while (writing.get() > 0) {
          int number = random.nextInt(40);
          if (part.find(ByteKeyHash.of(key(number)), key(number), found)) {
            byte[] bytes = ByteKeys.bytes(found.bytes());
            for (int i = 0; i < found.length(); i++) {
              assertThat(bytes[i]).isEqualTo((byte) number);
            }
          }
        }
        return null;
      });
      Threads.run(tasks);
    }
  }
}
