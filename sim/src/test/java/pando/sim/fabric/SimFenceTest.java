package pando.sim.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FenceFailedException;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;
import pando.sim.NetworkKind;
import pando.sim.fault.Fault;

/** Fences among clients, in virtual time. */
@Timeout(120)
class SimFenceTest {
  private static final long NANOS_MAX = 100_000_000_000L;
  private static final long EVENTS_MAX = 20_000_000;
  private static final int SERVERS = 3;
  private static final int CLIENTS = 6;
  private static final int IMAGE_BYTES = 1024;
  private static final int SEEDS = 40;
  private static final int COUNTERS = 8;
  private static final int ROUNDS = 1_500;

  private static Cluster cluster(NetworkKind network, long seed, Fault... faults) {
    Set<Fault> enabled = EnumSet.noneOf(Fault.class);
    enabled.addAll(List.of(faults));
    return new Cluster(
        ClusterOptions.defaults()
            .withServers(2, SERVERS)
            .withBytesPerServer(1 << 20)
            .withChunkBytes(64 << 10)
            .withNetwork(network)
            .withFaults(enabled)
            .withSeed(seed));
  }

  @Test
  void shouldKnowOfWhichComputeServersNothingComesAnyMore() {
    try (Cluster cluster = cluster(NetworkKind.CARDS, 1)) {
      ComputeServer name = new ComputeServer(5, 1);
      Fabric fenced = cluster.fabric(0, name);
      Fabric other = cluster.fabric(1, new ComputeServer(6, 1));
      assertThat(fenced.process()).isEqualTo(name.process());
      assertThat(other.isGone(name.process())).isFalse();
      other.fence(5, 2);
      assertThat(other.isGone(name.process())).isTrue();
      assertThat(other.isGone(new ComputeServer(5, 2).process())).isFalse();
      assertThat(fenced.isGone(other.process())).isFalse();
    }
  }

  private static long image(int client) {
    return GlobalAddress.of(client % SERVERS, (64L << 10) + (long) client * IMAGE_BYTES);
  }

  private static long counter(int number) {
    return GlobalAddress.of(number % SERVERS, (32L << 10) + 8L * number);
  }

  /** Writers store greater and greater stamps in large images, until they are fenced. */
  @ParameterizedTest
  @EnumSource(NetworkKind.class)
  void shouldLetNothingTakeEffectBehindAFence(NetworkKind network) {
    int refused = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Fault[] faults = {Fault.TORN, Fault.LATE_READ, Fault.DELAY, Fault.PAUSE};
      try (Cluster cluster = cluster(network, seed, faults)) {
        refused += fenceWriters(cluster);
      } catch (AssertionError e) {
        throw new AssertionError("seed=" + seed, e);
      }
    }
    assertThat(refused).isEqualTo(SEEDS * CLIENTS);
  }

  /** Returns how many writers were refused. */
  private static int fenceWriters(Cluster cluster) {
    Fabric late = cluster.fabric(0, new ComputeServer(7, 3));
    int[] refused = new int[1];
    long[] stored = new long[CLIENTS];
    long[][] behind = new long[CLIENTS][];
    Cluster.Core core = cluster.core(0);
    for (int i = 0; i < CLIENTS; i++) {
      int number = i;
      core.spawn(
          "writer-" + i,
          () -> {
            writeUntilFenced(late, number, stored);
            while (behind[number] == null) {
              cluster.sleepNanos(1_000);
            }
            assertRefusedAtEach(late);
            refused[0]++;
          });
    }
    Fabric fencing = cluster.fabric(1);
    cluster
        .core(1)
        .spawn(
            "fencing",
            () -> {
              cluster.sleepNanos(100_000);
              fencing.fence(7, 3);
              cluster.sleepNanos(50_000);
              fencing.fence(7, 4);
              for (int i = 0; i < CLIENTS; i++) {
                behind[i] = words(fencing, image(i));
              }
            });
    cluster.run(NANOS_MAX, EVENTS_MAX);
    for (int i = 0; i < CLIENTS; i++) {
      assertThat(words(fencing, image(i))).isEqualTo(behind[i]);
      assertThat(behind[i]).as("image %d is whole", i).containsOnly(behind[i][0]);
      assertThat(stored[i]).isBetween(0L, behind[i][0]);
    }
    assertThat(Arrays.stream(stored).sum()).isGreaterThan(10);
    assertThatThrownBy(() -> cluster.fabric(0, new ComputeServer(7, 3)))
        .isInstanceOf(FencedException.class);
    return refused[0];
  }

  private static void writeUntilFenced(Fabric late, int number, long[] stored) {
    try (RegisteredMemory own = late.register(2 * IMAGE_BYTES);
        Worker writer = late.worker(own)) {
      assertThatThrownBy(() -> write(writer, number, stored)).isInstanceOf(FencedException.class);
    }
  }

  private static void assertRefusedAtEach(Fabric late) {
    try (RegisteredMemory own = late.register(64);
        Worker writer = late.worker(own)) {
      for (int server = 0; server < SERVERS; server++) {
        long any = GlobalAddress.of(server, 0);
        VerbList list = new VerbList().read(any, 0, 8).write(any, 0, 8);
        assertThatThrownBy(() -> writer.post(list)).isInstanceOf(FencedException.class);
        assertThat(list.outcome(0)).isEqualTo(VerbList.Outcome.NOT_DONE);
        assertThat(list.outcome(1)).isEqualTo(VerbList.Outcome.NOT_DONE);
      }
    }
  }

  private static void write(Worker writer, int number, long[] stored) {
    for (long stamp = 1; stamp < Long.MAX_VALUE; stamp++) {
      for (int i = 0; i < IMAGE_BYTES; i += 8) {
        Words.set(writer.memory(), i, stamp);
      }
      writer.write(image(number), 0, IMAGE_BYTES);
      stored[number] = stamp;
      writer.read(image(number), IMAGE_BYTES, IMAGE_BYTES);
    }
  }

  /** Returns the words of an image. */
  private static long[] words(Fabric fabric, long remote) {
    try (RegisteredMemory memory = fabric.register(IMAGE_BYTES);
        Worker reader = fabric.worker(memory)) {
      reader.read(remote, 0, IMAGE_BYTES);
      long[] words = new long[IMAGE_BYTES / 8];
      for (int i = 0; i < words.length; i++) {
        words[i] = Words.get(reader.memory(), 8L * i);
      }
      return words;
    }
  }

  /** What a fence refuses is sent again under the next epoch: each verb is done once. */
  @ParameterizedTest
  @EnumSource(NetworkKind.class)
  void shouldDoEveryVerbOnceWhereComputeServersAreFencedAndGoOn(NetworkKind network) {
    Fault[] faults = {Fault.FENCE, Fault.TORN, Fault.LATE_READ, Fault.DELAY};
    try (Cluster cluster = cluster(network, 21, faults)) {
      for (int i = 0; i < CLIENTS; i++) {
        Fabric fabric = cluster.fabric(i % 2);
        cluster.core(i % 2).spawn("client-" + i, () -> count(fabric));
      }
      cluster.run(NANOS_MAX, EVENTS_MAX);
      assertThat(cluster.faults().get(Fault.FENCE)).isGreaterThan(10);
      for (int i = 0; i < COUNTERS; i++) {
        assertThat(words(cluster.fabric(0), counter(i))[0]).isEqualTo((long) CLIENTS * ROUNDS);
      }
    }
  }

  private static void count(Fabric fabric) {
    try (RegisteredMemory memory = fabric.register(IMAGE_BYTES + 8L * COUNTERS);
        Worker worker = fabric.worker(memory)) {
      VerbList list = new VerbList();
      for (int round = 0; round < ROUNDS; round++) {
        list.clear();
        for (int i = 0; i < COUNTERS; i++) {
          list.read(image(i), 0, IMAGE_BYTES).faa(counter(i), 1, IMAGE_BYTES + 8L * i);
        }
        worker.scatter(list);
      }
    }
  }

  /** A fence says at which memory servers it came about. */
  @ParameterizedTest
  @EnumSource(NetworkKind.class)
  void shouldSayWhereAFenceFailed(NetworkKind network) {
    int[] failed = new int[SERVERS];
    try (Cluster cluster = cluster(network, 31, Fault.CUT)) {
      Fabric fencing = cluster.fabric(1);
      cluster
          .core(1)
          .spawn(
              "fencing",
              () -> {
                for (int epoch = 2; epoch < 3_000; epoch++) {
                  fence(cluster, fencing, epoch, failed);
                }
              });
      cluster.run(NANOS_MAX, EVENTS_MAX);
      for (int server = 0; server < SERVERS; server++) {
        assertThat(failed[server]).as("failed at %d", server).isPositive();
        assertThat(words(fencing, GlobalAddress.of(server, 0))[0]).isZero();
      }
    }
  }

  private static void fence(Cluster cluster, Fabric fencing, int epoch, int[] failed) {
    Fabric late = cluster.fabric(0, new ComputeServer(9, epoch - 1));
    try {
      fencing.fence(9, epoch);
    } catch (FenceFailedException e) {
      assertThat(e.getSuppressed()).isNotEmpty();
      for (int server = 0; server < SERVERS; server++) {
        if (e.isFencedAt(server)) {
          assertRefused(late, server);
        } else {
          failed[server]++;
        }
      }
    }
  }

  private static void assertRefused(Fabric late, int server) {
    try (RegisteredMemory memory = late.register(64);
        Worker worker = late.worker(memory)) {
      assertThatThrownBy(() -> worker.faa(GlobalAddress.of(server, 0), 1))
          .isInstanceOfAny(FencedException.class, MemoryServerLostException.class);
    }
  }
}
