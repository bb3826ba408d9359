package pando.sim.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.sim.Cluster;
import pando.sim.ClusterModel;
import pando.sim.ClusterOptions;
import pando.sim.NetworkKind;
import pando.sim.fault.Fault;

@Timeout(120)
class TcpNetworkTest {
  private static final long WORD = GlobalAddress.of(0, Fabric.CATALOGUE_BYTES);
  private static final int FRAME_NANOS = 12_600;
  private static final int FRAME_NEXT_NANOS = 900;

  /** Both ways at the core, the wires, and the cards for less than 18 ns of bytes each. */
  private static final int OTHER_NANOS = 2 * 5_400 + 2 * 450 + 4 * 18;

  private static Cluster cluster(int processors, Fault... faults) {
    return new Cluster(
        ClusterOptions.defaults()
            .withServers(2, 1)
            .withBytesPerServer(1 << 20)
            .withChunkBytes(64 << 10)
            .withProcessorThreads(processors)
            .withSharedCards(false)
            .withNetwork(NetworkKind.TCP)
            .withModel(ClusterModel.defaults().with("jitter-nanos", 0))
            .withFaults(Set.of(faults)));
  }

  private static void spawn(Cluster cluster, Cluster.Core core, Consumer<Worker> body) {
    core.spawn(
        "client",
        () -> {
          Fabric fabric = cluster.fabric(0);
          try (RegisteredMemory memory = fabric.register(4096);
              Worker worker = fabric.worker(memory)) {
            body.accept(worker);
          }
        });
  }

  private static void run(Cluster cluster) {
    cluster.run(10_000_000_000L, 10_000_000);
  }

  /** A list costs the time of a piece, and a little for each further verb. */
  @ParameterizedTest
  @CsvSource({"1, 0", "2, 1", "16, 15"})
  void shouldCostTheProcessorsOfBothSides(int verbs, int further) {
    long[] nanos = new long[1];
    try (Cluster cluster = cluster(1)) {
      spawn(
          cluster,
          cluster.core(0),
          worker -> {
            VerbList list = new VerbList();
            for (int i = 0; i < verbs; i++) {
              list.faa(WORD + 8L * i, 1, 8L * i);
            }
            worker.post(list);
            nanos[0] = cluster.nanos();
          });
      run(cluster);
      long least = OTHER_NANOS + FRAME_NANOS + further * (FRAME_NEXT_NANOS + 2 * 800L);
      assertThat(nanos[0]).isBetween(least, least + 100);
      double busy = cluster.utilization().processors().getFirst() * nanos[0];
      assertThat((long) busy).isBetween(FRAME_NANOS - 200L, least);
    }
  }

  /** Clients of one core are one piece; those of two cores are two, one after the other. */
  @ParameterizedTest
  @CsvSource({"true, 13500", "false, 25200"})
  void shouldGatherWhatTheClientsOfACorePost(boolean together, long busyNanos) {
    List<Long> ends = new ArrayList<>();
    try (Cluster cluster = cluster(1)) {
      Cluster.Core core = cluster.core(0);
      for (int i = 0; i < 2; i++) {
        long word = WORD + 8L * i;
        spawn(
            cluster,
            together ? core : cluster.core(0),
            worker -> {
              worker.faa(word, 1);
              ends.add(cluster.nanos());
            });
      }
      run(cluster);
      double busy = cluster.utilization().processors().getFirst() * ends.getLast();
      assertThat(Math.round(busy / 100) * 100).isEqualTo(busyNanos);
      assertThat(ends.getFirst().equals(ends.getLast())).isEqualTo(together);
    }
  }

  @Test
  void shouldWakeUpWhatSleeps() {
    long[] nanos = new long[2];
    for (int i = 0; i < 2; i++) {
      int run = i;
      ClusterModel model = ClusterModel.defaults().with("wake-nanos", 20_000.0 * i);
      ClusterOptions options =
          ClusterOptions.defaults()
              .withServers(1, 1)
              .withBytesPerServer(1 << 20)
              .withChunkBytes(64 << 10)
              .withNetwork(NetworkKind.TCP)
              .withModel(model.with("jitter-nanos", 0));
      try (Cluster cluster = new Cluster(options)) {
        spawn(
            cluster,
            cluster.core(0),
            worker -> {
              worker.faa(WORD, 1);
              nanos[run] = cluster.nanos();
            });
        run(cluster);
      }
    }
    assertThat(nanos[1] - nanos[0]).isEqualTo(2 * 20_000);
  }

  /** Parts of 8 bytes land in any order; verbs of a list stay in theirs. */
  @Test
  void shouldTearWordsAndKeepTheOrderOfAList() {
    int[] torn = new int[1];
    try (Cluster cluster = cluster(4, Fault.TORN)) {
      spawn(
          cluster,
          cluster.core(0),
          worker -> {
            VerbList list = new VerbList();
            for (int round = 1; round <= 300; round++) {
              Words.set(worker.memory(), 0, round);
              Words.set(worker.memory(), 8, round);
              list.clear().write(WORD, 0, 16).faa(WORD + 64, 1, 16).read(WORD, 32, 16);
              worker.post(list);
              assertThat(Words.get(worker.memory(), 16)).isEqualTo(round - 1);
              assertThat(Words.get(worker.memory(), 32)).isEqualTo(round);
              assertThat(Words.get(worker.memory(), 40)).isEqualTo(round);
            }
          });
      spawn(
          cluster,
          cluster.core(0),
          worker -> {
            for (int round = 0; round < 600; round++) {
              worker.read(WORD, 0, 16);
              boolean same = Words.get(worker.memory(), 0) == Words.get(worker.memory(), 8);
              torn[0] += same ? 0 : 1;
            }
          });
      run(cluster);
    }
    assertThat(torn[0]).isPositive();
  }
}
