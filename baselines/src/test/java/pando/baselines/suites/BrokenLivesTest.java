package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.memory.NativeMemory;
import pando.index.Configuration;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/** Indexes that are opened, used and closed, where a step of that fails: nothing is left open. */
@Timeout(3_000)
class BrokenLivesTest {
  private static final int TRIALS = Seeds.count(4, 60, 2_000);
  private static final int KEYS = 120;

  /** What is opened, used and closed. */
  record Subject(
      String name,
      BiFunction<Fabric, Boolean, AutoCloseable> opening,
      Consumer<AutoCloseable> use) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Subject> subjects() {
    Stream<Subject> strings =
        Stream.of(
            new Subject("byte-strings", BrokenLivesTest::openBytes, BrokenLivesTest::useStrings));
    return Stream.concat(SystemUnderTest.ALL.stream().map(BrokenLivesTest::ofWords), strings);
  }

  private static Subject ofWords(SystemUnderTest system) {
    Configuration tiny = system.tiny(2);
    return new Subject(
        system.systemName(),
        (fabric, isNew) -> isNew ? tiny.create(fabric) : tiny.join(fabric, 0, 2),
        BrokenLivesTest::useWords);
  }

  private static AutoCloseable openBytes(Fabric fabric, boolean isNew) {
    ByteOptions options = ByteOptions.defaults().withCacheBytes(4 << 20);
    return isNew ? ByteIndex.create(fabric, options) : ByteIndex.open(fabric, options);
  }

  private static void useWords(AutoCloseable opened) {
    try (Session session = ((RangeIndex) opened).session()) {
      for (long key = 0; key < KEYS; key++) {
        session.put(key * 1_000 - KEYS * 500, key);
      }
      session.scan(Long.MIN_VALUE, KEYS, (key, value) -> true);
      for (long key = 0; key < KEYS; key += 2) {
        session.remove(key * 1_000 - KEYS * 500);
      }
    }
  }

  private static void useStrings(AutoCloseable opened) {
    try (ByteSession session = ((ByteStrings) opened).session()) {
      for (int i = 0; i < KEYS; i++) {
        byte[] key = {(byte) i, (byte) (i * 7)};
        session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(new byte[i * 5]));
        if (i % 3 == 0) {
          session.remove(MemorySegment.ofArray(key));
        }
      }
    }
  }

  /** A way to fail. */
  record Way(String name, boolean lasts, Supplier<? extends Throwable> failure) {}

  private static final List<Way> WAYS =
      List.of(
          new Way("unknown", false, () -> new UnknownOutcomeException("a test")),
          new Way("error", false, () -> new OutOfMemoryError("a test")),
          new Way("lost", true, () -> new MemoryServerLostException("a test")),
          new Way("fenced", true, () -> new FencedException("a test")));

  private final List<AutoCloseable> opened = new ArrayList<>();

  private static @Nullable Throwable close(AutoCloseable closeable) {
    return catchThrowable(closeable::close);
  }

  /** Opens, uses and closes; returns the first failure. */
  private @Nullable Throwable live(Subject subject, Fabric fabric, boolean isNew) {
    opened.clear();
    return catchThrowable(() -> {
      AutoCloseable one = subject.opening.apply(fabric, isNew);
      opened.add(one);
      try (one) {
        subject.use.accept(one);
      }
    });
  }

  @ParameterizedTest
  @MethodSource("subjects")
  void shouldLeaveNothingOpen(Subject subject) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(7501));
    List<Steps> steps = List.of(steps(subject, false), steps(subject, true));
    for (int trial = 0; trial < TRIALS; trial++) {
      Way way = WAYS.get(trial % WAYS.size());
      boolean isNew = random.nextInt(3) == 0;
      Steps its = steps.get(isNew ? 1 : 0);
      int all = its.count;
      // Often where it opens something, or closes.
      int number =
          switch (random.nextInt(3)) {
            case 0 -> its.openings.get(random.nextInt(its.openings.size()));
            case 1 -> Math.max(0, all - 1 - random.nextInt(60));
            default -> random.nextInt(all);
          };
      try {
        breakOne(subject, isNew, number, way);
      } catch (AssertionError e) {
        throw new AssertionError(
            "%s: isNew=%s, step=%s of %s, way=%s".formatted(subject, isNew, number, all, way.name),
            e);
      }
    }
  }

  /** The steps of a life, and the numbers of those that open something. */
  record Steps(int count, List<Integer> openings) {}

  private Steps steps(Subject subject, boolean isNew) {
    try (Fabric real = Pools.open(2, 2 << 20, 1)) {
      BrittleFabric brittle = new BrittleFabric(real);
      if (!isNew) {
        assertThat(live(subject, real, true)).isNull();
      }
      brittle.fail(Integer.MAX_VALUE, 0, AssertionError::new);
      assertThat(live(subject, brittle.fabric(), isNew)).isNull();
      return new Steps(brittle.steps(), List.copyOf(brittle.openings()));
    }
  }

  private void breakOne(Subject subject, boolean isNew, int number, Way way) {
    try (Fabric real = Pools.open(2, 2 << 20, 1)) {
      BrittleFabric brittle = new BrittleFabric(real);
      if (!isNew) {
        assertThat(live(subject, real, true)).isNull();
      }
      // Their processors have begun once they answer.
      assertThat(real.usage()).hasSize(2);
      long before = NativeMemory.bytesInUse();
      brittle.fail(number, way.lasts ? Integer.MAX_VALUE : number, way.failure);
      Throwable failure = live(subject, brittle.fabric(), isNew);
      if (!way.lasts) {
        brittle.mend();
      }
      if (failure != null && !way.lasts && !opened.isEmpty()) {
        // It may be open still, with what could not be written.
        opened.forEach(one -> assertThat(close(one)).isNull());
      }
      assertThat(brittle.open()).as("workers and tasks, failure=%s", failure).isZero();
      assertThat(NativeMemory.bytesInUse() - before).as("memory, failure=%s", failure).isZero();
      opened.forEach(one -> assertThat(close(one)).isNull());
      assertThat(brittle.open()).isZero();
      assertThat(NativeMemory.bytesInUse()).isEqualTo(before);
    }
  }

  /** Closes index and fabric in every order, some of them twice, with sessions that are open. */
  @ParameterizedTest
  @MethodSource("subjects")
  void shouldFreeAllInEveryOrder(Subject subject) {
    SplittableRandom random = new SplittableRandom(Seeds.of(7502));
    for (int trial = 0; trial < TRIALS / 2; trial++) {
      long before = NativeMemory.bytesInUse();
      Fabric real = Pools.open(2, 2 << 20, 1);
      BrittleFabric brittle = new BrittleFabric(real);
      AutoCloseable index = subject.opening.apply(brittle.fabric(), true);
      subject.use.accept(index);
      AutoCloseable session =
          switch (index) {
            case ByteStrings strings -> strings.session();
            case RangeIndex words -> words.session();
            default -> throw new AssertionError(index);
          };
      Way way = WAYS.get(trial % WAYS.size());
      if (random.nextBoolean()) {
        int number = random.nextInt(20);
        brittle.fail(number, way.lasts ? Integer.MAX_VALUE : number, way.failure);
      }
      List<AutoCloseable> ends = new ArrayList<>(List.of(index, real, session, index));
      Collections.shuffle(ends, new Random(random.nextLong()));
      ends.addAll(List.of(real, index));
      ends.forEach(BrokenLivesTest::close);
      assertThat(brittle.open()).as("%s: way=%s, ends=%s", subject, way.name, ends).isZero();
      assertThat(NativeMemory.bytesInUse() - before)
          .as("%s: way=%s, ends=%s", subject, way.name, ends)
          .isZero();
    }
  }
}
