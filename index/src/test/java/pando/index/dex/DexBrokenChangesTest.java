package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.MemoryServerLostException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Entries;
import pando.index.EntrySource;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Tree;

/** Changes of an index as a whole that fail at one of their verbs: at each in turn. */
@Tag("campaign")
@Timeout(300)
class DexBrokenChangesTest {
  private static final int KEYS = 200;

  /** How a verb fails. */
  enum Failure {
    UNKNOWN,
    ERROR,
    LOST;

    void strike(HookedFabric.Posting posting) {
      switch (this) {
        case UNKNOWN -> {
          posting.post();
          throw new UnknownOutcomeException("not answered by a test");
        }
        case ERROR -> throw new OutOfMemoryError("thrown by a test");
        case LOST -> throw new MemoryServerLostException("not reached in a test");
      }
    }
  }

  /** Lets one of the next verbs fail; {@code false} where there are no more of them. */
  private static boolean failsAt(HookedFabric fabric, int verb, Failure failure, Runnable change) {
    int[] left = {verb};
    fabric.hookNext(verbs -> left[0]-- == 0, failure::strike);
    Throwable thrown = catchThrowable(change::run);
    boolean struck = fabric.unhook() == 1;
    assertThat(struck || thrown == null).as("verb=%d", verb).isTrue();
    return struck;
  }

  @ParameterizedTest
  @EnumSource
  void shouldServeAllKeysAfterAChangeOfPartitionsFailed(Failure failure) {
    boolean struck = true;
    int verb = 0;
    for (; struck; verb++) {
      struck = false;
      struck |=
          shouldServeAllKeys(
              verb, failure, index -> index.partitions().orElseThrow().moveBoundary(1, 0));
      struck |=
          shouldServeAllKeys(
              verb, failure, index -> index.partitions().orElseThrow().split(1, 1L << 60));
      struck |=
          shouldServeAllKeys(
              verb, failure, index -> index.partitions().orElseThrow().addComputeServer(0));
      struck |=
          shouldServeAllKeys(
              verb, failure, index -> index.partitions().orElseThrow().removeComputeServer(1));
    }
    assertThat(verb).isGreaterThan(10);
  }

  /** Changes partitions. */
  private interface Change {
    void of(DexIndex index);
  }

  private static boolean shouldServeAllKeys(int verb, Failure failure, Change change) {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 874))) {
      DexOptions options = Tiny.options(3).with("offloading", "off");
      TreeMap<Long, Long> model = new TreeMap<>();
      boolean struck;
      try (DexIndex index = DexIndex.create(fabric, options);
          Session session = index.session()) {
        SplittableRandom random = new SplittableRandom(874);
        for (int i = 0; i < KEYS; i++) {
          long key = random.nextLong();
          session.put(key, i);
          model.put(key, (long) i);
        }
        struck = failsAt(fabric, verb, failure, () -> change.of(index));
        model.replaceAll((key, value) -> {
          assertThat(session.put(key, -value)).as("verb=%d", verb).isTrue();
          assertThat(session.value()).isEqualTo(value);
          return -value;
        });
        index.partitions().orElseThrow().addComputeServer(index.partitioning().ownerOfRange(0));
      }
      Tree tree = options.walk(fabric);
      assertThat(tree.problems()).as("verb=%d", verb).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
      return struck;
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldLoadAfterALoadFailed(Failure failure) {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(875), KEYS);
    boolean struck = true;
    int verb = 0;
    for (; struck; verb++) {
      try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 875));
          DexIndex index = DexIndex.create(fabric, Tiny.options(3));
          Session session = index.session()) {
        session.put(1, 1);
        session.remove(1);
        struck = failsAt(fabric, verb, failure, () -> index.bulkLoad(Entries.of(model), 0.7));
        if (!session.get(model.firstKey())) {
          session.put(1, 1);
          session.remove(1);
          index.bulkLoad(Entries.of(model), 0.7);
        }
        model.forEach((key, value) -> assertThat(session.get(key)).isTrue());
      }
    }
    assertThat(verb).isGreaterThan(10);
  }

  @ParameterizedTest
  @EnumSource
  void shouldMakeAnIndexAfterMakingOneFailed(Failure failure) {
    boolean struck = true;
    int verb = 0;
    for (; struck; verb++) {
      try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 876))) {
        DexIndex[] made = {null};
        struck =
            failsAt(
                fabric, verb, failure, () -> made[0] = DexIndex.create(fabric, Tiny.options(3)));
        try (DexIndex index = made[0] == null ? madeOrJoined(fabric, Tiny.options(3)) : made[0];
            Session session = index.session()) {
          assertThat(session.put(1, 1)).isFalse();
        }
      }
    }
    assertThat(verb).isGreaterThan(10);
  }

  /** Where no more than the unlock was not answered, the index is there. */
  private static DexIndex madeOrJoined(HookedFabric fabric, DexOptions options) {
    try {
      return DexIndex.create(fabric, options);
    } catch (IllegalStateException _) {
      return options.join(fabric, 0, 3);
    }
  }

  @Test
  void shouldServeKeysAfterASourceThrewAnError() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 877));
        DexIndex index = DexIndex.create(fabric, Tiny.options(3));
        Session session = index.session()) {
      assertThatThrownBy(() ->
              index.bulkLoad(
                  new EntrySource() {
                    @Override
                    public boolean next() {
                      throw new StackOverflowError("thrown by a test");
                    }

                    @Override
                    public long key() {
                      return 0;
                    }

                    @Override
                    public long value() {
                      return 0;
                    }
                  },
                  0.7))
          .isInstanceOf(StackOverflowError.class);
      assertThat(session.put(1, 1)).isFalse();
      index.partitions().orElseThrow().moveBoundary(1, 0);
      assertThat(session.get(1)).isTrue();
    }
  }
}
