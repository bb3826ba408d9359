package pando.index.blob;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.PoolUsage;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.Break;
import pando.index.CorruptNodeException;
import pando.index.HookedFabric;
import pando.index.PoolPart;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;

class BlobsTest {
  private static final int SERVERS = 3;

  private final HookedFabric fabric =
      new HookedFabric(Pools.open(SERVERS, 24 << 20, 1)).withThreads();
  private final BlobSpace space = new BlobSpace(fabric);
  private final Blobs blobs = new Blobs(space);

  @AfterEach
  void close() {
    fabric.close();
  }

  /** Returns bytes of which the first tell the seed, and all depend on it. */
  private static byte[] value(long seed, int length) {
    byte[] bytes = new byte[length];
    new SplittableRandom(seed).nextBytes(bytes);
    return bytes;
  }

  private long store(long key, byte[] value) {
    return blobs.store(key, MemorySegment.ofArray(value), 0, value.length);
  }

  private static byte[] loaded(Blobs from) {
    return from.bytes().asSlice(from.offset(), from.length()).toArray(ValueLayout.JAVA_BYTE);
  }

  private void assertLoads(long key, long word, byte[] value) {
    assertThat(blobs.load(key, word)).isTrue();
    assertThat(loaded(blobs)).isEqualTo(value);
  }

  private long usedBytes() {
    return fabric.usage().stream().mapToLong(PoolUsage::usedBytes).sum();
  }

  private void assertNothingStays() {
    blobs.close();
    space.close();
    assertThat(space.bytesInUse()).isZero();
    assertThat(usedBytes()).isZero();
    assertThat(fabric.openMemories()).isZero();
  }

  @Test
  void shouldLoadWhatWasStoredOfEachLength() {
    int part = space.partMax();
    int[] lengths = {
      0,
      1,
      6,
      7,
      8,
      51,
      52,
      53,
      116,
      117,
      500,
      501,
      4_000,
      part - 1,
      part,
      part + 1,
      2 * part,
      2 * part + 1,
      space.lengthMax() - 1,
      space.lengthMax()
    };
    List<Long> words = new ArrayList<>();
    for (int length : lengths) {
      words.add(store(length, value(length, length)));
    }
    for (int i = 0; i < lengths.length; i++) {
      assertLoads(lengths[i], words.get(i), value(lengths[i], lengths[i]));
      blobs.free(lengths[i], words.get(i));
    }
    assertNothingStays();
  }

  @Test
  void shouldRefuseWhatIsTooLong() {
    byte[] tooLong = new byte[space.lengthMax() + 1];
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store(1, tooLong))
        .withMessage(
            "the value is too long: valueBytes=%s, maximum=%s", tooLong.length, space.lengthMax());
    assertThat(space.lengthMax()).isBetween(8_000_000, BlobSpace.LENGTH_MAX);
    assertNothingStays();
  }

  @Test
  void shouldNeedNoVerbForShortValues() {
    for (int length = 0; length <= 7; length++) {
      byte[] value = value(5, length);
      long word = store(9, value);
      assertLoads(10, word, value);
      blobs.free(9, word);
    }
    assertThat(blobs.verbs().roundTrips).isZero();
    assertNothingStays();
  }

  @Test
  void shouldNeedOneWriteAndOneReadOfTheClass() {
    for (int i = 0; i < 100; i++) {
      blobs.free(1, store(1, value(i, 300))); // at each memory server, a CALL brings the first
    }
    long trips = blobs.verbs().roundTrips;
    long word = store(1, value(3, 300));
    assertThat(blobs.verbs().roundTrips - trips).isEqualTo(1);
    long bytes = blobs.verbs().bytesIn;
    assertLoads(1, word, value(3, 300));
    assertThat(blobs.verbs().roundTrips - trips).isEqualTo(2);
    assertThat(blobs.verbs().bytesIn - bytes).isEqualTo(320);
    assertThat(space.bytesInUse()).isEqualTo(320);
    blobs.free(1, word);
    assertNothingStays();
  }

  @Test
  void shouldLoadSeveralTogether() {
    int count = 100;
    long[] keys = new long[count];
    long[] words = new long[count];
    for (int i = 0; i < count; i++) {
      keys[i] = i;
      int length = i % 10 == 0 ? i % 7 : i == 55 ? 2 * space.partMax() : 3 * i;
      words[i] = store(i, value(i, length));
    }
    blobs.free(7, words[7]);
    for (int i = 0; i < count; i++) {
      store(1_000, value(7, 21)); // one of them takes its place
    }
    long trips = blobs.verbs().roundTrips;
    int[] received = {0};
    blobs.loadAll(
        keys,
        words,
        count,
        (number, bytes, offset, length) -> {
          assertThat(number).isEqualTo(received[0]++);
          if (number == 7) {
            assertThat(length).isEqualTo(-1);
          } else {
            byte[] found = bytes.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
            assertThat(found).isEqualTo(value(number, found.length));
          }
        });
    assertThat(received[0]).isEqualTo(count);
    assertThat(blobs.verbs().roundTrips - trips).isLessThan(20);
  }

  @Test
  void shouldBeLikeAMap() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2101));
    record Stored(long key, long word, long seed, int length) {}
    List<Stored> all = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      if (random.nextInt(100) < (i / 2_000 % 2 == 0 ? 60 : 40) || all.isEmpty()) {
        int length = 1 << random.nextInt(14);
        long seed = random.nextLong();
        int drawn = random.nextInt(length);
        long key = random.nextInt(50);
        all.add(new Stored(key, store(key, value(seed, drawn)), seed, drawn));
      } else {
        Stored stored = all.remove(random.nextInt(all.size()));
        assertLoads(stored.key, stored.word, value(stored.seed, stored.length));
        blobs.free(stored.key, stored.word);
      }
    }
    all.forEach(stored -> {
      assertLoads(stored.key, stored.word, value(stored.seed, stored.length));
      blobs.free(stored.key, stored.word);
    });
    assertNothingStays();
  }

  @Test
  void shouldNotTakeWhatIsThereNoMoreForTheValue() {
    byte[] value = value(1, 100);
    long word = store(1, value);
    assertThat(blobs.load(2, word)).isFalse();
    assertThat(blobs.load(1, word ^ 1L << 63)).isFalse();
    blobs.free(1, word);
    long[] next = new long[2_000];
    for (int i = 0; i < next.length; i++) {
      next[i] = store(1, value(i, 100));
    }
    assertThat(next).doesNotContain(word);
    assertThat(blobs.load(1, word)).isFalse();
  }

  @Test
  void shouldDetectEachBitThatIsDamaged() {
    byte[] value = value(1, 77);
    long word = store(3, value);
    long address = BlobWord.address(word);
    try (RegisteredMemory memory = fabric.register(BlobLayout.bytes(77));
        Worker worker = fabric.worker(memory)) {
      for (int bit = 0; bit < BlobLayout.bytes(77) * Byte.SIZE; bit++) {
        worker.read(address, 0, BlobLayout.bytes(77));
        flip(worker.memory(), bit);
        worker.write(address, 0, BlobLayout.bytes(77));
        assertThat(blobs.load(3, word)).as("bit %s", bit).isFalse();
        flip(worker.memory(), bit);
        worker.write(address, 0, BlobLayout.bytes(77));
      }
    }
    assertLoads(3, word, value);
  }

  private static void flip(MemorySegment memory, int bit) {
    byte before = memory.get(ValueLayout.JAVA_BYTE, bit / Byte.SIZE);
    memory.set(ValueLayout.JAVA_BYTE, bit / Byte.SIZE, (byte) (before ^ 1 << bit % Byte.SIZE));
  }

  @Test
  void shouldNotFollowDamagedWords() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2102));
    long word = store(1, value(1, 100));
    for (int i = 0; i < 20_000; i++) {
      long damaged = i < Long.SIZE ? word ^ 1L << i : random.nextLong();
      if (BlobWord.isBlob(damaged) || BlobWord.shortLength(damaged) > BlobWord.SHORT_MAX) {
        assertThat(blobs.load(1, damaged)).isFalse();
      }
    }
    // A blob of which only the word is damaged is not freed.
    long used = space.bytesInUse();
    for (int i = 7; i < Long.SIZE; i++) {
      long damaged = -1L ^ 1L << i;
      if (BlobWord.isBlob(damaged)) {
        blobs.free(1, damaged);
        assertThatThrownBy(() -> store(2, new byte[20])).isInstanceOf(CorruptNodeException.class);
      }
    }
    assertThat(space.bytesInUse()).isEqualTo(used);
    assertLoads(1, word, value(1, 100));
  }

  @Test
  void shouldKeepNothingWhereThePoolIsFull() {
    Map<Long, Integer> stored = new HashMap<>();
    int length = 3 * space.partMax();
    Throwable failure = null;
    for (int i = 0; failure == null; i++) {
      int number = i;
      failure = catchThrowable(() -> stored.put(store(1, value(number, length)), number));
    }
    assertThat(failure).isInstanceOf(PoolFullException.class);
    long inUse = space.bytesInUse();
    assertThatThrownBy(() -> store(1, value(0, length))).isInstanceOf(PoolFullException.class);
    assertThat(space.bytesInUse()).isEqualTo(inUse);
    stored.forEach((word, number) -> assertLoads(1, word, value(number, length)));
    stored.keySet().forEach(word -> blobs.free(1, word));
    store(1, new byte[0]);
    assertLoads(1, store(1, value(5, length)), value(5, length));
  }

  private List<Long> fill(byte[] value) {
    List<Long> words = new ArrayList<>();
    Throwable failure = null;
    while (failure == null) {
      failure = catchThrowable(() -> words.add(store(1, value)));
    }
    assertThat(failure).isInstanceOf(PoolFullException.class);
    return words;
  }

  private static long storeInPlaceOf(Blobs by, long before, byte[] value) {
    return by.storeInPlaceOf(before, 1, MemorySegment.ofArray(value), 0, value.length);
  }

  @Test
  void shouldKeepOnePlaceOfEachSizeAndGiveItBack() {
    for (int i = 0; i < 30; i++) {
      blobs.free(1, store(1, value(i, 100 + 300 * (i % 3))));
    }
    long kept =
        space.kept().stream()
            .filter(part -> part.name().contains("replace"))
            .mapToLong(PoolPart::bytes)
            .sum();
    assertThat(kept).isEqualTo(128 + 448 + 768);
    assertNothingStays();
  }

  @Test
  void shouldReplaceInAFullPoolOneAfterTheOther() {
    byte[] value = value(1, 8_000);
    List<Long> words = fill(value);
    try (Blobs others = new Blobs(space)) {
      long first = storeInPlaceOf(blobs, words.get(0), value(2, 8_000));
      fabric.hookPause(
          3,
          () -> {
            blobs.free(1, words.get(0));
            blobs.endReplacement();
          });
      long second = storeInPlaceOf(others, words.get(1), value(3, 8_000));
      others.free(1, second);
      others.endReplacement();
      assertLoads(1, first, value(2, 8_000));
      assertLoads(1, words.get(1), value);
      blobs.free(1, first);
      words.stream().skip(1).forEach(word -> blobs.free(1, word));
    }
    assertNothingStays();
  }

  @Test
  void shouldNotWaitForAPlaceThatIsLost() {
    byte[] value = value(1, 8_000);
    List<Long> words = fill(value);
    try (Blobs others = new Blobs(space)) {
      assertThatThrownBy(() -> storeInPlaceOf(blobs, words.get(0), value(2, 4_000)))
          .isInstanceOf(PoolFullException.class);
      long first = storeInPlaceOf(blobs, words.get(0), value);
      fabric.hookPause(3, blobs::endReplacement);
      assertThatThrownBy(() -> storeInPlaceOf(others, words.get(1), value))
          .isInstanceOf(PoolFullException.class);
      others.free(1, words.get(1));
      others.freeWaiting();
      long second = storeInPlaceOf(others, words.get(2), value);
      others.free(1, words.get(2));
      others.endReplacement();
      assertLoads(1, first, value);
      assertLoads(1, second, value);
      List.of(first, second, words.get(0)).forEach(word -> blobs.free(1, word));
      words.stream().skip(3).forEach(word -> blobs.free(1, word));
    }
    assertNothingStays();
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void shouldSurviveEachVerbThatFails(Break way) {
    int length = 2 * space.partMax() + 5;
    long old = store(1, value(1, length));
    long parts = store(1, value(2, 300));
    for (int verb = 0; verb < 8; verb++) {
      int[] before = {verb};
      long inUse = space.bytesInUse();
      blobs.free(1, parts);
      fabric.hookNext(_ -> before[0]-- == 0, posting -> way.happen(fabric, posting, 0));
      Throwable failure = catchThrowable(() -> store(1, value(3, length)));
      fabric.unhook();
      if (failure != null) {
        assertThat(failure).isInstanceOfAny(PandoException.class, OutOfMemoryError.class);
        assertLoads(1, old, value(1, length));
      }
      long word = store(1, value(3, length));
      assertLoads(1, word, value(3, length));
      assertLoads(1, old, value(1, length));
      blobs.free(1, word);
      parts = store(1, value(2, 300));
      if (way.isAnswered() && failure != null) {
        assertThat(space.bytesInUse()).isEqualTo(inUse);
      }
    }
  }

  @Test
  void shouldGiveBackWhatIsFreedAfterTheEnd() {
    long word = store(1, value(1, 500));
    space.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> store(2, value(2, 500)))
        .withMessage("the space for values is closed");
    assertLoads(1, word, value(1, 500));
    blobs.free(1, word);
    blobs.close();
    assertThat(usedBytes()).isZero();
  }

  /** A word comes back where a compute server is lost, and its blob is freed a second time. */
  @Test
  void shouldFreeABlobThatSeveralProcessesShareOnce() {
    BlobSpace one = new BlobSpace(fabric, true);
    BlobSpace other = new BlobSpace(fabric, true);
    byte[] longValue = value(1, 3 * space.partMax());
    try (Blobs first = new Blobs(one);
        Blobs second = new Blobs(other)) {
      for (byte[] value : List.of(value(1, 100), longValue)) {
        long word = first.store(1, MemorySegment.ofArray(value), 0, value.length);
        assertThat(second.load(1, word)).isTrue();
        second.free(1, word);
        first.free(1, word);
        first.freeWaiting();
        long freed = one.bytesInUse();
        second.freeWaiting();
        assertThat(second.load(1, word)).as("there").isFalse();
        first.free(1, word);
        first.freeWaiting();
        second.free(1, word);
        second.freeWaiting();
        assertThat(one.bytesInUse()).isEqualTo(freed).isZero();
        assertThat(other.bytesInUse()).isZero();
        // One that has taken its place is left alone.
        List<Long> words = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
          words.add(first.store(2, MemorySegment.ofArray(value), 0, value.length));
        }
        second.free(1, word);
        second.freeWaiting();
        for (long stored : words) {
          assertThat(second.load(2, stored)).isTrue();
          assertThat(loaded(second)).isEqualTo(value);
          first.free(2, stored);
        }
      }
    }
    one.close();
    other.close();
    assertNothingStays();
  }

  /** Threads free the same blobs: each place is given out once. */
  @Test
  void shouldFreeABlobOnceWhoeverIsFirst() throws Exception {
    int count = 2_000;
    BlobSpace[] spaces = {new BlobSpace(fabric, true), new BlobSpace(fabric, true)};
    long[] words = new long[count];
    try (Blobs all = new Blobs(spaces[0])) {
      for (int i = 0; i < count; i++) {
        words[i] = all.store(i, MemorySegment.ofArray(value(i, 50)), 0, 50);
      }
    }
    List<Callable<Void>> tasks = new ArrayList<>();
    for (BlobSpace each : spaces) {
      tasks.add(() -> {
        try (Blobs own = new Blobs(each)) {
          for (int i = 0; i < count; i++) {
            own.free(i, words[i]);
            own.freeWaiting();
          }
          return null;
        }
      });
    }
    Threads.run(tasks);
    assertThat(spaces[0].bytesInUse() + spaces[1].bytesInUse()).isZero();
    for (BlobSpace each : spaces) {
      each.close();
    }
    assertNothingStays();
  }

  @Test
  void shouldNotShowOthersTheirBlobsByHalf() throws Exception {
    AtomicLongArray words = new AtomicLongArray(8);
    for (int key = 0; key < words.length(); key++) {
      words.set(key, store(key, value(key, 200)));
    }
    AtomicInteger writing = new AtomicInteger(2);
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int writer = 0; writer < 2; writer++) {
      SplittableRandom random = new SplittableRandom(writer);
      tasks.add(() -> {
        try (Blobs own = new Blobs(space)) {
          for (int i = 0; i < 20_000; i++) {
            int key = random.nextInt(words.length());
            byte[] value = value(key, 150 + random.nextInt(100));
            long word = own.store(key, MemorySegment.ofArray(value), 0, value.length);
            own.free(key, words.getAndSet(key, word));
          }
          return null;
        } finally {
          writing.decrementAndGet();
        }
      });
    }
    for (int reader = 0; reader < 2; reader++) {
      SplittableRandom random = new SplittableRandom(reader);
      tasks.add(() -> {
        try (Blobs own = new Blobs(space)) {
          while (writing.get() > 0) {
            int key = random.nextInt(words.length());
            if (own.load(key, words.get(key))) {
              byte[] found = loaded(own);
              assertThat(found.length).isBetween(150, 249);
              assertThat(found).isEqualTo(value(key, found.length));
            }
          }
          return null;
        }
      });
    }
    Threads.run(tasks);
    for (int key = 0; key < words.length(); key++) {
      blobs.free(key, words.get(key));
    }
    assertNothingStays();
  }
}
