package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Tree;

/** An index that is used as a queue: what is drained is given back, however often. */
@Tag("campaign")
@Timeout(300)
class RolexQueueTest {
  private static final int ROUNDS = 6;

  /** Retrainers come after so many operations, or only when all is removed. */
  @ParameterizedTest(name = "{0} entries={1} operationsToATask={2}")
  @CsvSource({
    "rolex,    100000, 200",
    "rolex,    100000, 200000",
    "xstore-d, 20000,  200000",
  })
  void shouldGiveBackWhatIsDrained(String system, int entries, int operationsToATask) {
    RolexOptions options = options(system);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 64 << 20, 1301)).withTasksByHand();
        RolexIndex index = RolexIndex.create(fabric, options);
        Session session = index.session()) {
      for (int round = 0; round < ROUNDS; round++) {
        for (int key = 0; key < entries; key++) {
          session.put(key, key);
          runTasks(fabric, key, 200);
        }
        long full = index.poolBytes();
        for (int key = 0; key < entries; key++) {
          session.remove(key);
          runTasks(fabric, key, operationsToATask);
        }
        fabric.runTasks();
        System.out.println("bytes: full=" + full + ", drained=" + index.poolBytes());
        assertThat(index.poolBytes()).as("round %d", round).isLessThan(8 << 10);
      }
      Tree tree = options.walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.bytes()).isEqualTo(index.poolBytes());
    }
  }

  private static RolexOptions options(String system) {
    RolexOptions options = system.equals("rolex") ? RolexOptions.rolex() : RolexOptions.xstoreD();
    return options.withComputeServers(1);
  }

  private static void runTasks(HookedFabric fabric, int key, int operationsToATask) {
    if (key % operationsToATask == operationsToATask - 1) {
      fabric.runTasks();
    }
  }
}
