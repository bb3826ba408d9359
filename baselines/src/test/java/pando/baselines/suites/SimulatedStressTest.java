package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.StressRun;
import pando.index.SystemUnderTest;
import pando.index.Tree;
import pando.index.TreeCheck;
import pando.index.orca.OrcaIndex;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;
import pando.sim.fault.Fault;

/**
 * Clients in virtual time, whose READs and WRITEs are torn and delayed. Every operation takes a
 * verb; where caches answer all by themselves, no time would pass.
 */
@FewRows
@Timeout(300)
class SimulatedStressTest {
  private static final int OPERATIONS =
      Integer.getInteger("pando.test.operations", Seeds.count(800, 1_200, 2_000));
  private static final int CLIENTS = 6;
  private static final int COMPUTE_SERVERS = 3;
  private static final long NANOS_MAX = TimeUnit.MINUTES.toNanos(10);
  private static final long EVENTS_MAX = 200_000_000;

  @ParameterizedTest(name = "seed={0} {1} {2}")
  @CsvSource({
    "131, ORCA,      neighbours=on",
    "132, ORCA,      delta-changes=2",
    "133, ORCA,      twin=off merge-share=0.4 delta-share=0.5",
    "142, SHERMAN,   validation=lines",
    "143, SHERMAN,   validation=versions",
    "144, SHERMAN,   validation=checksum",
    "145, SHERMAN,   merge-share=0.5 node-bytes=128 validation=versions",
    "146, FG,        validation=lines",
    "147, FG,        validation=versions",
    "148, P_SHERMAN, validation=lines",
    "149, P_SHERMAN, validation=versions",
    "150, P_SHERMAN, validation=checksum",
    "151, DEFT,      validation=opdv",
    "152, DEFT,      validation=opdv merge-share=0.5",
    "153, DEFT,      validation=versions",
    "154, DEFT,      validation=checksum",
    "155, DEFT,      hash-leaves=off",
    "156, DEFT,      sx-locks=off segments=off",
    "171, ROLEX,     retraining=on",
    "172, ROLEX,     epsilon=1",
    "173, ROLEX,     delta=2 epsilon=2 leaves-max=1",
    "174, ROLEX,     delta=3 epsilon=8 leaves-max=3",
    "175, ROLEX,     delta=16 epsilon=16 leaves-max=48",
    "176, ROLEX,     synonym-share=0",
    "177, ROLEX,     retrain-fill=1 merge-share=0.5",
    "178, ROLEX,     synonym-share=0 retrain-fill=1 merge-share=0.5 delta=2",
    "179, ROLEX,     synonym-share=10 merge-share=0 handovers=0",
    "181, XSTORE_D,  retraining=on",
    "182, XSTORE_D,  delta=2 epsilon=2 leaves-max=1",
    "183, XSTORE_D,  delta=16 epsilon=16 leaves-max=48",
    "184, XSTORE_D,  synonym-share=0 retrain-fill=1 merge-share=0.5 delta=2",
    "191, EMT_D,     kept-nodes=1",
    "192, EMT_D,     kept-nodes=16 rows=2",
    "193, EMT_D,     node-bytes=320",
    "194, SMART,     reserve=steps",
    "195, SMART,     merge-share=0.5 fifo-parts=1",
    "196, SMART,     reserve=whole",
    "197, P_SMART,   reserve=steps",
    "198, P_SMART,   reserve=whole",
  })
  void shouldStayLinearizable(long seed, SystemUnderTest system, String settings) throws Exception {
    long start = Seeds.of(seed);
    Configuration configuration = system.tiny(COMPUTE_SERVERS).with(settings);
    ClusterOptions options =
        ClusterOptions.defaults()
            .withServers(COMPUTE_SERVERS, 2)
            .withBytesPerServer(8 << 20)
            .withChunkBytes(64 << 10)
            .withHandlers(Pools.options(8 << 20).handlers())
            .withFaults(EnumSet.of(Fault.TORN, Fault.DELAY, Fault.PAUSE))
            .withYieldShare(0.1)
            .withSeed(start);
    try (Cluster cluster = new Cluster(options)) {
      Fabric fabric = cluster.fabric(0);
      RangeIndex index = configuration.create(fabric);
      Map<Long, Long> expected;
      try (index) {
        StressRun run = new StressRun(index, start, CLIENTS, OPERATIONS);
        run.run(tasks -> simulate(cluster, tasks));
        expected = run.expected();
        if (index instanceof OrcaIndex orca) {
          assertThat(orca.audit()).isEmpty();
        }
      }
      Tree tree = TreeCheck.walk(fabric, configuration, index);
      assertThat(tree.entries()).isEqualTo(expected);
    }
  }

  private static void simulate(Cluster cluster, List<Callable<Void>> tasks) {
    for (Callable<Void> task : tasks) {
      cluster.core(0).spawn("client", () -> call(task));
    }
    cluster.run(NANOS_MAX, EVENTS_MAX);
  }

  private static void call(Callable<Void> task) {
    try {
      task.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
