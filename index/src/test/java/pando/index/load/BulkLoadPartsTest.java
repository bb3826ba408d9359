package pando.index.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.VerbCounters;
import pando.index.Entries;
import pando.index.EntrySource;
import pando.index.Partitioning;
import pando.index.Seeds;
import pando.index.SplitEntries;

/** Which entries of which parts a load gives to which thread. */
@Timeout(60)
class BulkLoadPartsTest {
  private static final int THREADS = 4;
  private static final int PER_LEAF = 3;
  private static final Partitioning ALL = Partitioning.equalWidth(2);

  @ParameterizedTest
  @ValueSource(longs = {51, 52, 53})
  void shouldLoadEachEntryOnceAndInOrder(long seed) {
    SplittableRandom random = new SplittableRandom(Seeds.of(seed));
    int threadsMost = 0;
    for (int round = 0; round < 2_000; round++) {
      NavigableMap<Long, Long> model = model(random);
      KeptParts kept = new KeptParts();
      EntrySource entries = SplitEntries.of(model, 1 + random.nextInt(9), random);
      BulkLoad.Built built = BulkLoad.run(kept, entries, ALL);
      assertThat(built.entries()).isEqualTo(model.size());
      assertThat(kept.all()).isEqualTo(new ArrayList<>(model.keySet()));
      kept.checkLows();
      threadsMost = Math.max(threadsMost, kept.parts.size());
    }
    assertThat(threadsMost).isEqualTo(THREADS);
  }

  /** Keys in clusters, often with no key between two, and often at the ends of all keys. */
  private static NavigableMap<Long, Long> model(SplittableRandom random) {
    NavigableMap<Long, Long> model = new TreeMap<>();
    long[] starts = {Long.MIN_VALUE, Long.MAX_VALUE - 8, 0, random.nextLong() >> 1};
    for (int i = random.nextInt(60); i > 0; i--) {
      long key = starts[random.nextInt(starts.length)] + random.nextInt(9);
      model.put(key, key);
    }
    return model;
  }

  @Test
  void shouldLoadPartsAtTheSameTime() {
    CountDownLatch reading = new CountDownLatch(THREADS);
    List<EntrySource> parts = new ArrayList<>();
    for (int part = 0; part < THREADS; part++) {
      parts.add(
          new Hooked(
              part * 100L,
              50,
              place -> {
                if (place == 20) {
                  reading.countDown();
                  await(reading); // for ever, if one thread reads one part after the other
                }
              }));
    }
    assertThat(BulkLoad.run(new KeptParts(), new SplitEntries(parts), ALL).entries())
        .isEqualTo(THREADS * 50L);
  }

  @Test
  void shouldEndAllThreadsAtTheFirstFailure() {
    for (int bad = 0; bad < THREADS; bad++) {
      int failing = bad;
      CountDownLatch failed = new CountDownLatch(1);
      KeptParts kept = new KeptParts();
      List<EntrySource> parts = new ArrayList<>();
      for (int part = 0; part < THREADS; part++) {
        int its = part;
        parts.add(
            new Hooked(
                part * 1_000_000_000L,
                Integer.MAX_VALUE,
                place -> {
                  if (its == failing && place == 5_000) {
                    failed.countDown();
                    throw sneaky(new InterruptedException("part " + its));
                  }
                  if (its != failing && place == 4_000) {
                    await(failed); // so others come to no end of their own
                  }
                }));
      }
      assertThatThrownBy(() -> BulkLoad.run(kept, new SplitEntries(parts), ALL))
          .isInstanceOf(InterruptedException.class)
          .hasMessage("part " + failing);
      assertThat(kept.abandoned).isTrue();
      assertThat(Thread.getAllStackTraces().keySet())
          .noneMatch(thread -> thread.getName().equals("pando-load"));
    }
  }

  @Test
  void shouldThrowTheFirstFailureWithTheOthers() {
    CountDownLatch failed = new CountDownLatch(1);
    EntrySource first =
        new Hooked(
            0,
            1_000,
            place -> {
              if (place == 500) {
                await(failed);
                throw new IllegalStateException("second");
              }
            });
    EntrySource second =
        new Hooked(
            1_000,
            1_000,
            place -> {
              if (place == 500) {
                new Thread(failed::countDown).start();
                throw new StackOverflowError("first");
              }
            });
    KeptParts kept = new KeptParts();
    Throwable thrown =
        catchThrowable(() -> BulkLoad.run(kept, new SplitEntries(List.of(first, second)), ALL));
    List<String> all = new ArrayList<>(List.of(String.valueOf(thrown.getMessage())));
    for (Throwable other : thrown.getSuppressed()) {
      all.add(String.valueOf(other.getMessage()));
    }
    assertThat(all).containsExactlyInAnyOrder("first", "second");
  }

  @Test
  void shouldRefusePartsOutOfOrder() {
    refuse("parts must ascend: part=1, first=10, before=0, its first=20", keys(20, 99), keys(10));
    refuse(
        "parts must ascend: part=2, first=10, before=0, its first=10", keys(10), keys(), keys(10));
    refuse("keys must ascend: entry=1, key=30, first of the next part=21", keys(10, 30), keys(21));
    refuse("keys must ascend: entry=1, key=21, first of the next part=21", keys(10, 21), keys(21));
    refuse("keys must ascend: entry=1, key=10, before=10", keys(10, 10), keys(21));
    // Nothing fits between 10 and 11, so one thread loads both.
    refuse("keys must ascend: entry=2, key=11, before=12", keys(10, 12), keys(11, 40));
  }

  private static void refuse(String message, EntrySource... parts) {
    KeptParts kept = new KeptParts();
    List<EntrySource> more = new ArrayList<>(List.of(parts));
    more.addFirst(new Hooked(-1_000, 20, _ -> {}));
    // The part before takes the first number.
    String shifted = message;
    for (int part = 2; part >= 0; part--) {
      shifted = shifted.replace("part=" + part + ", f", "part=" + (part + 1) + ", f");
      shifted = shifted.replace("before=" + part + ", its", "before=" + (part + 1) + ", its");
    }
    String expected = shifted;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> BulkLoad.run(kept, new SplitEntries(more), ALL))
        .withMessage(expected);
    assertThat(kept.abandoned).isTrue();
  }

  private static EntrySource keys(long... keys) {
    return Entries.keys(keys);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> RuntimeException sneaky(Throwable failure) throws T {
    throw (T) failure;
  }

  /** What happens before an entry is read. */
  private interface Before {
    void read(int place) throws InterruptedException;
  }

  /** Consecutive keys. */
  private static final class Hooked implements EntrySource {
    private final long from;
    private final int count;
    private final Before before;
    private int place;

    Hooked(long from, int count, Before before) {
      this.from = from;
      this.count = count;
      this.before = before;
    }

    @Override
    public boolean next() {
      try {
        before.read(place);
      } catch (InterruptedException e) {
        throw BulkLoadPartsTest.<RuntimeException>sneaky(e);
      }
      return place++ < count;
    }

    @Override
    public long key() {
      return from + place;
    }

    @Override
    public long value() {
      return 1;
    }
  }

  /** Keeps the keys that each thread adds. */
  private static final class KeptParts implements Loader {
    private final List<List<Long>> parts = new ArrayList<>();
    private final List<Long> lows = new ArrayList<>();
    private boolean abandoned;

    KeptParts() {
      Part _ = begin(Long.MIN_VALUE);
    }

    private Part begin(long low) {
      List<Long> its = new ArrayList<>();
      parts.add(its);
      lows.add(low);
      return (key, _) -> its.add(key);
    }

    /** Checks that there is room for a leaf between parts: it covers two keys or more. */
    void checkLows() {
      for (int i = 1; i < lows.size(); i++) {
        assertThat(parts.get(i).getFirst()).isEqualTo(lows.get(i));
        assertThat(lows.get(i) - 1).isGreaterThan(lows.get(i - 1)).isLessThan(Long.MAX_VALUE - 1);
      }
    }

    List<Long> all() {
      return parts.stream().flatMap(List::stream).toList();
    }

    @Override
    public int perLeaf() {
      return PER_LEAF;
    }

    @Override
    public int threads() {
      return THREADS;
    }

    @Override
    public Part part(long low) {
      return begin(low);
    }

    @Override
    public void startLeaf(long low) {}

    @Override
    public void add(long key, long value) {
      parts.getFirst().add(key);
    }

    @Override
    public long finish() {
      return 0;
    }

    @Override
    public long fence(int part, int parts) {
      return part == 0 ? Long.MIN_VALUE : part;
    }

    @Override
    public void abandon(@Nullable Throwable failure) {
      abandoned = true;
    }

    @Override
    public VerbCounters verbs() {
      return new VerbCounters();
    }

    @Override
    public void close() {}
  }
}
