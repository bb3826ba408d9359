package pando.sim.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.InvalidAddressException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.sim.Cluster;
import pando.sim.ClusterModel;
import pando.sim.ClusterOptions;
import pando.sim.NetworkKind;
import pando.sim.Utilization;
import pando.sim.fault.Fault;

@Timeout(300)
class NetworkTest {
  private static final long NANOS_MAX = 10_000_000_000L;
  private static final long EVENTS_MAX = 10_000_000;
  private static final int BUCKETS = 4096;
  private static final int MEMORY_BYTES = 4096;

  /** Time of a FAA or CAS that stores, by the constants of the model. */
  private static final long ATOMIC_NANOS =
      150 + 250 + 18 + 450 + 18 + 450 + 200 + 18 + 450 + 18 + 250 + 100;

  private static ClusterOptions options(long seed, int computeServers, Fault... faults) {
    System.out.println("seed=" + seed);
    Set<Fault> enabled = EnumSet.noneOf(Fault.class);
    enabled.addAll(List.of(faults));
    return ClusterOptions.defaults()
        .withServers(computeServers, 1)
        .withBytesPerServer(1 << 20)
        .withChunkBytes(64 << 10)
        .withSharedCards(false)
        .withFaults(enabled)
        .withSeed(seed);
  }

  private static ClusterModel even(String name, double value) {
    return ClusterModel.defaults().with("jitter-nanos", 0).with(name, value);
  }

  /** What a client does. */
  private interface Body {
    void run(Worker worker, int number);
  }

  /** Runs clients with a worker each, on the compute servers in turn. */
  private static void run(Cluster cluster, int computeServers, int clients, Body body) {
    for (int i = 0; i < clients; i++) {
      int number = i;
      Fabric fabric = cluster.fabric(i % computeServers);
      cluster
          .core(i % computeServers)
          .spawn(
              "client-" + i,
              () -> {
                try (RegisteredMemory memory = fabric.register(MEMORY_BYTES);
                    Worker worker = fabric.worker(memory)) {
                  body.run(worker, number);
                }
              });
    }
    cluster.run(NANOS_MAX, EVENTS_MAX);
  }

  /** Returns the words of a memory server whose atomics share buckets where {@code word} does. */
  private static long word(int row, int word) {
    return GlobalAddress.of(0, (1L + row) * BUCKETS + (long) word * Long.BYTES);
  }

  private static long read(Worker worker, long address) {
    worker.read(address, 512, Long.BYTES);
    return Words.get(worker.memory(), 512);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4, 16})
  void shouldKeepTheOrderOfAListBehindAnAtomicThatWaits(int parkedMax) {
    ClusterModel model = ClusterModel.defaults().with("parked-max", parkedMax);
    try (Cluster cluster = new Cluster(options(1, 4).withModel(model))) {
      run(
          cluster,
          4,
          60,
          (worker, number) -> {
            VerbList list = new VerbList();
            // Three buckets for all.
            long own = word(1 + number, number % 3);
            for (int round = 0; round < 20; round++) {
              list.clear().faa(word(0, number % 3), 1, 512).faa(own, 1, 520);
              for (int i = 0; i < 12; i++) {
                Words.set(worker.memory(), 8L * i, 100L * round + i);
                list.write(own, 8L * i, 8);
              }
              worker.post(list);
              assertThat(read(worker, own)).isEqualTo(100L * round + 11);
            }
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 16, 1_000})
  void shouldNotLetAnAtomicOvertakeTheWriteBeforeIt(int parkedMax) {
    ClusterModel model = ClusterModel.defaults().with("parked-max", parkedMax);
    try (Cluster cluster = new Cluster(options(2, 3).withModel(model))) {
      run(
          cluster,
          3,
          3,
          (worker, number) -> {
            // All share a bucket.
            long own = word(number, 0);
            VerbList list = new VerbList();
            for (int round = 0; round < 500; round++) {
              Words.set(worker.memory(), 0, 100L * round);
              list.clear().write(own, 0, Long.BYTES).faa(own, 1, 512).faa(own, 1, 520);
              worker.post(list);
              assertThat(read(worker, own)).isEqualTo(100L * round + 2);
            }
          });
    }
  }

  @Test
  void shouldKeepTheOrderOfAListBehindATornVerb() {
    for (long seed = 1; seed <= 20; seed++) {
      try (Cluster cluster = new Cluster(options(seed, 2, Fault.TORN))) {
        run(
            cluster,
            2,
            4,
            (worker, number) -> {
              VerbList list = new VerbList();
              long own = word(number, 0);
              for (int round = 1; round < 50; round++) {
                Words.set(worker.memory(), 0, round);
                Words.set(worker.memory(), 8, -round);
                list.clear().write(own + 64, 16, 168).write(own, 0, 8).write(own, 8, 8);
                list.write(own + 256, 16, 168).faa(own, -1, 512);
                worker.post(list);
                assertThat(read(worker, own)).isEqualTo(-round - 1);
              }
            });
        assertThat(cluster.faults().get(Fault.TORN)).isPositive();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReadWhatWasThereBeforeTheVerbsBehindIt(boolean onChip) {
    try (Cluster cluster = new Cluster(options(4, 2, Fault.LATE_READ))) {
      run(
          cluster,
          2,
          4,
          (worker, number) -> {
            VerbList list = new VerbList();
            long own = onChip ? GlobalAddress.onChip(0, 64L * number) : word(number, 0);
            for (int round = 0; round < 200; round++) {
              list.clear().read(own, 0, 8).faa(own, 1, 8).read(own, 16, 8).faa(own, 1, 24);
              worker.post(list);
              for (int i = 0; i < 4; i++) {
                assertThat(Words.get(worker.memory(), 8L * i)).isEqualTo(2L * round + i / 2);
              }
            }
          });
      assertThat(cluster.faults().get(Fault.LATE_READ)).isPositive();
    }
  }

  @Test
  void shouldTearWhatCrossesALine() {
    int[] torn = new int[1];
    try (Cluster cluster = new Cluster(options(3, 2, Fault.TORN))) {
      long across = word(0, 7) + 4;
      run(
          cluster,
          2,
          2,
          (worker, number) -> {
            for (int round = 1; round <= 2_000; round++) {
              if (number == 0) {
                Words.set(worker.memory(), 0, round * 0x1_0000_0001L);
                worker.write(across, 0, Long.BYTES);
              } else {
                long seen = read(worker, across);
                torn[0] += (int) seen == (int) (seen >>> 32) ? 0 : 1;
              }
            }
          });
    }
    assertThat(torn[0]).isPositive();
  }

  @Test
  void shouldPostNothingOfAListWithAnAddressThatIsNone() {
    try (Cluster cluster = new Cluster(options(4, 1))) {
      run(
          cluster,
          1,
          1,
          (worker, number) -> {
            Words.set(worker.memory(), 0, 1);
            VerbList list =
                new VerbList()
                    .write(word(0, 0), 0, 8)
                    .read(GlobalAddress.of(0, 1L << 40), 8, 8)
                    .write(word(0, 1), 0, 8)
                    .faa(word(0, 2), 1, 16);
            assertThatExceptionOfType(InvalidAddressException.class)
                .isThrownBy(() -> worker.post(list));
            assertThat(read(worker, word(0, 0))).isZero();
            assertThat(read(worker, word(0, 1))).isZero();
            assertThat(read(worker, word(0, 2))).isZero();
          });
    }
  }

  @Test
  void shouldFlushTheRestOfAListThatWasCutInTheMiddle() {
    int[] cut = new int[1];
    ClusterModel model = ClusterModel.defaults().with("timeout-nanos", 1_000);
    try (Cluster cluster = new Cluster(options(5, 1, Fault.CUT).withModel(model))) {
      run(
          cluster,
          1,
          8,
          (worker, number) -> {
            VerbList list = new VerbList();
            for (int round = 1; round <= 150; round++) {
              list.clear();
              Words.set(worker.memory(), 0, round);
              for (int i = 0; i < 32; i++) {
                list.write(word(number, i), 0, 8);
              }
              cut[0] += post(worker, list) ? 0 : 1;
              while (!post(worker, list.clear().read(word(number, 0), 512, 32 * 8))) {}
              for (int i = 1; i < 32; i++) {
                assertThat(Words.get(worker.memory(), 512 + 8L * i))
                    .isLessThanOrEqualTo(Words.get(worker.memory(), 512 + 8L * (i - 1)));
              }
            }
          });
    }
    assertThat(cut[0]).isPositive();
  }

  private static boolean post(Worker worker, VerbList list) {
    try {
      worker.post(list);
      return true;
    } catch (MemoryServerLostException | StalledException | UnknownOutcomeException lost) {
      return false;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"cut", "crash-memory"})
  void shouldTellWhetherALostVerbTookEffect(String fault) {
    int[] lost = new int[2];
    for (long seed = 1; seed <= 10; seed++) {
      try (Cluster cluster = new Cluster(options(seed, 2, Fault.of(fault)))) {
        run(
            cluster,
            2,
            32,
            (worker, number) -> {
              long own = word(0, number);
              int done = 0;
              for (int i = 0; i < 200; i++) {
                long before = done;
                try {
                  assertThat(worker.faa(own, 1)).isEqualTo(done);
                  done++;
                } catch (MemoryServerLostException e) {
                  lost[0]++;
                  assertThat(readInTheEnd(worker, own)).isEqualTo(before);
                } catch (UnknownOutcomeException e) {
                  lost[1]++;
                  done++;
                  assertThat(readInTheEnd(worker, own)).isEqualTo(before + 1);
                }
              }
            });
      }
    }
    assertThat(lost[0]).isPositive();
    assertThat(lost[1]).isPositive();
  }

  private static long readInTheEnd(Worker worker, long address) {
    while (true) {
      try {
        return read(worker, address);
      } catch (MemoryServerLostException | UnknownOutcomeException e) {
        worker.backoff().pause(0);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(NetworkKind.class)
  void shouldDoAListUpToSomeVerbWhereAConnectionIsCut(NetworkKind network) {
    // How many verbs of a list of four were done where its outcome is unknown.
    int[] done = new int[5];
    int[] reads = new int[1];
    ClusterOptions options = options(10, 2, Fault.RECONNECT).withNetwork(network);
    try (Cluster cluster = new Cluster(options)) {
      run(
          cluster,
          2,
          8,
          (worker, number) -> {
            VerbList list = new VerbList();
            for (int round = 1; round <= 2_000; round++) {
              list.clear();
              Words.set(worker.memory(), 0, round);
              for (int i = 0; i < 4; i++) {
                list.write(word(number, i), 0, 8);
              }
              boolean known = post(worker, list);
              // READs alone are sent again.
              worker.read(word(number, 0), 512, 4 * 8);
              reads[0]++;
              int written = 0;
              while (written < 4 && Words.get(worker.memory(), 512 + 8L * written) == round) {
                written++;
              }
              if (known) {
                assertThat(written).isEqualTo(4);
              } else {
                assertThat(list.outcome(0)).isEqualTo(VerbList.Outcome.UNKNOWN);
                done[written]++;
              }
            }
          });
      assertThat(cluster.faults().get(Fault.RECONNECT)).isGreaterThan(sum(done));
    }
    assertThat(reads[0]).isEqualTo(8 * 2_000);
    assertThat(done[0]).isPositive();
    assertThat(done[4]).isPositive();
    boolean wholeOrNot = network == NetworkKind.TCP;
    assertThat(done[1] + done[2] + done[3] > 0).isEqualTo(!wholeOrNot);
  }

  private static int sum(int[] counts) {
    return Arrays.stream(counts).sum();
  }

  @Test
  void shouldLetNothingTakeEffectThatWasUnderWayWhenAMemoryServerWasWiped() {
    List<Long> seen = new ArrayList<>();
    for (long seed = 1; seed <= 10; seed++) {
      try (Cluster cluster = new Cluster(options(seed, 2, Fault.WIPE_MEMORY, Fault.TORN))) {
        run(
            cluster,
            2,
            32,
            (worker, number) -> {
              long own = word(number, 0);
              VerbList list = new VerbList().faa(own, 1, 256).write(own + 8, 0, 200);
              Words.set(worker.memory(), 0, 1);
              for (int i = 0; i < 100; i++) {
                if (!post(worker, list)) {
                  seen.add(readInTheEnd(worker, own));
                  seen.add(readInTheEnd(worker, own + 8));
                }
              }
            });
      }
    }
    assertThat(seen).isNotEmpty().containsOnly(0L);
  }

  @Test
  void shouldKeepABucketForAnAtomic() {
    List<Long> latencies = new ArrayList<>();
    try (Cluster cluster = new Cluster(options(6, 2).withModel(even("parked-max", 16)))) {
      run(
          cluster,
          2,
          2,
          (worker, number) -> {
            // Different words of one bucket.
            worker.faa(word(number, 0), 1);
            latencies.add(cluster.nanos());
          });
    }
    assertThat(latencies).containsExactly(ATOMIC_NANOS, ATOMIC_NANOS + 450);
  }

  @Test
  void shouldKeepOtherBucketsFree() {
    List<Long> latencies = new ArrayList<>();
    try (Cluster cluster = new Cluster(options(6, 2).withModel(even("parked-max", 16)))) {
      run(
          cluster,
          2,
          2,
          (worker, number) -> {
            worker.faa(word(0, number), 1);
            latencies.add(cluster.nanos());
          });
    }
    // One after the other through the card, in both directions.
    assertThat(latencies).containsExactly(ATOMIC_NANOS, ATOMIC_NANOS + 18);
  }

  /** An answer that is not there yet keeps no other from being sent. */
  @Test
  void shouldNotSendBeforeTheAnswerIsThere() {
    List<Long> latencies = new ArrayList<>();
    ClusterModel model = even("atomic-extra-nanos", 100_000);
    try (Cluster cluster = new Cluster(options(7, 2).withModel(model))) {
      run(
          cluster,
          2,
          2,
          (worker, number) -> {
            if (number == 0) {
              worker.faa(word(0, 0), 1);
            } else {
              cluster.sleepNanos(1_000);
              long start = cluster.nanos();
              worker.read(word(0, 1), 0, Long.BYTES);
              latencies.add(cluster.nanos() - start);
            }
          });
    }
    assertThat(latencies.getFirst()).isLessThan(2_500);
  }

  @Test
  void shouldStopTheWireWhereTooManyAtomicsWait() {
    assertThat(nanosOfReadBehindAtomics(1_000)).isLessThan(2_500);
    // Nine atomics wait on the wire, and the last of them is parked when eight others are done.
    assertThat(nanosOfReadBehindAtomics(16)).isBetween(8 * 450L, 8 * 450L + 2_500);
  }

  private static long nanosOfReadBehindAtomics(int parkedMax) {
    long[] nanos = new long[1];
    try (Cluster cluster = new Cluster(options(8, 27).withModel(even("parked-max", parkedMax)))) {
      run(
          cluster,
          27,
          27,
          (worker, number) -> {
            if (number < 26) {
              worker.faa(word(0, 0), 1);
            } else {
              cluster.sleepNanos(500);
              long start = cluster.nanos();
              worker.read(word(0, 1), 0, Long.BYTES);
              nanos[0] = cluster.nanos() - start;
            }
          });
    }
    return nanos[0];
  }

  @Test
  void shouldTellHowBusyCardsAre() {
    try (Cluster cluster = new Cluster(options(9, 1))) {
      run(
          cluster,
          1,
          1,
          (worker, number) -> {
            for (int i = 0; i < 100; i++) {
              worker.read(word(0, 0), 0, 1024);
            }
            cluster.settle();
          });
      Utilization utilization = cluster.utilization();
      double nanos = cluster.nanos();
      double answers = 100 * (1024 + 42) / 12.1;
      assertThat(utilization.memoryOut().getFirst()).isCloseTo(answers / nanos, within(1e-3));
      assertThat(utilization.computeIn().getFirst()).isCloseTo(answers / nanos, within(1e-3));
      assertThat(utilization.computeOut().getFirst()).isCloseTo(1_800 / nanos, within(1e-3));
      assertThat(utilization.memoryIn().getFirst()).isCloseTo(1_800 / nanos, within(1e-3));
      assertThat(utilization.processors()).containsExactly(0.0);
    }
  }
}
