package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.baselines.suites.BrokenMovesTest.Failure;
import pando.fabric.ComputeServer;
import pando.fabric.local.LocalPool;
import pando.index.HookedFabric;
import pando.index.IndexOptions;
import pando.index.MovablePartitions;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Tree;

/**
 * Ranges that go to a compute server in another process, which fails at one verb of the giver, or
 * of the receiver as it adopts them. The table in the pool says whose a key is; its owner has it.
 */
@Timeout(300)
class BrokenGiftsTest {
  private static final int KEYS = 150;
  private static final int GIVER = 5;
  private static final int RECEIVER = 3;
  private static final int STEP = Seeds.count(131, 1);

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    "DEX,       UNKNOWN",
    "DEX,       LOST",
    "DEX,       FULL",
    "P_SHERMAN, UNKNOWN",
    "P_SHERMAN, FULL",
    "P_SMART,   UNKNOWN",
    "ORCA,      UNKNOWN",
    "ORCA,      ERROR",
    "ORCA,      LOST",
    "ORCA,      FULL",
  })
  void shouldServeEachKeyOnceAfterAGiftFailed(SystemUnderTest system, Failure failure) {
    int verbs = 0;
    for (boolean receives : new boolean[] {false, true}) {
      for (int verb = 0; serves(system, verb, failure, receives); verb += STEP) {
        verbs++;
      }
    }
    assertThat(verbs).isPositive();
  }

  private static boolean serves(
      SystemUnderTest system, int verb, Failure failure, boolean receives) {
    IndexOptions options = system.tiny(8).options();
    try (LocalPool pool = LocalPool.start(Pools.options(8 << 20).withMemoryServers(2));
        HookedFabric first =
            new HookedFabric(pool.attach(new ComputeServer(GIVER, 1), 1)).withTasksByHand();
        HookedFabric second =
            new HookedFabric(pool.attach(new ComputeServer(RECEIVER, 1), 2)).withTasksByHand()) {
      TreeMap<Long, Long> model = new TreeMap<>();
      boolean struck;
      try (RangeIndex giver = options.createAt(first, GIVER);
          RangeIndex receiver = options.joinAt(second, RECEIVER)) {
        fill(giver, model);
        MovablePartitions giving = giver.partitions().orElseThrow();
        MovablePartitions receiving = receiver.partitions().orElseThrow();
        if (receives) {
          assertThat(giving.addComputeServer(GIVER, RECEIVER)).isTrue();
          struck = failsAt(second, verb, failure, receiving::refreshPartitions);
        } else {
          struck = failsAt(first, verb, failure, () -> giving.addComputeServer(GIVER, RECEIVER));
        }
        giving.refreshPartitions();
        receiving.refreshPartitions();
        check(giver, receiver, model);
        if (!giver.partitioning().hasServer(RECEIVER)) {
          assertThat(giving.addComputeServer(GIVER, RECEIVER)).isTrue();
          receiving.refreshPartitions();
        }
        check(giver, receiver, model);
      }
      Tree tree = options.walk(first);
      assertThat(tree.problems()).as("verb=%d", verb).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
      return struck;
    }
  }

  private static void fill(RangeIndex index, Map<Long, Long> model) {
    SplittableRandom random = new SplittableRandom(874);
    try (Session session = index.session()) {
      for (int i = 0; i < KEYS; i++) {
        long key = random.nextLong();
        session.put(key, i);
        model.put(key, (long) i);
      }
    }
  }

  private static void check(RangeIndex giver, RangeIndex receiver, Map<Long, Long> model) {
    Partitioning table = giver.partitions().orElseThrow().readPartitions();
    assertThat(giver.partitioning().epoch()).isEqualTo(table.epoch());
    assertThat(receiver.partitioning().epoch()).isEqualTo(table.epoch());
    try (Session one = giver.session();
        Session other = receiver.session()) {
      model.replaceAll((key, value) -> {
        boolean isGivers = table.ownerOfKey(key) == GIVER;
        Session owner = isGivers ? one : other;
        assertThat(owner.put(key, value + 1)).as("key=%d", key).isTrue();
        assertThat(owner.value()).as("key=%d", key).isEqualTo(value);
        assertThatThrownBy(() -> (isGivers ? other : one).get(key))
            .isInstanceOf(NotServedHereException.class);
        return value + 1;
      });
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
