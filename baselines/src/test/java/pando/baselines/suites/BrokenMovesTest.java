package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Configuration;
import pando.index.HookedFabric;
import pando.index.MovablePartitions;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Tree;

/** Moves of ranges that fail at one of their verbs: at each in turn. No key is lost or wrong. */
@FewRows
@Timeout(300)
class BrokenMovesTest {
  private static final int KEYS = 150;

  /** Every so many verbs one fails; in a campaign each does. */
  private static final int STEP = Seeds.count(11, 3, 1);

  /** How a verb fails. */
  enum Failure {
    UNKNOWN,
    ERROR,
    LOST,
    FULL;

    void strike(HookedFabric.Posting posting) {
      switch (this) {
        case UNKNOWN -> {
          posting.post();
          throw new UnknownOutcomeException("not answered by a test");
        }
        case ERROR -> throw new OutOfMemoryError("thrown by a test");
        case LOST -> throw new MemoryServerLostException("not reached in a test");
        case FULL -> throw new PoolFullException("full in a test");
      }
    }
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    "P_SHERMAN, UNKNOWN",
    "P_SHERMAN, ERROR",
    "P_SHERMAN, LOST",
    "P_SMART,   UNKNOWN",
    "P_SMART,   LOST",
    "ORCA,      UNKNOWN",
    "ORCA,      ERROR",
    "ORCA,      LOST",
    "ORCA,      FULL",
  })
  void shouldServeAllKeysAfterAMoveFailed(SystemUnderTest system, Failure failure) {
    boolean struck = true;
    int verb = 0;
    for (; struck; verb += STEP) {
      struck = serves(system, verb, failure, index -> index.moveBoundary(1, 0));
      struck |= serves(system, verb, failure, index -> index.split(1, 1L << 60));
      struck |= serves(system, verb, failure, index -> index.addComputeServer(0));
      struck |= serves(system, verb, failure, index -> index.removeComputeServer(1));
    }
    assertThat(verb).isGreaterThan(5);
  }

  private static boolean serves(
      SystemUnderTest system, int verb, Failure failure, Consumer<MovablePartitions> change) {
    Configuration configuration = system.tiny(3);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 874)).withTasksByHand()) {
      TreeMap<Long, Long> model = new TreeMap<>();
      boolean struck;
      try (RangeIndex index = configuration.create(fabric);
          Session session = index.session()) {
        SplittableRandom random = new SplittableRandom(874);
        for (int i = 0; i < KEYS; i++) {
          long key = random.nextLong();
          session.put(key, i);
          model.put(key, (long) i);
        }
        struck =
            failsAt(fabric, verb, failure, () -> change.accept(index.partitions().orElseThrow()));
        model.replaceAll((key, value) -> {
          assertThat(session.put(key, -value)).as("verb=%d, key=%d", verb, key).isTrue();
          assertThat(session.value()).isEqualTo(value);
          return -value;
        });
        int first = index.partitioning().ownerOfRange(0);
        index.partitions().orElseThrow().addComputeServer(first);
        assertThat(session.scan(Long.MIN_VALUE, Long.MAX_VALUE, KEYS + 1, (key, value) -> true))
            .isEqualTo(KEYS);
      }
      Tree tree = configuration.walk(fabric);
      assertThat(tree.problems()).as("verb=%d", verb).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
      return struck;
    }
  }

  /** Lets one of the next verbs fail; {@code false} where there are no more of them. */
  private static boolean failsAt(HookedFabric fabric, int verb, Failure failure, Runnable change) {
    int[] left = {verb};
    fabric.hookNext(verbs -> left[0]-- == 0, failure::strike);
    Throwable thrown = catchThrowable(change::run);
    boolean struck = fabric.unhook() == 1;
    assertThat(struck || thrown == null).as("verb=%d, thrown=%s", verb, thrown).isTrue();
    return struck;
  }
}
