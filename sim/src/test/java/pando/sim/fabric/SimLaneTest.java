package pando.sim.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Lane;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;
import pando.sim.NetworkKind;

@Timeout(60)
class SimLaneTest {
  private static final int THREADS = 5;
  private static final long WORD = GlobalAddress.of(0, Fabric.CATALOGUE_BYTES);

  private static Cluster cluster(NetworkKind network) {
    return new Cluster(
        ClusterOptions.defaults()
            .withServers(2, 1)
            .withBytesPerServer(1 << 20)
            .withChunkBytes(64 << 10)
            .withNetwork(network)
            .withSeed(7));
  }

  private static void run(Cluster cluster) {
    cluster.run(10_000_000_000L, 1_000_000);
  }

  /** What happened in a cluster: what each FAA found, in order, and all events. */
  private record Outcome(List<Long> found, long hash, long nanos) {}

  private static Outcome outcome(NetworkKind network, BiConsumer<Cluster, List<Runnable>> start) {
    List<Long> found = new ArrayList<>();
    try (Cluster cluster = cluster(network)) {
      List<Runnable> bodies = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        bodies.add(() -> count(cluster, found));
      }
      start.accept(cluster, bodies);
      run(cluster);
      return new Outcome(found, cluster.hash(), cluster.nanos());
    }
  }

  private static void count(Cluster cluster, List<Long> found) {
    Fabric fabric = cluster.fabric(1);
    try (RegisteredMemory memory = fabric.register(64);
        Worker worker = fabric.worker(memory)) {
      for (int i = 0; i < 20; i++) {
        found.add(worker.faa(WORD, 1));
        worker.backoff().pause(i);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(NetworkKind.class)
  void shouldRunAsTheClientsOfACoreDo(NetworkKind network) {
    Outcome clients =
        outcome(
            network,
            (cluster, bodies) -> {
              Cluster.Core core = cluster.core(1);
              bodies.forEach(body -> core.spawn("client", body));
            });
    Outcome lane =
        outcome(
            network,
            (cluster, bodies) -> {
              Lane started = cluster.fabric(1).lane("lane");
              bodies.forEach(body -> started.newThread(body).start());
            });
    assertThat(lane).isEqualTo(clients);
    assertThat(lane.found()).hasSize(20 * THREADS).doesNotHaveDuplicates();
  }

  @Test
  void shouldWaitForItsThreadsWhereAClientClosesIt() {
    List<Long> found = new ArrayList<>();
    try (Cluster cluster = cluster(NetworkKind.TCP)) {
      cluster
          .core(1)
          .spawn(
              "main",
              () -> {
                try (Lane lane = cluster.fabric(1).lane("lane")) {
                  for (int i = 0; i < THREADS; i++) {
                    lane.newThread(() -> count(cluster, found)).start();
                  }
                }
                assertThat(found).hasSize(20 * THREADS);
                Lane lane = cluster.fabric(1).lane("other");
                Thread thread = lane.newThread(() -> count(cluster, found));
                thread.start();
                lane.close();
                assertThat(found).hasSize(20 * (THREADS + 1));
                lane.close();
                assertThatIllegalStateException()
                    .isThrownBy(() -> lane.newThread(() -> {}))
                    .withMessage("lane is closed: name=other");
              });
      run(cluster);
    }
    assertThat(found).hasSize(20 * (THREADS + 1));
  }

  @Test
  void shouldRefuseToWaitForItsThreadsWhereTheyCannotEnd() {
    try (Cluster cluster = cluster(NetworkKind.CARDS)) {
      Lane lane = cluster.fabric(0).lane("lane");
      lane.newThread(() ->
              assertThatIllegalStateException()
                  .isThrownBy(lane::close)
                  .withMessageContaining("a thread of the lane closes it"))
          .start();
      assertThatIllegalStateException()
          .isThrownBy(lane::close)
          .withMessage("a lane's threads end in a run alone: name=lane, threads=1");
      run(cluster);
      lane.close();
    }
  }
}
