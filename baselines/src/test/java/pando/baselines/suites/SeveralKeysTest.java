package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.MemoryServerLostException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Act;
import pando.index.Break;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** Operations on several keys of which one breaks, wherever verbs are posted. */
@FewRows(baselines = 0)
@Timeout(300)
class SeveralKeysTest {
  private static final int KEYS = 24;
  private static final NavigableMap<Long, Long> MODEL = Entries.spaced(KEYS, 100);

  private final long[] keys = new long[KEYS];
  private final long[] values = new long[KEYS];
  private final boolean[] found = new boolean[KEYS];

  SeveralKeysTest() {
    for (int i = 0; i < KEYS; i++) {
      // In no order; every other one is not there.
      keys[i] = 100L * (1 + 7 * i % KEYS) + i % 2;
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldGoOnWhereOneIsLost(SystemUnderTest system) {
    breakEach(system, Break.LOST, MemoryServerLostException.class);
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldGoOnWhereOneEndsByAnError(SystemUnderTest system) {
    breakEach(system, Break.ERROR_BEHIND, OutOfMemoryError.class);
  }

  private void breakEach(SystemUnderTest system, Break how, Class<? extends Throwable> expected) {
    Configuration configuration = system.tiny(2);
    int failed = 0;
    boolean struck = true;
    for (int posting = 0; struck; posting++) {
      try (HookedFabric fabric = Way.open();
          RangeIndex index = configuration.create(fabric);
          Session session = index.session()) {
        index.bulkLoad(Entries.of(MODEL), 0.7);
        int[] left = {posting};
        fabric.hookNext(verbs -> left[0]-- == 0, broken -> how.happen(fabric, broken, 0));
        Throwable failure = catchThrowable(() -> getAll(session));
        struck = fabric.unhook() > 0;
        if (failure != null) {
          assertThat(failure).isInstanceOf(expected);
          failed++;
        }
        assertThat(getAll(session)).isEqualTo(KEYS / 2);
        Entries.check(session, MODEL, "posting=" + posting);
        MODEL.forEach((key, value) -> assertThat(session.put(key, value)).isTrue());
      }
    }
    // ORCA READs all in one posting, and EMT-D repeats CALLs that are not answered.
    boolean breaksSeldom = system == SystemUnderTest.ORCA || system.systemName().equals("emt-d");
    assertThat(failed).as("lookups that broke").isGreaterThan(breaksSeldom ? 0 : 2);
  }

  /** Each key then has its old value or its new one. */
  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldStoreSomeWhereOneIsLost(SystemUnderTest system) {
    Configuration configuration = system.tiny(2);
    int failed = 0;
    boolean struck = true;
    for (int posting = 0; struck; posting++) {
      try (HookedFabric fabric = Way.open();
          RangeIndex index = configuration.create(fabric);
          Session session = index.session()) {
        index.bulkLoad(Entries.of(MODEL), 0.7);
        int[] left = {posting};
        fabric.hookNext(verbs -> left[0]-- == 0, broken -> Break.LOST.happen(fabric, broken, 0));
        Throwable failure = catchThrowable(() -> session.putAll(keys, 0, KEYS, keys));
        struck = fabric.unhook() > 0;
        NavigableMap<Long, Long> model = new TreeMap<>(MODEL);
        for (long key : keys) {
          @Nullable Long found = Entries.get(session, key);
          assertThat(found).as("posting=%d, key=%d", posting, key).isIn(MODEL.get(key), key);
          Act.settle(model, key, found);
        }
        if (failure == null) {
          assertThat(model.values()).containsAll(LongStream.of(keys).boxed().toList());
        } else {
          // What was lost may have come behind a change.
          assertThat(failure)
              .isInstanceOfAny(MemoryServerLostException.class, UnknownOutcomeException.class);
          failed++;
        }
        Entries.check(session, model, "posting=" + posting);
        session.putAll(keys, 0, KEYS, keys);
        assertThat(session.getAll(keys, 0, KEYS, values, found)).isEqualTo(KEYS);
        assertThat(values).isEqualTo(keys);
      }
    }
    // ORCA stores without a verb, but where it merges.
    assertThat(failed).as("failures").isGreaterThan(system == SystemUnderTest.ORCA ? -1 : 2);
  }

  /** Looks up all keys, and checks what has been found when that ends, be it by a failure. */
  private int getAll(Session session) {
    for (int i = 0; i < KEYS; i++) {
      found[i] = false;
    }
    try {
      return session.getAll(keys, 0, KEYS, values, found);
    } finally {
      for (int i = 0; i < KEYS; i++) {
        if (found[i]) {
          assertThat(values[i]).isEqualTo(MODEL.get(keys[i]));
        }
      }
    }
  }
}
