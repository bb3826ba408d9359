package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.fabric.PoolFullException;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.EntrySource;
import pando.index.ModelRun;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SplitEntries;
import pando.index.SystemUnderTest;
import pando.index.Tree;
import pando.index.TreeCheck;

/** Bulk loads of entries that come in parts, whether the system loads by several threads or not. */
@FewRows
@Timeout(300)
class SplitLoadTest {
  private static final long FREED_NANOS_MAX = 10_000_000_000L;

  private static final int ROUNDS = Seeds.count(6, 30, 300);

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldHoldWhatWasLoadedInParts(SystemUnderTest system) {
    long start = Seeds.of(941);
    SplittableRandom random = new SplittableRandom(start);
    for (int round = 0; round < ROUNDS; round++) {
      NavigableMap<Long, Long> model = model(random);
      Configuration configuration = system.tiny(1 + random.nextInt(4));
      try (Fabric fabric = Pools.open(1 + random.nextInt(3), 16 << 20, start)) {
        RangeIndex index = configuration.create(fabric);
        try (index) {
          EntrySource entries = SplitEntries.of(model, 1 + random.nextInt(7), random);
          double fill = 1 - 0.7 * random.nextDouble();
          assertThat(index.bulkLoad(entries, fill)).isEqualTo(model.size());
          Tree loaded = TreeCheck.walk(fabric, configuration, index);
          assertThat(loaded.entries()).as("round=%d", round).isEqualTo(model);
          try (Session session = index.session()) {
            new ModelRun(session, model, random, 3_000).operations(500);
          }
        }
        assertThat(TreeCheck.walk(fabric, configuration, index).entries()).isEqualTo(model);
      }
    }
  }

  /** Any keys, or neighbours without a key between them. */
  private static NavigableMap<Long, Long> model(SplittableRandom random) {
    int count = 2 + random.nextInt(1 << random.nextInt(14));
    if (random.nextBoolean()) {
      return Entries.random(random, count);
    }
    NavigableMap<Long, Long> dense = Entries.spaced(count, 1 + random.nextInt(3));
    if (random.nextBoolean()) {
      dense.put(Long.MAX_VALUE, 1L);
      dense.put(Long.MIN_VALUE, 2L);
    }
    return dense;
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldLoadNothingFromPartsOfWhichOneIsBad(SystemUnderTest system) {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(942)), 4_000);
    long[] upper = LongStream.range(0, 3_000).map(i -> 10 * i).toArray();
    long[] lower = LongStream.range(-3_000, 0).map(i -> 10 * i).toArray();
    long[] unordered = upper.clone();
    unordered[2_000] = unordered[1_000];
    long[] tooHigh = lower.clone();
    tooHigh[2_999] = 20_000;
    try (Fabric fabric = Pools.open(2, 8 << 20, 1)) {
      Configuration configuration = system.tiny(3);
      try (RangeIndex index = configuration.create(fabric);
          Session session = index.session()) {
        refuse(index, session, "keys must ascend", Entries.keys(lower), Entries.keys(unordered));
        refuse(index, session, "keys must ascend", Entries.keys(tooHigh), Entries.keys(upper));
        refuse(index, session, "must ascend", Entries.keys(upper), Entries.keys(lower));
        refuse(index, session, "must ascend", Entries.keys(upper), Entries.keys(upper));
        refuse(index, session, "broken", Entries.keys(lower), new Broken(Entries.keys(upper)));
        refuse(index, session, "broken", new Broken(Entries.keys(lower)), Entries.keys(upper));
        EntrySource good = SplitEntries.of(model, 5, new SplittableRandom(1));
        assertThat(index.bulkLoad(good, 0.7)).isEqualTo(model.size());
        Entries.check(session, model, "afterwards");
      }
      assertThat(TreeCheck.walk(fabric, configuration).entries()).isEqualTo(model);
    }
  }

  private static void refuse(
      RangeIndex index, Session session, String message, EntrySource... parts) {
    long empty = index.poolBytes();
    assertThatThrownBy(() -> index.bulkLoad(new SplitEntries(List.of(parts)), 0.7))
        .hasMessageContaining(message);
    checkEmpty(index, session, empty);
  }

  private static void checkEmpty(RangeIndex index, Session session, long empty) {
    // Less where a merge in the background has come to its end.
    // More for a moment, while the background frees a place that has rested.
    long start = System.nanoTime();
    while (index.poolBytes() > empty && System.nanoTime() - start < FREED_NANOS_MAX) {
      Thread.onSpinWait();
    }
    assertThat(index.poolBytes()).isLessThanOrEqualTo(empty);
    assertThat(session.first()).isFalse();
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().equals("pando-load"));
    session.put(5, 6);
    assertThat(session.remove(5)).isTrue();
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldLoadNothingIntoAPoolThatBecomesFull(SystemUnderTest system) {
    NavigableMap<Long, Long> many = Entries.spaced(200_000, 3);
    NavigableMap<Long, Long> few = Entries.spaced(500, 3);
    SplittableRandom random = new SplittableRandom(Seeds.of(943));
    try (Fabric fabric = Pools.open(2, 1 << 20, 1)) {
      Configuration configuration = system.tiny(2);
      try (RangeIndex index = configuration.create(fabric);
          Session session = index.session()) {
        for (int parts = 1; parts <= 4; parts++) {
          long empty = index.poolBytes();
          EntrySource entries = SplitEntries.of(many, parts, random);
          assertThatThrownBy(() -> index.bulkLoad(entries, 0.7))
              .isInstanceOf(PoolFullException.class);
          checkEmpty(index, session, empty);
        }
        index.bulkLoad(SplitEntries.of(few, 3, random), 0.7);
        Entries.check(session, few, "afterwards");
      }
      assertThat(TreeCheck.walk(fabric, configuration).entries()).isEqualTo(few);
    }
  }

  /** Throws an error in the middle. */
  private static final class Broken implements EntrySource {
    private final EntrySource entries;
    private int left = 1_500;

    Broken(EntrySource entries) {
      this.entries = entries;
    }

    @Override
    public boolean next() {
      if (left-- == 0) {
        throw new StackOverflowError("broken");
      }
      return entries.next();
    }

    @Override
    public long key() {
      return entries.key();
    }

    @Override
    public long value() {
      return entries.value();
    }
  }
}
